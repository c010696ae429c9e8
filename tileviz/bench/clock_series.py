"""Thins the readings of the clocks to what fits under a bar: the SM clock in order, and where it was held back."""

from collections.abc import Callable, Sequence
from typing import Any

MOST = 60
"""Readings that a Timing keeps."""


def thinned(readings: Sequence, named: Callable[[int], tuple[str, ...]], most: int = MOST) -> dict[str, Any]:
    """`sm_clocks_mhz` and `clock_limits` of a Timing, from readings with an `sm_clock_mhz` and `reasons`; `named` names the bits of a mask.

    Of more than `most` readings as many even shares are made, and each gives its lowest clock and every reason in it, so that no dip is
    lost. Readings without a clock are left out.
    """
    known = [reading for reading in readings if reading.sm_clock_mhz is not None]
    count = min(most, len(known))
    shares = [known[len(known) * at // count : len(known) * (at + 1) // count] for at in range(count)]
    reasons = [", ".join(named(_joined(share))) for share in shares]
    return {"sm_clocks_mhz": tuple(min(r.sm_clock_mhz for r in share) for share in shares), "clock_limits": _runs(reasons)}


def _joined(share: Sequence) -> int:
    mask = 0
    for reading in share:
        mask |= reading.reasons or 0
    return mask


def _runs(reasons: Sequence[str]) -> tuple[tuple[int, int, str], ...]:
    """(first, last, reasons) of each run of alike reasons; those without one are left out."""
    runs: list[tuple[int, int, str]] = []
    for at, words in enumerate(reasons):
        if not words:
            continue
        if runs and runs[-1][1:] == (at - 1, words):
            runs[-1] = (runs[-1][0], at, words)
        else:
            runs.append((at, at, words))
    return tuple(runs)
