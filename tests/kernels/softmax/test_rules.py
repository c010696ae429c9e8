"""What softmax refuses before compiling, how it shares a row, and where the shares meet."""

import os
import tempfile

import pytest

from tileviz import kernels
from tileviz.compiler.lowering import lower
from tileviz.compiler.targets import target
from tileviz.kernels.softmax.parts import shares

SOFTMAX = kernels.code("softmax")


def judged(arch: str, M: int = 64, N: int = 4096, dtype: str = "float16", **config):
    chosen = target(arch)
    problem = SOFTMAX.problem({"M": M, "N": N, "dtype": "float32" if arch == "cpu" else dtype}, chosen.kind)
    return SOFTMAX.rules(problem, SOFTMAX.config(config, chosen, problem), chosen)


@pytest.mark.parametrize(("N", "dtype", "columns"), [(8192, "float16", 8), (1000, "float32", 4), (1002, "float16", 2), (7, "bfloat16", 1)])
def test_a_load_is_as_wide_as_the_start_of_every_row_allows(N, dtype, columns):
    assert shares(N, dtype, 256) == (8, 32, columns)


def test_a_short_row_has_a_part_of_a_warp():
    assert shares(128, "float16", 8) == (1, 8, 8)


def test_values_that_are_more_than_the_registers_are_refused_with_a_way_out():
    (said,) = judged("sm_90a", N=131072, threads=1024, variant="whole").broken
    assert said == "the values take 128 registers a thread, and there are 64; use more threads, fewer rows, or variant online"
    assert judged("sm_90a", N=131072, threads=512, variant="whole", hold="input").broken == ()
    assert judged("sm_90a", N=131072, threads=1024, variant="online").broken == ()


def test_registers_left_for_other_blocks_count():
    assert judged("sm_90a", N=32768, threads=512, variant="whole", blocks_per_sm=2).broken == ()
    assert "64 registers a thread, and there are 32" in judged("sm_90a", N=32768, threads=512, variant="whole", blocks_per_sm=4).broken[0]
    assert "4 blocks of 1,024 threads are more than" in judged("sm_90a", variant="whole", threads=1024, blocks_per_sm=4).broken[0]


@pytest.mark.parametrize(("arch", "said"), [("sm_80", "sm_80 has no clusters of blocks"), ("cpu", "the CPU has no clusters of blocks")])
def test_a_cluster_needs_hopper(arch, said):
    assert judged(arch, variant="cluster").broken[0].startswith(said)
    assert judged("sm_90a", variant="cluster").broken == ()


def test_a_block_has_a_thread_for_each_of_its_rows():
    assert "32 threads are fewer than the 64 rows of a block" in judged("sm_90a", N=31, block_M=64, threads=32).broken[0]


@pytest.mark.parametrize("arch", ["sm_80", "sm_90a"])
@pytest.mark.parametrize("N", [1, 128, 1000, 8192, 32768, 131072, 262144])
def test_what_is_suggested_breaks_no_rule(arch, N):
    for M in (1, 8, 4096, 100_000):
        for dtype in ("float16", "float32"):
            assert judged(arch, M=M, N=N, dtype=dtype).broken == (), (M, dtype)


@pytest.mark.parametrize("variant", ["whole", "online"])
def test_the_reductions_where_warps_meet_are_found_in_the_file(variant):
    """They meet in a macro: line links reach to the last line of the program, so it stands above those that use it."""
    os.environ.setdefault("TILELANG_CACHE_DIR", tempfile.mkdtemp(prefix="tilelang-"))
    problem, hopper = SOFTMAX.problem({"M": 64, "N": 4096}), target("sm_90a")
    config = SOFTMAX.config({"variant": variant, "threads": 128}, hopper, problem)
    made = lower(lambda: SOFTMAX.build(problem, config, hopper), hopper, {})
    program = ["", *SOFTMAX.source.splitlines()]
    mapped = zip(made.source.split("\n"), made.lines, strict=True)
    found = {text: program[line].strip() for text, line in mapped if "row_highest[0] =" in text or "row_total[0] =" in text}
    assert set(found.values()) == {"T.reduce_max(every_highest, row_highest, dim=1)", "T.reduce_sum(every_total, row_total, dim=1)"}
