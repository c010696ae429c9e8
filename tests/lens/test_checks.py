"""Checks on real code of every architecture, and on the cases that people met: B not K-major, odd rows, traps, spills."""

import json
from dataclasses import replace
from pathlib import Path

import pytest

from tileviz.lens.checks import Check, Code, checks

CASES = Path(__file__).parent / "cases"
ARCHS = ("sm_75", "sm_80", "sm_89", "sm_90a", "sm_120a")
"""Where T.gemm becomes the product that the architecture is built for."""

PROGRAM = "for k in T.Pipelined(4, num_stages=2):\n    T.copy(A, a)\n    T.gemm(a, b, acc)"


def code(name: str, **more) -> Code:
    """The code of a golden folder."""
    folder = CASES / name
    made = json.loads((folder / "case.json").read_text())["made_from"]
    number = made["target"].removeprefix("sm_").rstrip("a")
    texts = {text: (folder / file).read_text() for text, file in (("source", "source.cu"), ("ptx", "kernel.ptx"), ("sass", "kernel.sass"))}
    known = Code(
        made["target"], divmod(int(number), 10), **texts, tensors=tuple(made["tensors"]), problem=made["problem"], config=made["config"],
        program=PROGRAM, spill_bytes=made["spill_bytes"], threads_launched=made["threads_launched"],
    )  # fmt: skip
    return replace(known, **more)


def by_name(of: Code) -> dict[str, Check]:
    return {check.name: check for check in checks(of)}


@pytest.mark.parametrize("kernel", ["gemm", "attention"])
@pytest.mark.parametrize("arch", ARCHS)
def test_a_plain_kernel_has_the_instruction_of_its_architecture_and_nothing_bad(kernel, arch):
    found = by_name(code(f"{kernel}_{arch}"))
    assert found["tensor_core"].found and found["instruction"].found
    assert [check for check in found.values() if check.tone == "bad"] == []
    assert found["traps"].found is False


@pytest.mark.parametrize(
    "arch, opcode, copies",
    [
        ("sm_75", "HMMA.1688.F32: 64", None),
        ("sm_80", "HMMA.16816.F32: 256", "LDGSTS.E.BYPASS.128"),
        ("sm_90a", "HGMMA.64x64x16.F32: 32", "UTMALDG.2D: 32"),
        ("sm_100a", "HMMA.16816.F32: 64", "UTMALDG.2D: 32"),
    ],
)
def test_the_ladder_of_a_gemm(arch, opcode, copies):
    found = by_name(code(f"gemm_{arch}"))
    assert found["tensor_core"].reason.startswith(opcode)
    assert found["async_copy"].found == bool(copies)
    assert (copies or "sm_75 has no asynchronous copy") in found["async_copy"].reason


def test_a_tcgen05_kernel_has_the_instruction_of_its_architecture_and_nothing_bad():
    found = by_name(code("gemm_tcgen05_sm_100a"))
    assert found["tensor_core"].reason.startswith("UTCHMMA: 16") and found["async_copy"].found
    assert [check for check in found.values() if check.tone == "bad"] == []


@pytest.mark.parametrize("kernel", ["gemm", "attention"])
@pytest.mark.parametrize("target, capability", [("sm_100a", (10, 0)), ("sm_103a", (10, 3)), ("sm_110a", (11, 0))])
def test_the_products_of_older_architectures_are_bad_on_blackwell_and_nothing_about_them_is_green(kernel, target, capability):
    found = by_name(code(f"{kernel}_sm_100a", target=target, capability=capability))
    assert (found["instruction"].found, found["instruction"].tone) == (False, "bad")
    assert found["instruction"].reason.startswith("expected UTCHMMA, got HMMA") and "T.tcgen05_gemm" in found["instruction"].reason
    assert found["tensor_core"].tone == "plain" and found["tensor_core"].found


