"""Occupancy, against figures worked out by hand from the rules of the CUDA programming guide."""

import pytest

from tileviz.compiler.occupancy import occupancy
from tileviz.compiler.targets import LIMITS


@pytest.mark.parametrize(
    "arch, threads, registers, shared, blocks, share, limiter",
    [
        # 168 registers: 5,376 a warp, 3 warps a scheduler, 12 in all: one block of 12 warps
        ("sm_90a", 384, 168, 98_304 + 1_024, 1, 12 / 64, "registers"),
        # 145 -> 4,864 a warp, 3 a scheduler, 12 in all: one block of 8 warps
        ("sm_80", 256, 145, 98_304, 1, 8 / 64, "registers"),
        # 79 -> 2,560 a warp, 6 a scheduler, 24 in all: six blocks of 4 warps
        ("sm_90a", 128, 79, 512, 6, 24 / 64, "registers"),
        ("sm_90a", 128, 32, 0, 16, 1.0, "threads"),
        ("sm_90a", 32, 32, 0, 32, 0.5, "blocks"),
        ("sm_86", 128, 32, 40_000, 2, 8 / 48, "shared memory"),
        ("sm_75", 256, 64, 16_384, 4, 1.0, "threads"),
    ],
)
def test_what_fits_on_an_sm(arch, threads, registers, shared, blocks, share, limiter):
    found = occupancy(LIMITS[arch], threads=threads, registers=registers, shared_bytes=shared)
    assert (found.blocks_per_sm, found.share, found.limiter) == (blocks, pytest.approx(share), limiter)


def test_the_same_tile_fits_on_hopper_and_not_on_ada():
    asked = {"threads": 256, "registers": 128, "shared_bytes": 196_608}
    assert occupancy(LIMITS["sm_90a"], **asked).blocks_per_sm == 1
    ada = occupancy(LIMITS["sm_89"], **asked)
    assert (ada.blocks_per_sm, ada.limiter) == (0, "shared memory")


def test_the_last_byte_that_a_block_may_use_fits():
    limits = LIMITS["sm_90a"]
    assert occupancy(limits, threads=128, registers=64, shared_bytes=limits.shared_per_block_bytes).blocks_per_sm == 1
    assert occupancy(limits, threads=128, registers=64, shared_bytes=limits.shared_per_block_bytes + 1).blocks_per_sm == 0


def test_more_threads_than_a_block_may_have_do_not_fit():
    found = occupancy(LIMITS["sm_90a"], threads=1152, registers=32, shared_bytes=0)
    assert (found.blocks_per_sm, found.limiter) == (0, "threads")
