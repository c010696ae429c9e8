"""The tiles that the blocks of a persistent grid take, counted in plain integers, and the barriers between loads and products."""

import re

import pytest

from tests.kernels.lowered import lowered
from tileviz.kernels.gemm import turns as gemm_turns
from tileviz.kernels.gemm.pipeline import Schedule

SHAPES = [(1024, 1024), (1000, 1000), (64, 4096), (4096, 24), (72, 8), (2048, 4100)]


def schedule(M: int, N: int, cluster: int = 1, blocks: int = 132, panel_size: int = 8) -> Schedule:
    return Schedule(M, N, 256, "float16", "NN", 128, 128, 64, 4, 256, panel_size, "FullRow", "shared", cluster, blocks)


def taken(turns: gemm_turns.Turns) -> list[list[tuple[int, int]]]:
    """(row, column) of every tile of each block, in turn."""
    return [[tuple(int(at) for at in turns.place(block, turn)) for turn in range(int(turns.count(block)))] for block in range(turns.blocks)]


@pytest.mark.parametrize("panel_size", [1, 3, 8])
@pytest.mark.parametrize(("cluster", "blocks"), [(1, 132), (1, 5), (2, 132), (4, 8)])
@pytest.mark.parametrize(("M", "N"), SHAPES)
def test_every_tile_is_taken_once(M, N, cluster, blocks, panel_size):
    every = [place for block in taken(gemm_turns.of(schedule(M, N, cluster, blocks, panel_size))) for place in block]
    high = cluster * 128
    rows = -(-M // high) * cluster  # a cluster takes whole columns of tiles, the last of them maybe past the end of C
    assert sorted(every) == [(row * 128, column * 128) for row in range(rows) for column in range(-(-N // 128))]


@pytest.mark.parametrize("blocks", [4, 64, 132])
@pytest.mark.parametrize(("M", "N"), SHAPES)
def test_every_block_of_the_grid_has_a_tile_and_the_blocks_of_a_cluster_as_many(M, N, blocks):
    of_blocks = taken(gemm_turns.of(schedule(M, N, cluster=4, blocks=blocks)))
    assert all(of_blocks) and len(of_blocks) <= blocks
    for first in range(0, len(of_blocks), 4):
        for together in zip(*of_blocks[first : first + 4], strict=True):
            assert len({column for _, column in together}) == 1, "they get columns of B by one load"
            assert [row for row, _ in together] == [together[0][0] + 128 * below for below in range(4)]


@pytest.mark.parametrize(("store", "shape"), [("shared", (128, 128)), ("halves", (128, 64))])
def test_C_goes_out_as_a_tile_or_a_half(store, shape):
    at = Schedule(512, 512, 256, "float16", "NN", 128, 128, 64, 4, 256, 8, "FullRow", store, 1, 132)
    assert gemm_turns.tile_of_C(at) == shape


@pytest.mark.parametrize(
    ("variant", "cluster", "readers"), [("persistent", 1, 2), ("persistent", 2, 4), ("pingpong", 1, 1), ("pingpong", 2, 2)]
)
def test_a_buffer_is_free_when_every_warp_group_that_reads_it_has_said_so(variant, cluster, readers):
    knobs = {"variant": variant, "block_M": 128, "block_N": 128, "num_stages": 3, "threads": 256, "store": "halves", "policy": "FullRow"}
    source = lowered("gemm", "sm_90a", {"M": 4096, "N": 4096, "K": 512}, {**knobs, "cluster": cluster}).source
    assert set(re.findall(r"empty\[\d\]\.init\((\d+)\)", source)) == {str(readers)}
    assert set(re.findall(r"full\[\d\]\.init\((\d+)\)", source)) == {"128"}
