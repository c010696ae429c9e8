"""Parts of the softmax programs: how threads share a row, and exponentials of differences to a maximum."""

import math

from tileviz.kernels.toolkit import rules
from tileviz.kernels.toolkit.base import T

LOG2E = 1.4426950408889634
"""exp(x) is exp2(x LOG2E), one instruction on a GPU."""


def shares(N, dtype, threads):
    """(warps, lanes, columns of a load) of a row with these threads: a load is 16 bytes, or what the start of every row allows."""
    lanes = min(32, threads)
    return threads // lanes, lanes, math.gcd(N, 16 // rules.DTYPE_BYTES[dtype])


def cluster_rows(warps):
    """Rows of what a block of a cluster tells the others: the highest value and the sum of each warp, and idle ones up to a warp's worth.

    TileLang cannot keep a barrier among fewer threads than a warp, and warns of a race where it drops one.
    """
    return max(2, 32 // warps)


def scaled(x, dtype):
    """x in the units that maxima are kept in: float16 times LOG2E, which a fused multiply-add then does on the way to an exponential.

    The other dtypes have values that LOG2E takes over the edge to infinity, and keep theirs.
    """
    return T.cast(x, "float32") * (LOG2E if dtype == "float16" else 1.0)


def power(difference, dtype):
    """The exponential of a difference of scaled values."""
    return T.exp2(difference * (1.0 if dtype == "float16" else LOG2E))


def weight(highest, top, dtype):
    """What a sum under `highest` counts for under `top`; nothing where only -inf was seen."""
    return T.if_then_else(highest == -T.infinity("float32"), T.float32(0), power(highest - top, dtype))


def finite(highest):
    """`highest` as something to subtract: -inf - -inf would spoil a sum."""
    return T.if_then_else(highest == -T.infinity("float32"), T.float32(0), highest)