def test_a_product_of_half_the_depth_is_bad_where_there_is_a_deeper_one():
    shallow = "        /*0010*/                   HMMA.1688.F32 R4, R8, R12, R4 ;\n"
    ampere = by_name(replace(code("gemm_sm_80"), sass=shallow))["instruction"]
    assert (ampere.tone, ampere.found) == ("bad", False) and "half the work of HMMA.16816" in ampere.reason
    assert by_name(replace(code("gemm_sm_75"), sass=shallow))["instruction"].tone == "good"
    single = tuple({"name": name, "shape": [64, 64], "dtype": "float32"} for name in "ABC")
    tf32 = replace(code("gemm_sm_80"), sass=shallow.replace(".F32", ".F32.TF32"), tensors=single)
    assert by_name(tf32)["instruction"].tone == "good"


def test_operands_of_eight_bits_that_are_converted_first_are_told():
    tensors = tuple({"name": name, "shape": [64, 64], "dtype": "float8_e4m3fn"} for name in "ABC")
    found = by_name(replace(code("gemm_sm_89"), tensors=tensors))["instruction"]
    assert (found.tone, found.reason) == ("bad", "expected QMMA, got HMMA: float8_e4m3fn is converted before the product")


@pytest.mark.parametrize(
    "text, line",
    [
        ("sass", "        /*0010*/                   HGMMA.64x8x16.F32 R24, gdesc[UR8], R24 ;\n"),
        ("ptx", "\twgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%f1}, %rd1, %rd2, p, 1, 1, 0, 1;\n"),
    ],
)
def test_wgmma_of_eight_columns_is_bad(text, line):
    hopper = replace(code("gemm_sm_90a"), sass=None)
    found = by_name(replace(hopper, **{text: line}))["narrow_wgmma"]
    assert found.found and found.tone == "bad" and "a multiple of 16" in found.reason
    assert "narrow_wgmma" not in by_name(replace(hopper, **{text: line.replace("64x8x", "64x80x").replace("n8k", "n88k")}))


def test_copies_by_every_thread_are_not_green_where_there_is_tma():
    found = by_name(code("gemm_sm_80", target="sm_90a", capability=(9, 0)))["async_copy"]
    assert (found.found, found.tone) == (True, "plain") and "none is a load by TMA" in found.reason
    assert by_name(code("gemm_sm_90a"))["async_copy"].tone == by_name(code("gemm_sm_80"))["async_copy"].tone == "good"


def test_eight_bit_operands_with_b_not_k_major_are_told_with_the_cause():
    mma = code("gemm_sm_80")
    tensors = ({"name": "A", "shape": [512, 512], "dtype": "float8_e4m3fn"},) * 3
    found = by_name(replace(mma, target="sm_90a", capability=(9, 0), tensors=tensors, problem={"layout": "NN"}))["instruction"]
    assert (found.words, found.tone) == ("not detected", "bad")
    assert found.reason.startswith("expected QGMMA, got HMMA: B is not K-major") and "use layout NT" in found.reason


@pytest.mark.parametrize(
    "config, words",
    [
        ({"block_M": 16}, "block_M is 16"),
        ({"threads": 96}, "no whole warp groups"),
        ({"tl.disable_wgmma": True}, "tl.disable_wgmma is set"),
        ({}, "TileLang chose"),
    ],
)
def test_other_ways_out_of_wgmma_are_named(config, words):
    assert words in by_name(replace(code("gemm_sm_80"), target="sm_90a", capability=(9, 0), config=config))["instruction"].reason


def test_rows_that_are_no_multiple_of_sixteen_bytes_are_why_there_is_no_async_copy():
    tensors = tuple({"name": name, "shape": [1001, 1001], "dtype": "float16"} for name in "ABC")
    found = by_name(replace(code("gemm_sm_75"), target="sm_80", capability=(8, 0), tensors=tensors))["async_copy"]
    assert (found.found, found.tone) == (False, "bad")
    assert found.reason == "no async copy: row stride of A and B is 2,002 B, no multiple of 16 (pad rows of 1,001 to 1,008)"


