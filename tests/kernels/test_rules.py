"""What the rules say of a config, in words and numbers (cases C01, C03, R01 to R06); test_rules_against_lowering holds it true."""

import pytest

from tileviz import kernels
from tileviz.compiler.targets import target


def judged(name: str, arch: str, problem: dict | None = None, **config):
    kernel, chosen = kernels.code(name), target(arch)
    full = kernel.problem(problem, chosen.kind)
    return kernel.rules(full, kernel.config(config, chosen, full), chosen)


def gemm(arch: str, M: int, N: int, K: int, stages: int, threads: int, problem: dict | None = None, **more):
    plain = {"variant": "plain", "store": "direct", "policy": "Square"}
    return judged("gemm", arch, problem, block_M=M, block_N=N, block_K=K, num_stages=stages, threads=threads, **plain, **more)


def said(estimate) -> str:
    (sentence,) = estimate.broken
    return sentence


@pytest.mark.parametrize(("arch", "fits"), [("sm_80", False), ("sm_89", False), ("sm_90a", True), ("sm_120a", False)])
def test_shared_memory_is_every_stage_of_both_tiles(arch, fits):
    estimate = gemm(arch, 128, 256, 64, 4, 256, {"layout": "NT"})
    barriers = 1024 if arch in ("sm_90a", "sm_120a") else 0
    assert estimate.shared_bytes == 196_608 + barriers
    assert (estimate.broken == ()) is fits
    if not fits:
        assert said(estimate).startswith(f"shared memory {196_608 + barriers:,} B is over the ")
        assert f"B a block of {arch} may use; use fewer stages or smaller tiles" in said(estimate)


def test_no_stages_take_the_room_of_one():
    assert gemm("sm_80", 128, 128, 32, 0, 128).shared_bytes == gemm("sm_80", 128, 128, 32, 1, 128).shared_bytes == 16_384


def test_attention_takes_queries_and_every_stage_of_keys_and_values():
    big = {"block_M": 128, "block_N": 128, "num_stages": 2, "threads": 256}
    assert judged("flash_attention", "sm_80", {"D": 128}, **big).shared_bytes == 163_840
    wide = judged("flash_attention", "sm_90a", {"D": 256}, **big, store="queries")
    assert "shared memory 328,704 B is over the 232,448 B" in said(wide)
    assert judged("flash_attention", "sm_90a", {"D": 256}, **big, store="shared").shared_bytes == 328_704 + 128 * 256 * 2


@pytest.mark.parametrize(("asked", "launched"), [(128, 256), (256, 384), (512, 640)])
def test_hopper_adds_a_warp_group_that_copies(asked, launched):
    estimate = gemm("sm_90a", 128, 128, 32, 2, asked)
    assert (estimate.threads, estimate.producer_threads, estimate.threads_launched) == (asked, 128, launched)


@pytest.mark.parametrize(
    ("name", "config"),
    [("vector_add", {}), ("gemm", {"variant": "plain"}), ("gemm_bias_gelu", {"variant": "plain"}), ("softmax", {}),
     ("flash_attention", {"schedule": "plain"})],
)  # fmt: skip
def test_without_warp_specialisation_tilelang_adds_no_producers(name, config):
    assert judged(name, "sm_90a", **config, **{"tl.disable_warp_specialized": "true"}).producer_threads == 0


def test_a_thousand_threads_and_producers_are_too_many():
    assert "1,152 threads a block (1,024 + 128 producer) is over the limit of 1,024" in said(gemm("sm_90a", 128, 128, 32, 2, 1024))
    assert gemm("sm_80", 128, 128, 32, 2, 1024).broken == ()
    assert gemm("sm_90a", 128, 128, 32, 2, 1024, **{"tl.disable_warp_specialized": True}).broken == ()


@pytest.mark.parametrize(
    ("stages", "problem", "producers"), [(0, {}, 0), (2, {"K": 1001, "N": 1001}, 0), (2, {"K": 1001}, 256), (2, {}, 128)]
)
def test_producers_come_with_tma_only(stages, problem, producers):
    assert gemm("sm_90a", 128, 128, 64, stages, 256, problem).producer_threads == producers


def test_rows_that_tma_cannot_copy_are_named_with_the_length_that_can():
    notes = gemm("sm_90a", 128, 128, 64, 2, 256, {"M": 1001, "N": 1001, "K": 1001}).notes
    assert "A: async copy: none, row stride 2,002 B is not a multiple of 16; pad to 1,008" in notes
    assert "B: async copy: none, row stride 2,002 B is not a multiple of 16; pad to 1,008" in notes
    assert gemm("sm_90a", 128, 128, 64, 2, 256, {"M": 1000, "N": 1000, "K": 1000}).notes == ()


def test_cp_async_takes_narrower_rows():
    notes = gemm("sm_80", 128, 128, 32, 3, 128, {"K": 100}).notes
    assert notes == ("A: async copy of 8 B at a time, row stride 200 B is not a multiple of 16; pad to 104",)


def test_one_odd_row_cannot_go_by_cp_async():
    assert "cp.async cannot copy the one row of A, 511 elements of 2 B" in said(gemm("sm_80", 64, 64, 32, 2, 128, {"M": 1, "K": 511}))


@pytest.mark.parametrize(
    ("dtype", "K", "legal"),
    [("float16", 24, False), ("float16", 8, True), ("float16", 48, True), ("float32", 24, True), ("float32", 4, False)],
)
def test_depth_must_be_whole_steps(dtype, K, legal):
    estimate = gemm("sm_80", 64, 64, K, 1, 128, {"dtype": dtype})
    assert (estimate.broken == ()) is legal
    if not legal:
        assert f"depth {K} is not whole steps of the {dtype} matrix instruction; give " in said(estimate)


