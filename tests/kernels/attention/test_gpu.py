"""Attention laid out by hand really runs on a Hopper GPU: odd lengths, every way out for O, blocks that stay, against float64."""

import pytest

from tests.kernels.on_gpu import check

pytestmark = pytest.mark.gpu

PROBLEMS = [
    {"B": 1, "H": 2, "Sq": 1, "Sk": 1000, "D": 128},
    {"B": 3, "H": 5, "Sq": 777, "Sk": 777, "D": 64, "causal": True},
    {"B": 2, "H": 96, "Sq": 130, "Sk": 65, "D": 128, "causal": True},
    {"B": 2, "H": 96, "Sq": 200, "Sk": 333, "D": 128, "dtype": "bfloat16"},
    {"B": 1, "H": 7, "Sq": 1000, "Sk": 1500, "D": 256, "causal": True},
]
"""More tiles of rows than an H200 has SMs, and fewer; rows that see no key; lengths that are no whole tiles."""


def by_hand(block_M: int, block_N: int, num_stages: int, schedule: str, **more) -> dict:
    tile = {"block_M": block_M, "block_N": block_N, "num_stages": num_stages, "threads": 2 * block_M, "schedule": schedule}
    return {**tile, "rescale": "vote", "tl.enable_fast_math": True, **more}


@pytest.mark.parametrize("blocks", [0, 132])
@pytest.mark.parametrize("store", ["direct", "queries", "shared"])
@pytest.mark.parametrize("problem", PROBLEMS, ids=str)
def test_any_lengths_are_right_whichever_way_the_rows_leave(problem, store, blocks):
    check(
        "flash_attention",
        problem,
        by_hand(128, 48 if problem["D"] == 256 else 64, 2, "pingpong", store=store, blocks=blocks, heads_together=4),
    )


@pytest.mark.parametrize(
    "chosen",
    [
        by_hand(192, 128, 3, "pingpong", store="shared", blocks=132),
        by_hand(192, 96, 4, "pingpong", store="shared", heads_together=16),
        by_hand(64, 128, 2, "overlap", store="shared", blocks=132),
        by_hand(64, 64, 4, "overlap", store="queries", rescale="always"),
    ],
    ids=str,
)
def test_any_number_of_groups_is_right(chosen):
    check("flash_attention", {"B": 3, "H": 50, "Sq": 333, "Sk": 333, "D": 64, "causal": True}, chosen)


PLAIN = {"schedule": "plain", "block_M": 64, "block_N": 64, "num_stages": 1, "threads": 128, "tl.enable_fast_math": True}


@pytest.mark.parametrize("scale", [1.0, -10.0, 1e4, 1e10, 1e38, 1e-45, 0.0])
@pytest.mark.parametrize(
    ("dtype", "chosen"),
    [("float16", by_hand(128, 64, 2, "pingpong", store="direct")), ("bfloat16", PLAIN), ("float32", PLAIN)],
    ids=["float16 by hand", "bfloat16", "TF32"],
)
def test_any_scale_of_the_logits_is_right(dtype, chosen, scale):
    check("flash_attention", {"B": 1, "H": 4, "Sq": 200, "Sk": 1000, "D": 64, "dtype": dtype, "scale": scale}, chosen)