def test_a_row_that_keeps_one_operand_from_tma_is_told_beside_the_other():
    tensors = (
        {"name": "A", "shape": [512, 100], "dtype": "float16"},
        {"name": "B", "shape": [100, 512], "dtype": "float16"},
        {"name": "C", "shape": [512, 512], "dtype": "float16"},
    )
    found = by_name(replace(code("gemm_sm_90a"), tensors=tensors))["async_copy"]
    assert (
        found.found and "row stride of A is 200 B" in found.reason and " B " not in found.reason.split("row stride of ")[1].split(" is ")[0]
    )


def test_no_stages_means_no_async_copy_and_that_is_not_bad():
    found = by_name(replace(code("gemm_sm_75"), target="sm_80", capability=(8, 0), config={"num_stages": 0}))["async_copy"]
    assert (found.tone, found.reason) == ("plain", "num_stages is 0: tiles go through registers")


def test_traps_without_tensor_memory_are_bad_and_with_it_by_design():
    guard = "        /*0010*/                   BPT.TRAP 0x1 ;\n"
    found = by_name(replace(code("gemm_sm_80"), sass=guard * 96 + code("gemm_sm_80").sass))["traps"]
    assert (found.words, found.tone) == ("detected", "bad") and found.reason.startswith("96 traps")
    lacking = by_name(replace(code("gemm_sm_80"), ptx="\tbrkpt;\n"))["traps"]
    assert lacking.tone == "bad" and lacking.reason.startswith("sm_80 lacks an instruction that the code asks for: in 1 place")
    blackwell = replace(code("gemm_sm_100a"), sass=(CASES / "sm100a_tcgen05.sass").read_text())
    assert by_name(blackwell)["traps"].tone == "plain" and by_name(blackwell)["instruction"].title == "tcgen05 on sm_100a"


def test_spills_are_told_in_bytes():
    spill = "        /*0010*/                   STL [R1], R2 ;\n        /*0020*/                   LDL R2, [R1] ;\n"
    found = by_name(replace(code("gemm_sm_80"), sass=code("gemm_sm_80").sass + spill, spill_bytes=7708))["spills"]
    assert found.tone == "bad" and found.reason.startswith("7,708 B a thread, 2 loads and stores")


def test_bfloat16_on_turing_is_scalar_and_says_so():
    tensors = ({"name": "A", "shape": [64, 64], "dtype": "bfloat16"},)
    scalar = replace(code("gemm_sm_75"), sass="        /*0000*/                   FFMA R1, R2, R3, R4 ;\n", tensors=tensors)
    assert "run as scalar FFMA" in by_name(scalar)["tensor_core"].reason


def test_a_kernel_without_products_misses_nothing():
    found = by_name(
        Code("sm_80", (8, 0), "void f() {}", sass="        /*0000*/                   EXIT ;\n", program="T.copy(X, x)", spill_bytes=0)
    )
    assert found["tensor_core"].tone == "plain" and "instruction" not in found and found["async_copy"].tone == "plain"


def test_without_sass_ptx_tells_what_it_can_and_the_rest_is_not_known():
    found = by_name(replace(code("gemm_sm_90a"), sass=None, spill_bytes=None, missing={"sass": "nvdisasm not found"}))
    assert found["tensor_core"].reason.startswith("wgmma.mma_async") and found["instruction"].found
    assert found["spills"].words == "not known" and found["spills"].reason == "nvdisasm not found"


def test_with_the_source_alone_traps_are_not_known():
    found = by_name(replace(code("gemm_sm_90a"), sass=None, ptx=None, spill_bytes=None, missing={"sass": "no machine code for sm_70"}))
    assert found["tensor_core"].found and found["traps"].reason == "no machine code for sm_70"


def test_serialized_wgmma_is_told_with_the_words_of_ptxas():
    hopper = code("gemm_sm_90a")
    found = by_name(replace(hopper, serialized="insufficient register resources"))["serialized"]
    assert found.found and found.tone == "bad" and "insufficient register resources" in found.reason
    assert by_name(replace(hopper, serialized=""))["serialized"].tone == "good"
    assert "serialized" not in by_name(replace(hopper, serialized=None)), "an older artifact does not say"
    assert "serialized" not in by_name(replace(code("gemm_sm_80"), serialized="")), "there is no wgmma"
