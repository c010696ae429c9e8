"""Line maps: taken out of directives without changing the code, and right on kernels whose mapping is known by eye."""

import re

import pytest

from tests import long_proofs
from tests.compiler.small_gemm import Gemm
from tileviz.compiler import line_map, lowering, operations, targets
from tileviz.compiler.pipeline import compile_program
from tileviz.kernels import code

GEMM = code("gemm").source.split("\n")


def python_line(words: str, source: list[str] = GEMM) -> int:
    """The one line of a kernel's file that holds these words."""
    found = [number for number, text in enumerate(source, 1) if words in text]
    assert len(found) == 1, (words, found)
    return found[0]


def test_a_directive_holds_for_the_statement_after_it_only():
    text, origins = line_map.without_directives('#line 7 "k.py"\nint a = 1;\nint b = 2;\n')
    assert text == "int a = 1;\nint b = 2;\n"
    assert origins == (("k.py", 7), None, None)


def test_lines_between_two_directives_for_one_line_are_that_lines_too():
    text = 'for (;;) {\n#line 7 "k.py"\n  a = 1;\n  b = 2;\n#line 7 "k.py"\n  c = 3;\n  d = 4;\n}'
    assert line_map.without_directives(text)[1] == (None, ("k.py", 7), ("k.py", 7), ("k.py", 7), None, None)


def test_a_gap_that_leaves_the_block_is_not_filled():
    text = '#line 7 "k.py"\n  a = 1;\n}\n{\n#line 7 "k.py"\n  c = 3;'
    assert line_map.without_directives(text)[1] == (("k.py", 7), None, None, ("k.py", 7))


def test_a_statement_with_a_temporary_goes_up_to_where_it_is_stored():
    text = '#line 7 "k.py"\n  float2 __1;\n  __1.x = a;\n  *(float2*)(b + 0) = __1;\n  c();'
    assert line_map.without_directives(text)[1] == (("k.py", 7),) * 3 + (None,)


def test_a_pragma_takes_its_loop_with_it():
    assert line_map.without_directives('#line 7 "k.py"\n#pragma unroll\nfor (;;) {\nx();')[1] == (("k.py", 7), ("k.py", 7), None)


def test_sass_takes_the_outermost_frame_and_the_text_loses_only_the_frames():
    text = (
        '\t.section\t.text.k\n\t//## File "/a/intrin.h", line 149 inlined at "/b/kernel.cu", line 29\n\t//## File "/b/kernel.cu", line 29\n'
        "        /*0000*/                   MOV R1, c[0x0][0x28] ;\n.L_x_1:\n        /*0010*/                   EXIT ;\n"
    )
    mapped = line_map.sass_lines(text)
    assert mapped.text == "\n".join(line for line in text.split("\n") if "//##" not in line)
    assert mapped.lines == (0, 29, 0, 29, 0)


def test_ptx_follows_inlined_calls_and_loses_directives_and_debug_strings():
    text = (
        '\t.file\t1 "somewhere/kernel.cu"\n\t.file\t2 "intrin.h"\n.visible .entry k()\n{\n\t.loc\t1 22 0\n\tmov.u32 %r1, 1;\n'
        "\t.loc\t2 149 5, function_name $L__info_string0, inlined_at 1 29 3\n\tadd.s32 %r2, %r1, 1;\n"
        "\t.loc\t2 12 5, function_name $L__info_string1, inlined_at 2 149 5\n\tadd.s32 %r3, %r1, 1;\n$L__BB0_1:\n\tret;\n}\n"
        "\t.section\t.debug_str\n\t{\n$L__info_string0:\n.b8 95,90,0\n\n\t}\n"
    )
    mapped = line_map.ptx_lines(text)
    assert mapped.text.split("\n") == [
        ".visible .entry k()", "{", "\tmov.u32 %r1, 1;", "\tadd.s32 %r2, %r1, 1;",
        "\tadd.s32 %r3, %r1, 1;", "$L__BB0_1:", "\tret;", "}", "",
    ]  # fmt: skip
    assert mapped.lines == (0, 0, 22, 29, 29, 0, 29, 0, 0)