def test_warps_must_cover_the_tile():
    assert "3 warps cannot cover 128 x 128" in said(gemm("sm_80", 128, 128, 32, 2, 96))
    assert "12 warps cannot cover 16 x 104" in said(gemm("sm_80", 16, 104, 64, 1, 384))
    assert "24 rows are not a multiple of 16" in said(gemm("sm_80", 24, 64, 32, 1, 64))


def test_a_register_hungry_tile_is_allowed_and_named():
    estimate = gemm("sm_80", 256, 256, 32, 2, 128)
    assert estimate.accumulator_registers == 512
    assert estimate.broken == ()
    assert "the accumulator alone takes 512 of 255 registers a thread: spills to local memory, and compiling takes long" in estimate.notes


def test_attention_names_a_layout_conflict():
    estimate = judged("flash_attention", "sm_80", {"D": 64}, block_M=64, block_N=64, num_stages=1, threads=256)
    assert said(estimate).startswith("layout conflict: 64 rows < 8 warps x 16")


def test_causal_attention_with_stages_needs_tma():
    config = {"block_M": 64, "block_N": 64, "num_stages": 2, "threads": 128}
    assert "causal with 2 stages does not lower" in said(judged("flash_attention", "sm_80", {"D": 64, "causal": True}, **config))
    assert judged("flash_attention", "sm_90a", {"D": 64, "causal": True}, **config).broken == ()


@pytest.mark.parametrize(
    ("name", "arch", "dtype", "part"),
    [
        ("gemm", "cpu", "float16", "the CPU target runs float32 only, not float16"),
        ("vector_add", "sm_75", "bfloat16", "sm_75 has no bfloat16 arithmetic; choose float16, or sm_80 or newer"),
        ("flash_attention", "sm_75", "float32", "sm_75 has no TF32"),
        ("flash_attention", "sm_70", "float16", "no layout for two products in a row on sm_70; choose sm_75 or newer"),
    ],
)
def test_what_a_target_cannot_do_is_named(name, arch, dtype, part):
    kernel, chosen = kernels.code(name), target(arch)
    assert part in kernel.unsupported(kernel.problem({"dtype": dtype}, chosen.kind), chosen)


def test_the_cpu_refuses_tiles_that_would_break_its_stack():
    assert "B of the CPU target's stack; more than 4,194,304 B crashes" in said(gemm("cpu", 1024, 1024, 64, 0, 128))
    assert "stack" in said(judged("softmax", "cpu", {"N": 262_144}, block_M=8, block_N=262_144))
    assert gemm("cpu", 512, 512, 512, 0, 128).broken == ()


def test_a_tile_larger_than_the_problem_is_allowed_and_said():
    estimate = gemm("sm_80", 64, 64, 32, 1, 128, {"M": 5, "N": 64, "K": 64})
    assert estimate.broken == ()
    assert "block_M 64 is more than the 5 there are; the rest of the tile is masked" in estimate.notes


def test_float32_on_turing_is_scalar_and_says_so():
    assert "sm_75 has no tensor core for float32: scalar multiply-adds" in gemm("sm_75", 64, 64, 32, 1, 128, {"dtype": "float32"}).notes


@pytest.mark.parametrize(
    ("name", "problem", "config", "sentence"),
    [
        (
            "gemm",
            {"M": 65_536 * 64, "N": 64, "K": 64},
            {"block_M": 64, "variant": "plain"},
            "65,536 blocks along y of the grid is over the limit of 65,535",
        ),
        ("gemm_bias_gelu", {"M": 65_535 * 64 + 1, "N": 64, "K": 64}, {"block_M": 64, "variant": "plain"}, "65,536 blocks along y"),
        (
            "flash_attention",
            {"H": 65_536},
            {"schedule": "plain"},
            "65,536 blocks along y of the grid is over the limit of 65,535; use fewer heads",
        ),
        (
            "flash_attention",
            {"B": 70_000},
            {"schedule": "plain"},
            "70,000 blocks along z of the grid is over the limit of 65,535; use a smaller batch",
        ),
    ],
)
def test_a_grid_that_cuda_cannot_number_is_pruned(name, problem, config, sentence):
    broken = judged(name, "sm_90a", problem, **config).broken
    assert any(sentence in each for each in broken), broken
    assert not any("grid" in each for each in judged(name, "cpu", {**problem, "dtype": "float32"}, **config).broken)


def test_the_largest_grid_is_not_pruned():
    assert gemm("sm_90a", 64, 64, 32, 2, 128, {"M": 65_535 * 64, "N": 64, "K": 64}).broken == ()


@pytest.mark.parametrize("arch", ["sm_80", "cpu"])
@pytest.mark.parametrize(
    ("name", "problem", "elements"),
    [("gemm", {"M": 65_600, "N": 32_832, "K": 64}, "2,153,779,200"), ("softmax", {"M": 2**21, "N": 1024}, "2,147,483,648")],
)
def test_a_tensor_that_32_bits_cannot_count_is_noted(arch, name, problem, elements):
    dtype = {"dtype": "float32"}
    assert any(f"a tensor of {elements} elements" in note for note in judged(name, arch, {**problem, **dtype}).notes)
    assert not any("32 bits" in note for note in judged(name, arch, {**problem, **dtype, "M": 1000}).notes)
