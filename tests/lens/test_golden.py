"""Real dumps of gemm and attention for six architectures. The counts were checked with grep and by arithmetic before they were kept.

Both kernels do 4,194,304 FLOPs a block: gemm 2 * 64 * 64 * 512, attention 4 * 64 * 256 * 64.
"""

import json
from collections import Counter
from pathlib import Path

import pytest

from tileviz import lens
from tileviz.lens.executed import executed_estimates, tensor_core_uses
from tileviz.lens.loops import loops

FOLDERS = sorted(path.parent for path in (Path(__file__).parent / "cases").glob("*/case.json"))
LANGUAGES = {"source.cu": "cuda", "kernel.ptx": "ptx", "kernel.sass": "sass"}
BLOCK_FLOPS = 4_194_304


def text(case: str, file: str = "kernel.sass") -> str:
    return next(folder for folder in FOLDERS if folder.name == case).joinpath(file).read_text()


@pytest.mark.parametrize("folder", FOLDERS, ids=lambda path: path.name)
@pytest.mark.parametrize("file", LANGUAGES)
def test_a_text_counts_as_its_golden_file_says(folder, file):
    golden = json.loads((folder / "case.json").read_text())["texts"][file]
    read = lens.listing((folder / file).read_text(), LANGUAGES[file])
    assert {name: count for name, count in read.counts.items() if count} == golden["counts"]
    assert Counter(line.text[hit.start : hit.end] for line in read.lines for hit in line.hits) == golden["instructions"]


@pytest.mark.parametrize("folder", FOLDERS, ids=lambda path: path.name)
def test_ptx_and_sass_agree(folder):
    """Where ptxas copied code, the counts are whole multiples: it unrolls the loop of gemm on sm_80 and sm_89 eight times, and writes a
    second product for warps whose threads came apart before tcgen05."""
    ptx, sass = (json.loads((folder / "case.json").read_text())["texts"][file]["counts"] for file in ("kernel.ptx", "kernel.sass"))
    tcgen05 = folder.name == "gemm_tcgen05_sm_100a"
    assert sass.get("global_store", 0) == ptx.get("global_store", 0) == (0 if tcgen05 else 16)
    products = 2 if tcgen05 else 1
    for name in ("tensor_core", "async_copy", "matrix_load_store"):
        times = 8 if folder.name in ("gemm_sm_80", "gemm_sm_89") else products if name == "tensor_core" else 1
        assert sass.get(name, 0) == times * ptx.get(name, 0)


def test_tcgen05_code_is_products_in_tensor_memory_between_tma_copies():
    counts = json.loads((FOLDERS[0].parent / "gemm_tcgen05_sm_100a" / "case.json").read_text())["texts"]["kernel.sass"]["instructions"]
    assert counts["UTCHMMA"] == 16 and counts["LDTM.x64"] == 1 and counts["UTMASTG.2D"] == 1 and counts["UTMALDG.2D"] > 0
    assert counts["UTCATOMSWS.FIND_AND_SET.ALIGN"] == 2 and counts["UTCATOMSWS.AND"] == 1, "tensor memory is taken, and given back"
    assert not {"HMMA.16816.F32", "LDL", "STL", "STG.E"} & set(counts)


@pytest.mark.parametrize(
    "case, opcode, static, flops, executed",
    [
        ("gemm_sm_75", "HMMA.1688.F32", 64, 2048, 2048),
        ("gemm_sm_80", "HMMA.16816.F32", 256, 4096, 1024),
        ("gemm_sm_90a", "HGMMA.64x64x16.F32", 32, 131072, 32),
        ("gemm_sm_120a", "HMMA.16816.F32", 64, 4096, 1024),
        ("attention_sm_90a", "HGMMA.64x64x16.F32", 8, 131072, 32),
        ("attention_sm_80", "HMMA.16816.F32", 128, 4096, 1024),
    ],
)
def test_the_executed_estimate_is_arithmetic_over_the_block(case, opcode, static, flops, executed):
    (use,) = tensor_core_uses(text(case))
    assert (use.opcode, use.static_count, use.flops) == (opcode, static, flops)
    (estimate,) = executed_estimates(text(case), BLOCK_FLOPS)
    assert estimate.per_block == executed


def test_two_opcodes_share_the_flops_as_they_are_written():
    two = "        /*0000*/  HGMMA.64x64x16.F32 R1, R2 ;\n        /*0010*/  HGMMA.64x128x16.F32 R1, R2 ;\n"
    found = {estimate.use.opcode: estimate.per_block for estimate in executed_estimates(two, 3 * 131072 * 10)}
    assert found == {"HGMMA.64x64x16.F32": 10, "HGMMA.64x128x16.F32": 10}


def test_the_loop_of_attention_holds_its_products_and_waits_are_no_loops():
    (body,) = [loop for loop in loops(text("attention_sm_90a")) if loop.opcodes]
    assert body.opcodes == {"HGMMA.64x64x16.F32": 8} and body.counts["special_function"] > 0
    assert all(loop.counts.get("tensor_core") for loop in loops(text("attention_sm_90a")))
    assert "TRYWAIT" in text("attention_sm_90a")


def test_a_loop_that_ptxas_unrolled_is_none():
    assert loops(text("gemm_sm_90a")) == ()
    assert text("gemm_sm_90a").count("HGMMA") == 512 // 16


def test_a_loop_knows_its_lines_depth_and_what_stands_in_it():
    code = [
        ".L_x_0:", "        /*0000*/  MOV R1, R2 ;", ".L_x_1:", "        /*0010*/  HMMA.16816.F32 R1, R2, R3, R1 ;",
        "        /*0020*/  @P0 BRA `(.L_x_1) ;",
        "        /*0030*/  @P1 BRA `(.L_x_0) ;", "        /*0040*/  EXIT ;", ".L_x_2:", "        /*0050*/  BRA `(.L_x_2);",
    ]  # fmt: skip
    found = loops("\n".join(code))
    assert [(loop.first, loop.last, loop.depth, loop.instructions) for loop in found] == [(1, 6, 0, 4), (3, 5, 1, 2)]
    assert found[1].opcodes == {"HMMA.16816.F32": 1} and found[1].counts == {"tensor_core": 1, "branch": 1}


def test_a_jump_back_from_behind_the_kernel_is_no_loop():
    code = [
        "        /*0000*/  @!P0 BRA `(.L_x_9) ;", ".L_x_1:", "        /*0010*/  MOV R1, R2 ;", "        /*0020*/  EXIT ;",
        ".L_x_9:", "        /*0030*/  MOV R3, R2 ;", "        /*0040*/  BRA `(.L_x_1) ;",
    ]  # fmt: skip
    assert loops("\n".join(code)) == ()


def test_branches_to_addresses_are_followed_as_cuobjdump_prints_them():
    code = [
        "        /*0000*/  MOV R1, R2 ;",
        "        /*0010*/  LDL R1, [R2] ;",
        "        /*0020*/  @P0 BRA 0x10 ;",
        "        /*0030*/  EXIT ;",
    ]
    assert [(loop.first, loop.last) for loop in loops("\n".join(code))] == [(2, 3)]


def test_a_text_without_instructions_has_no_loops():
    assert loops("") == loops("no code here") == ()
