"""The records of what checking and timing give: verdicts, timings, comparisons, and baselines beside ours."""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal


@dataclass(frozen=True)
class ErrorMap:
    """Where in an output the errors lie: the output as a matrix of its last dimension across, cut into blocks."""

    shape: tuple[int, ...]
    """Of the output."""
    block: tuple[int, int]
    """Rows and columns of a block; those at the ends may be smaller. A vector is one column."""
    worst: tuple[tuple[float, ...], ...]
    """Largest error of each block over its bound: above 1 is wrong, infinity is a NaN or infinity that should be a number."""
    wrong: tuple[tuple[int, ...], ...] = ()
    """Wrong elements of each block; empty when there are none."""


@dataclass(frozen=True)
class Determinism:
    """Launches on the same inputs beside each other."""

    launches: int
    differing: int
    """Elements whose bits were not the same in all of them."""


@dataclass(frozen=True)
class Verdict:
    """Output against reference."""

    ok: bool
    rel_error: float
    """Frobenius norm of the difference over that of the reference."""
    max_abs_error: float
    wrong_fraction: float
    """Share of elements outside the tolerance. Any is a failure."""
    wrong_count: int = 0
    worst_index: tuple[int, ...] | None = None
    unwritten_count: int = 0
    """Elements that still hold the NaN they were filled with."""
    tolerance: str = ""
    """The bound in words and numbers, with what it was derived from."""
    reference: str = "float64"
    reason: str = ""
    """One sentence when wrong: `8 of 104 columns never written (96-103)`."""
    errors: ErrorMap | None = None
    """None where it was not kept: right results of a sweep and of baselines."""
    determinism: Determinism | None = None
    """None where it was not looked at: wrong results, baselines, configs of a sweep that are no finalists, launches of many seconds."""


@dataclass(frozen=True)
class Timing:
    """Every sample of one timed callable."""

    samples_us: tuple[float, ...]
    timer: str
    """`cupti`, `cuda_events` or `perf_counter`."""
    l2: str
    """`cold`, `warm`, or `n/a` on the CPU."""
    warmup: int = 0
    """Launches before the first sample."""
    stop_reason: str = ""
    """Why sampling stopped: `median known to 0.44 %, target 0.5 %` or `cap of 200 samples`."""
    sm_clock_mhz: float | None = None
    memory_clock_mhz: float | None = None
    power_w: float | None = None
    temperature_c: float | None = None
    throttled: bool | None = None
    """True when a thermal or hardware slowdown was seen; None when clocks cannot be read."""
    throttle_reasons: tuple[str, ...] = ()
    sm_clocks_mhz: tuple[float, ...] = ()
    """The SM clock while the samples were taken, in order and thinned to at most 60: the lowest of each share."""
    clock_limits: tuple[tuple[int, int, str], ...] = ()
    """(first, last, reasons): which of `sm_clocks_mhz` were held back, and why. A power cap counts here, though it flags no value."""
    implausible: str = ""
    """Why the value cannot be right: faster than the memory or the arithmetic allows. Empty when plausible."""
    launch_bound: bool = False
    """Within 2x of an empty kernel: never ranked."""
    l2_resident: bool = False
    """Warm L2 and a rate over what memory can give: the data came from L2."""
    floor_us: float | None = None
    """An empty kernel by the same timer, in the same session."""
    flush: str = ""
    """How L2 was emptied before each sample: `read`, `write` or `none`; empty on the CPU."""
    earlier_us: tuple[float, ...] = ()
    """Samples taken before the others and set aside: at another clock, or before ours and the baselines were measured in turn."""
    note: str = ""
    """How the samples came about: measured in turn, measured again and why."""

    @property
    def n(self) -> int:
        return len(self.samples_us)

    @property
    def median_us(self) -> float:
        return quantile(self.samples_us, 0.5)

    @property
    def p10_us(self) -> float:
        return quantile(self.samples_us, 0.1)

    @property
    def p90_us(self) -> float:
        return quantile(self.samples_us, 0.9)


Compared = Literal["faster", "slower", "same", "unclear"]
"""What comes of a comparison."""


@dataclass(frozen=True)
class Comparison:
    """One timing against another."""

    verdict: Compared
    """`faster`, `slower`, `same` (a tie) or `unclear`."""
    ratio: float
    """Their median over ours: above 1 means ours is faster."""
    low: float
    high: float
    """Interval of the ratio, 95 %."""

    def __post_init__(self) -> None:
        """A ratio whose interval holds 1 is a tie, also in what an earlier version stored as unclear."""
        if self.low <= 1 <= self.high:
            object.__setattr__(self, "verdict", "same")