@pytest.mark.usefixtures("environment")
class TestRealKernels:
    @pytest.mark.parametrize(
        ("kind", "name"),
        long_proofs.cases(
            [(kind, name) for kind in ("gemm", "softmax") for name in ("sm_75", "sm_80", "sm_90a", "sm_120a", "cpu")], 2, 4, 6
        ),
    )
    def test_directives_do_not_change_the_code_that_runs(self, name, kind, monkeypatch):
        target, described = targets.target(name), code(kind)
        problem = described.problem({"dtype": "float32"} if name == "cpu" else {}, target.kind)
        build = lambda: described.build(problem, described.config({}, target, problem), target)
        shown = lowering.lower(build, target, {}).source
        monkeypatch.setattr(lowering, "LINE_DIRECTIVES", "tl.disable_warp_specialized_nothing")
        monkeypatch.setattr(lowering, "as_tilelang_takes", dict)
        plain = lowering.lower(build, target, {}).source
        assert shown == plain and "#line" not in shown

    @pytest.mark.parametrize(
        "name, opcode, words",
        long_proofs.cases(
            [
                ("sm_90a", "HGMMA", "T.gemm("),
                ("sm_90a", "UTMALDG", "T.copy("),
                ("sm_90a", "STG", "T.copy(acc, C["),
                ("sm_80", "HMMA", "T.gemm("),
                ("sm_80", "LDSM", "T.gemm("),
                ("sm_80", "LDGSTS", "T.copy("),
                ("sm_80", "STG", "T.copy(acc, C["),
                ("sm_120a", "HMMA", "T.gemm("),
                ("sm_120a", "UTMALDG", "T.copy("),
            ],
            *range(7),
        ),
    )
    def test_every_instruction_of_a_kind_leads_to_its_python_line(self, name, opcode, words):
        artifact = _compiled(name)
        seen = 0
        for number, text in enumerate(artifact.sass.split("\n")):
            if re.search(rf"^\s*/\*[0-9a-f]+\*/\s+(?:@!?U?P\d )?{opcode}\b", text):
                cuda = artifact.lines["sass"][number]
                assert words in GEMM[artifact.lines["source"][cuda - 1] - 1], text
                seen += 1
        assert seen

    def test_the_copies_of_a_and_b_lead_to_their_own_lines(self):
        artifact = _compiled("sm_90a")
        source = artifact.source.split("\n")
        lines = {
            name: {p for text, p in zip(source, artifact.lines["source"], strict=True) if f"tma_load({name}_desc" in text} for name in "AB"
        }
        assert lines == {"A": {python_line("T.copy(A[")}, "B": {python_line("T.copy(B[k")}}

    @pytest.mark.parametrize("name", ["sm_80", "sm_90a"])
    def test_a_map_is_as_long_as_its_text_and_every_instruction_has_a_line(self, name):
        artifact = _compiled(name)
        for text in ("source", "ptx", "sass"):
            assert len(artifact.lines[text]) == len(getattr(artifact, text).split("\n"))
        assert max(artifact.lines["sass"]) <= len(artifact.source.split("\n"))
        code = [
            line
            for line, text in zip(artifact.lines["sass"], artifact.sass.split("\n"), strict=True)
            if re.match(r"\s*/\*[0-9a-f]{4,}\*/\s+\w", text)
        ]
        padding = artifact.sass.count(" NOP ")
        assert code and code.count(0) <= padding + 4

    def test_ptx_and_sass_agree_on_the_lines_of_the_tensor_core(self):
        artifact = _compiled("sm_90a")
        ptx = {line for line, text in zip(artifact.lines["ptx"], artifact.ptx.split("\n"), strict=True) if "wgmma.mma_async" in text}
        sass = {line for line, text in zip(artifact.lines["sass"], artifact.sass.split("\n"), strict=True) if "HGMMA" in text}
        assert ptx == sass and all("wgmma_ss" in artifact.source.split("\n")[line - 1] for line in sass)

    def test_attention_tells_its_two_products_and_two_reductions_apart(self):
        described, target = code("flash_attention"), targets.target("sm_90a")
        problem = described.problem({"B": 1, "H": 2, "Sq": 256, "Sk": 256})
        config = described.config({"schedule": "plain", "block_M": 128, "block_N": 64, "threads": 256}, target, problem)
        lowered = lowering.lower(lambda: described.build(problem, config, target), target, {})
        text, python = lowered.source.split("\n"), described.source.split("\n")
        lines = {
            name: {p for p, t in zip(lowered.lines, text, strict=True) if name in t} for name in ("wgmma_ss", "wgmma_rs", "MaxOp", "SumOp")
        }
        assert lines == {
            "wgmma_ss": {python_line("T.gemm(Q_shared", python)},
            "wgmma_rs": {python_line("T.gemm(P,", python)},
            "MaxOp": {python_line("T.reduce_max(", python)},
            "SumOp": {python_line("T.reduce_sum(", python)},
        }

    def test_a_program_tells_its_operations_and_tensors(self):
        told = operations.described(Gemm("sm_80").build())
        assert [(op.kind, *op.buffers) for op in told.operations] == [
            ("fill", "acc"), ("copy", "A", "A_shared"), ("copy", "B", "B_shared"),
            ("gemm", "A_shared", "B_shared", "acc"), ("copy", "acc", "C"),
        ]  # fmt: skip
        assert told.tensors[0] == {"name": "A", "shape": [256, 256], "dtype": "float16"}


_KEPT: dict = {}


def _compiled(name: str):
    """Compiled once for all tests of this file."""
    if name not in _KEPT:
        gemm = Gemm(name)
        _KEPT[name] = compile_program(gemm.build, gemm.target, key="k")
    return _KEPT[name]
