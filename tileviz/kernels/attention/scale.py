"""The factor of attention's scores in a tile program: what of it comes before mask and maximum, and what waits for the exponent."""

import math

from tileviz.kernels.toolkit.base import T

LOG2E = 1.4426950408889634
"""exp(x) is exp2(x LOG2E), one instruction on a GPU."""

LEAST_LATE = 2.0**-126
"""The smallest normal float32. A GPU takes less for 0 under fast math, and its compiler may multiply behind the mask, where minus infinity
times 0 is no number: seen on an H200. So less is 0 here: it moves no exponent of a score under 2^100 by a bit."""

STEEP = 64.0
"""A factor from which scores are subtracted first: the rounding of a product as large as 2^24 would be no exponent of 0."""


def factors(scale, D):
    """(early, late): scores times `early` have the right maximum, and times `late`, too, are exponents of 2. Late costs nothing, in one
    fused multiply-add an element; a sign and a zero must come early."""
    factor = (1 / math.sqrt(D) if scale is None else scale) * LOG2E
    return (0.0, 1.0) if abs(factor) < LEAST_LATE else (math.copysign(1.0, factor), abs(factor))


def power(score, highest, late):
    """2^((score - highest) late), where one product is shared by a whole row."""
    return T.exp2((score - highest) * late) if late >= STEEP else T.exp2(score * late - highest * late)


def shrunk(before, highest, late):
    """2^((before - highest) late), and 1 where a maximum stays: a product less its own rounded value would be off at every key tile."""
    return T.exp2((before - highest) * late)
