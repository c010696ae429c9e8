"""Where attention starts when nothing is chosen: tile, schedule and order by target and problem, Hopper's from sweeps on an H200."""

from tileviz.kernels.attention import rules as attention_rules
from tileviz.kernels.toolkit import rules

FAST = {"tl.enable_fast_math": True}
"""exp2 in one instruction: otherwise three more keep what lies below 2^-126, which adds nothing to a sum of exponentials."""

TILES = ((128, 128), (128, 64), (64, 64), (64, 32), (32, 32), (32, 16))
"""Rows and keys of a tile, from large to small, each with a warp for 16 rows."""

ORDER = {"schedule": "plain", "heads_together": 1, "blocks": 0, "rescale": "always", "store": "direct"}


def plain(M: int, N: int, stages: int, threads: int) -> dict:
    return {"block_M": M, "block_N": N, "num_stages": stages, "threads": threads, **ORDER}


def by_hand(M: int, N: int, stages: int, schedule: str, store: str, heads_together: int = 1, blocks: int = 0) -> dict:
    order = {"schedule": schedule, "heads_together": heads_together, "blocks": blocks, "rescale": "vote", "store": store}
    return {**plain(M, N, stages, 2 * M), **order}


USUAL = {
    "sm_80": plain(128, 64, 1, 256),
    "sm_90a": plain(192, 128, 2, 384),
    "sm_100a": plain(128, 128, 2, 256),
    "sm_103a": plain(128, 128, 2, 256),
}
"""The plain tile of a target."""

SHORT = 1024
"""Keys up to which a tile of rows is soon done, so that its start and end weigh more than its middle."""

HOPPER = {
    (64, False): by_hand(192, 128, 3, "pingpong", "shared", blocks=132),
    (64, True): by_hand(192, 96, 4, "pingpong", "shared", heads_together=16),
    (128, False): by_hand(128, 160, 2, "pingpong", "shared", blocks=132),
    (128, True): by_hand(128, 128, 2, "pingpong", "shared", heads_together=4),
    (256, False): by_hand(128, 80, 2, "pingpong", "queries", blocks=132),
    (256, True): by_hand(128, 80, 2, "pingpong", "queries", heads_together=4),
}
"""By head size and mask: the fastest of float16 at 4,096 queries and keys."""

HOPPER_SHORT = {
    **HOPPER,
    (64, True): by_hand(128, 128, 4, "pingpong", "shared", heads_together=4, blocks=132),
    (128, False): by_hand(128, 128, 2, "pingpong", "shared", blocks=132),
    (128, True): by_hand(128, 128, 2, "pingpong", "shared", heads_together=4, blocks=132),
    (256, False): by_hand(128, 64, 2, "pingpong", "queries", blocks=132),
    (256, True): by_hand(128, 64, 2, "pingpong", "queries", heads_together=4),
}
"""The same at 512 and 1,024: blocks that stay bring the next queries while the last rows leave."""

FEW_QUERIES = by_hand(64, 128, 2, "overlap", "direct")
"""Memory sets the pace: small tiles, many of them on their way."""

DEFAULTS = {
    "cpu": {"block_M": 32, "block_N": 32, "num_stages": 0, "threads": 128},
    "cuda": FAST,
    **{name: {**usual, **FAST} for name, usual in USUAL.items()},
    "sm_90a": {**HOPPER[128, False], **FAST},
}
"""Over the defaults of the knobs, where the problem is not known."""


def suggest(problem, target) -> dict:
    """Hopper's schedule by hand where there is one; else the target's tile, with two stages if it may; else the next smaller that fits."""
    if not target.is_cuda:
        return {}
    usual = USUAL.get(target.name, plain(64, 64, 1, 128))
    ladder = [(M, N, stages, 2 * M) for M, N in TILES for stages in (2, 1)] + [(16, 16, 0, 32)]
    fitting = [plain(*step) for step in ladder if step[0] <= usual["block_M"] and step[1] <= usual["block_N"]]
    two = {**usual, "num_stages": 2}
    if problem["D"] == 128 and target.at_least(8) and not target.at_least(9):
        two["block_N"] = 32  # by mma.sync, 64 keys in two stages need more than 255 registers a thread: 16 B spilled
    hopper = HOPPER_SHORT if problem["Sk"] <= SHORT else HOPPER
    first = FEW_QUERIES if problem["Sq"] <= 64 else hopper[problem["D"], problem["causal"]]
    return rules.first_that_fits(attention_rules.estimate, problem, target, [first, two, usual, *fitting])