@dataclass(frozen=True)
class BaselineResult:
    """What a user would use instead, checked and timed with the same inputs, timer and L2 mode."""

    name: str
    title: str
    status: str
    reason: str = ""
    detail: str = ""
    kernel_name: str = ""
    math_mode: str = ""
    """`float32`, `TF32`, `float16 in, float32 accumulate`."""
    compile_s: float | None = None
    """Seconds before the first result, where the baseline compiles (torch.compile)."""
    verdict: Verdict | None = None
    timing: Timing | None = None
    comparison: Comparison | None = None
    speedup: float | None = None
    """Its median over ours; None where either is missing or implausible."""


@dataclass(frozen=True)
class Roofline:
    bound: str
    """`memory` or `compute`."""
    fraction: float | None
    """Share of that ceiling reached, 0 to 1; None when no ceiling is known."""
    ceiling: str = ""
    """The ceiling used, with its source: `4.80 TB/s, datasheet`."""
    fraction_measured: float | None = None
    """Share of the ceiling measured on this device; over 1 when this kernel beats what was measured with."""
    ceiling_measured: str = ""
    """`4.28 TB/s, copy of 4.00 GiB measured on 2026-11-29`."""


@dataclass(frozen=True)
class Best:
    """The config that is named as the best of a problem of a sweep, wherever one is named."""

    ordinal: int
    trial: str | None
    """None for a row from a file that has no trials."""
    median_us: float


def ranked(rows: Iterable[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """The rows of a sweep that may be the best of their problem, fastest first and equally fast ones in the order of the configs: right,
    with a time that can be right and is not that of a launch, and equal code once."""
    able = [row for row in rows if _is_timed(row) and not row["launch_bound"]]
    return sorted(able, key=lambda row: (row["median_us"], row["ordinal"]))


def best_of(rows: Iterable[Mapping[str, Any]], turns: Sequence[str] = ()) -> Mapping[str, Any] | None:
    """The one row that is named as the best of a problem; None when none may be.

    `turns` are the trials that stayed level when the finalists were measured again in turn, fastest first: these decide over times of the
    first pass, and over later times of the same configs, such as those beside the baselines. Without them it is the fastest.
    """
    order = ranked(rows)
    places = {trial: place for place, trial in enumerate(turns)}
    return min(order, key=lambda row: places.get(row["trial"], len(places)), default=None)


def why_no_best(rows: Iterable[Mapping[str, Any]]) -> str:
    """Why none of the rows of a problem is named as the best, in a sentence without its full stop."""
    timed = sum(map(_is_timed, rows))
    if not timed:
        return "no config gave a time"
    each = f"all {timed:,} timed configs are" if timed > 1 else "the one timed config is"
    return f"{each} launch-bound, within twice an empty kernel, so none is named the best"


def _is_timed(row: Mapping[str, Any]) -> bool:
    own = row["status"] == "ok" and not row["implausible"] and (row["same_as"] is None or row["same_as"] != row["same_as"])
    return own and isinstance(row["median_us"], int | float) and row["median_us"] > 0  # an earlier version took files unchecked


def fastest_baseline(baselines: Sequence[BaselineResult]) -> BaselineResult | None:
    """The baseline that a speed-up is told against: the quickest that is right and whose time may be compared with ours; None when
    there is none. Every chart, table and preset names this one."""
    return min(filter(_may_stand_beside_ours, baselines), key=lambda b: b.timing.median_us if b.timing else math.inf, default=None)


def _may_stand_beside_ours(baseline: BaselineResult) -> bool:
    if baseline.status != "ok" or (baseline.verdict is not None and not baseline.verdict.ok):
        return False
    timed = baseline.timing is not None and baseline.timing.n > 0 and not baseline.timing.implausible
    return timed and baseline.comparison is not None and baseline.speedup is not None


def quantile(samples, q: float) -> float:
    """Linear-interpolation quantile (numpy's default, type 7) of a non-empty sequence; NaN when it is empty."""
    if not samples:
        return math.nan
    ordered = sorted(samples)
    at = q * (len(ordered) - 1)
    low = int(at)
    high = min(low + 1, len(ordered) - 1)
    return ordered[low] + (ordered[high] - ordered[low]) * (at - low)
