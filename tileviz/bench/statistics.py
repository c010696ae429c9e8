"""Statistics of samples: how sure a median is, and whether one timing is faster than another."""

import math
import zlib

from tileviz.errors import NotComparable
from tileviz.measured import Compared, Comparison, Timing, quantile

SAME = 0.01
"""Two timings are the same, too, when the whole interval of their ratio lies within 1 % of 1."""

WALL_CLOCK = "perf_counter"
RESAMPLES = 2000
CONFIDENCE_Z = 1.959964


def relative_error(samples) -> float:
    """Half the 95 % interval of the median, over the median.

    From order statistics, with no assumption about the distribution: of n sorted samples the interval runs from number
    floor((n - 1.96 sqrt(n)) / 2) to number ceil(1 + (n + 1.96 sqrt(n)) / 2), counted from 1. Infinite for fewer than 6 samples, whose
    interval has no ends. Source: W. Conover, Practical Nonparametric Statistics, 3rd edition, section 3.2.
    """
    n = len(samples)
    if n < 6:
        return math.inf
    ordered = sorted(samples)
    low = max(1, math.floor((n - CONFIDENCE_Z * math.sqrt(n)) / 2))
    high = min(n, math.ceil(1 + (n + CONFIDENCE_Z * math.sqrt(n)) / 2))
    median = quantile(ordered, 0.5)
    return (ordered[high - 1] - ordered[low - 1]) / 2 / median if median > 0 else math.inf


def why_not_comparable(ours: Timing, theirs: Timing) -> str:
    """Why two timings cannot be set against each other, in one sentence; empty when they can."""
    for timing in (ours, theirs):
        if not timing.samples_us:
            return "one of the two has no samples"
        if timing.implausible:
            return f"one of the two is implausible: {timing.implausible}"
    if ours.timer != theirs.timer:
        return f"unlike timers: {ours.timer} and {theirs.timer}"
    if ours.l2 != theirs.l2:
        return f"unlike L2 modes: {ours.l2} and {theirs.l2}"
    if ours.flush and theirs.flush and ours.flush != theirs.flush:
        return f"unlike flushes of L2: {ours.flush} and {theirs.flush}"
    return ""


def compare(ours: Timing, theirs: Timing) -> Comparison:
    """Their median over ours, with a 95 % interval by bootstrap (2,000 resamples of each side, seeded by the samples themselves).

    `same`, a tie: the interval holds 1, or the whole of it lies within 1 % of 1. Else `faster` (ours) or `slower`.
    By the wall clock, `faster` and `slower` also need ranges from p10 to p90 that do not meet, else it is `unclear`: other work on the
    machine comes in bursts, which a bootstrap of single samples does not know of.
    Raises NotComparable for unlike timers or L2 modes, and for a timing that is missing or implausible.
    """
    reason = why_not_comparable(ours, theirs)
    if reason:
        raise NotComparable(reason)
    ratio = theirs.median_us / ours.median_us
    low, high = _interval(ours.samples_us, theirs.samples_us)
    verdict = _verdict(low, high)
    if verdict != "same" and ours.timer == WALL_CLOCK and _ranges_meet(ours, theirs):
        verdict = "unclear"
    return Comparison(verdict, ratio, low, high)


def tied_best(timings: dict[str, Timing]) -> list[str]:
    """Names of the timings that the fastest one does not clearly beat, fastest first. Launch-bound and implausible ones are left out."""
    ranked = {n: t for n, t in timings.items() if t.samples_us and not t.launch_bound and not t.implausible}
    order = sorted(ranked, key=lambda name: ranked[name].median_us)
    return [name for name in order if name == order[0] or compare(ranked[order[0]], ranked[name]).verdict in ("same", "unclear")]


def _verdict(low: float, high: float) -> Compared:
    if low <= 1 <= high or (low >= 1 - SAME and high <= 1 + SAME):
        return "same"
    return "faster" if low > 1 else "slower"


def _ranges_meet(ours: Timing, theirs: Timing) -> bool:
    return ours.p10_us <= theirs.p90_us and theirs.p10_us <= ours.p90_us


def _interval(ours, theirs) -> tuple[float, float]:
    import numpy as np  # only now: the page's controls do not wait for it

    a, b = np.asarray(ours, float), np.asarray(theirs, float)
    random = np.random.default_rng(zlib.crc32(a.tobytes() + b.tobytes()))
    ratios = _medians(random, b) / _medians(random, a)
    low, high = np.quantile(ratios, [0.025, 0.975])
    return float(low), float(high)


def _medians(random, samples):
    import numpy as np

    picked = random.integers(0, len(samples), (RESAMPLES, len(samples)))
    return np.median(samples[picked], axis=1)
