"""Where a text opens: golden texts of every architecture, and the rules one by one."""

from pathlib import Path

import pytest

from tileviz.lens.opening import opening, program_row

CASES = Path(__file__).parent / "cases"


def opened_at(name: str, language: str) -> tuple[str, str]:
    """(the line that a golden text opens at, what stands from there on)."""
    lines = (CASES / name).read_text().split("\n")
    at = opening("\n".join(lines), language)
    return lines[at - 1].strip(), "\n".join(lines[at - 1 : at + 400])


@pytest.mark.parametrize("case", sorted(folder.name for folder in CASES.iterdir() if folder.is_dir()))
def test_cuda_ptx_and_sass_open_at_the_loop_that_multiplies_or_at_the_first_product(case):
    line, rest = opened_at(f"{case}/source.cu", "cuda")
    assert line.startswith("for (int k") and "mma" in rest
    line, rest = opened_at(f"{case}/kernel.ptx", "ptx")
    assert (line.startswith("$L__") and line.endswith(":") and "mma" in rest) or "mma" in line
    line, rest = opened_at(f"{case}/kernel.sass", "sass")
    assert (line.startswith(".L_x_") and "MMA" in rest) or "MMA" in line


@pytest.mark.parametrize(
    ("name", "language", "line"),
    [
        ("cpu_gemm.c", "c", "for (int32_t k = 0; k < 2; ++k) {"),
        ("cpu_softmax.c", "c", "for (int32_t bx = 0; bx < 64; ++bx) {"),
        ("sm80_gemm.cu", "cuda", "for (int k = 0; k < 30; ++k) {"),
        ("sm90a_softmax.ptx", "ptx", ".visible .entry softmax_kernel("),
    ],
)
def test_the_tile_loop_of_c_and_the_kernel_itself_where_nothing_loops(name, language, line):
    assert opened_at(name, language)[0] == line


def test_a_loop_that_only_multiplies_is_inside_the_main_loop_and_one_that_only_copies_is_another():
    text = "\n".join(
        [
            "for (int k = 0; k < 4; ++k) {",
            "  tl::tma_load(A_desc, mbarrier[0], to, 0, 0);",
            "}",
            "for (int k_1 = 0; k_1 < 4; ++k_1) {",
            "  mbarrier[0].wait(0);",
            "  for (int ki = 0; ki < 2; ++ki) {",
            "    tl::wgmma_ss<tl::DataType::kFloat16>(a, b, c, 1);",
            "  }",
            "}",
        ]
    )
    assert opening(text, "cuda") == 4
    assert opening(text.replace("mbarrier[0].wait(0);", "int n = 0;"), "cuda") == 4


def test_a_loop_in_a_comment_and_another_language_count_for_nothing():
    assert opening("// for (int k = 0; k < 4; ++k) {\nint n;", "cuda") == 1
    assert opening("for k in range(4):\n    pass", "python") == 1


PYTHON = "class Schedule:\n    pass\n\n\n@T.prim_func\ndef one():\n    pass\n\n\n@T.prim_func\ndef other():\n    pass"


DISPATCH = "@T.prim_func\ndef outer():\n    block()\n\n\n@T.macro\ndef block():\n    with T.Kernel(1) as bx:\n        pass"


def test_python_opens_at_what_launches_and_not_at_what_calls_it():
    assert program_row(DISPATCH) == 6
    assert program_row(DISPATCH.replace("T.Kernel(1)", "other")) == 1


def test_python_opens_at_the_program_that_was_compiled():
    assert program_row(PYTHON) == 5
    assert program_row(PYTHON, linked=(11, 12)) == 10
    assert program_row("block = 1\n\n\ndef program(N):\n    return block") == 4
    assert program_row("def loader(s):\n    load()", linked=(2,)) == 2
    assert program_row("x = 1") == 1
