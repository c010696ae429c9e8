"""Rates and ceilings: TFLOPS and GB/s of a timing, which ceiling binds, what cannot be right, what is only a launch."""

import dataclasses

from tileviz.measured import Roofline, Timing
from tileviz.records import Cost, Trial

from .ceilings import Ceilings
from .peaks import Peaks, mode_of

CLOCK_MARGIN = 1.20
"""Datasheet arithmetic rates are for the boost clock; the highest clock of a card is up to 18 % over it (RTX 5080: 3.09 against 2.617 GHz,
H200: 1.98 against 1.83 GHz)."""

LAUNCH_BOUND = 2.0
"""A kernel within this many times an empty one measures its launch."""

MEMORY_INTENSITY = 10.0
"""FLOPs per byte under which a kernel counts as memory-bound where no peaks are known."""


def rates(cost: Cost, timing: Timing) -> tuple[float | None, float | None]:
    """(TFLOPS, GB/s) at the median. TFLOPS = FLOPs / us / 10^6 and GB/s = model bytes / us / 10^3; None where the field counts none."""
    median = timing.median_us
    if not median > 0:
        return None, None
    tflops = cost.flops / median / 1e6 if cost.flops else None
    gbps = cost.bytes / median / 1e3 if cost.bytes else None
    return tflops, gbps


def roofline(cost: Cost, timing: Timing, peaks: Peaks | None, math_mode: str = "float32", ceilings: Ceilings | None = None) -> Roofline:
    """The ceiling that binds (the one that needs more time), and the share of it that was reached, of the datasheet's and of the
    measured one. `peaks` or `ceilings` None: that one is not known for this device."""
    bound = _bound(cost, peaks, ceilings, math_mode)
    point = Roofline(
        bound, None, "no ceiling is known for this device" if ceilings is None else "no datasheet peak is known for this device"
    )
    if peaks is not None:
        point = _with_datasheet(point, cost, timing, peaks, math_mode)
    return point if ceilings is None else _with_measured(point, cost, timing, ceilings, math_mode)


def _bound(cost: Cost, peaks: Peaks | None, ceilings: Ceilings | None, math_mode: str) -> str:
    if peaks is not None:
        memory_us, compute_us = least_us(cost, peaks, math_mode)
    elif ceilings is not None:
        memory_us, compute_us = _needed_us(cost, ceilings.copy_tbps, ceilings.tflops, math_mode)
    else:
        return "memory" if cost.bytes and cost.flops / cost.bytes < MEMORY_INTENSITY else "compute"
    return "compute" if compute_us > memory_us else "memory"


def _with_datasheet(point: Roofline, cost: Cost, timing: Timing, peaks: Peaks, math_mode: str) -> Roofline:
    memory_us, compute_us = least_us(cost, peaks, math_mode)
    if point.bound == "memory":
        return dataclasses.replace(point, fraction=_share(memory_us, timing), ceiling=f"{peaks.tbps:.4g} TB/s, {peaks.source}")
    mode = peaks.mode(math_mode)
    return dataclasses.replace(
        point, fraction=_share(compute_us, timing), ceiling=f"{peaks.tflops[mode]:.4g} TFLOPS {mode}, {peaks.source}"
    )


def _with_measured(point: Roofline, cost: Cost, timing: Timing, ceilings: Ceilings, math_mode: str) -> Roofline:
    memory_us, compute_us = _needed_us(cost, ceilings.copy_tbps, ceilings.tflops, math_mode)
    if point.bound == "memory":
        words = f"{ceilings.copy_tbps:.4g} TB/s, copy of {ceilings.copy_bytes / (1 << 30):.3g} GiB measured on {ceilings.day}"
        share = _share(memory_us, timing)
        if share is not None and share > 1 and timing.l2 != "cold":
            return dataclasses.replace(point, ceiling_measured=f"{words}; this data stays in a cache, which is faster")
        return dataclasses.replace(point, fraction_measured=share, ceiling_measured=words)
    mode = mode_of(ceilings.tflops, math_mode)
    if not compute_us:
        return dataclasses.replace(point, ceiling_measured=f"no matrix rate was measured for {mode}")
    words = f"{ceilings.tflops[mode]:.4g} TFLOPS {mode}, product of {ceilings.sizes.get(mode, 0):,}^3 measured on {ceilings.day}"
    return dataclasses.replace(point, fraction_measured=_share(compute_us, timing), ceiling_measured=words)


def why_over(point: Roofline) -> str:
    """Why a share is over 100 %, in one sentence; empty where none is."""
    copy = "copy, as many reads as writes," if point.bound == "memory" else "matrix product"
    if point.fraction is not None and point.fraction > 1:
        if point.bound == "memory":
            return "Over 100 % of the datasheet: a part of the data came from a cache, which is faster than memory."
        return "Over 100 % of the datasheet: its rate is for the boost clock, and this card ran above it."
    if point.fraction_measured is not None and point.fraction_measured > 1:
        return f"Over 100 % of the measured ceiling: this kernel is faster than the {copy} that it was measured with."
    return ""


def least_us(cost: Cost, peaks: Peaks, math_mode: str) -> tuple[float, float]:
    """Microseconds that the bytes and the FLOPs need at the peaks; 0 where the peak is not known."""
    return _needed_us(cost, peaks.tbps, peaks.tflops, math_mode)


def _needed_us(cost: Cost, tbps: float, tflops: dict[str, float], math_mode: str) -> tuple[float, float]:
    rate = tflops.get(mode_of(tflops, math_mode))
    return cost.bytes / tbps / 1e6, cost.flops / rate / 1e6 if rate else 0.0


def implausible(cost: Cost, timing: Timing, peaks: Peaks | None, math_mode: str = "float32") -> str:
    """Why a timing cannot be right, in one sentence; empty when it can. With a warm L2 the memory's peak is no bound."""
    if not timing.samples_us:
        return ""
    median = timing.median_us
    if not median > 0:
        return "implausible: the timer read no time at all"
    if peaks is None:
        return ""
    memory_us, compute_us = least_us(cost, peaks, math_mode)
    if timing.l2 != "warm" and median < memory_us:
        return f"implausible: {median:.4g} us; the bytes alone need {memory_us:.4g} us at {peaks.tbps:.4g} TB/s ({peaks.source})"
    if median * CLOCK_MARGIN < compute_us:
        rate = peaks.tflops[peaks.mode(math_mode)]
        return f"implausible: {median:.4g} us; the FLOPs alone need {compute_us:.4g} us at {rate:.4g} TFLOPS ({peaks.source})"
    return ""


def l2_resident(cost: Cost, timing: Timing, peaks: Peaks | None) -> bool:
    """True when the rate is over what memory can give, so the data came from L2: only right with a warm L2."""
    return peaks is not None and timing.median_us > 0 and cost.bytes / timing.median_us / 1e6 > peaks.tbps


def launch_bound(timing: Timing, floor_us: float | None) -> bool:
    """Within 2x of an empty kernel."""
    return floor_us is not None and bool(timing.samples_us) and timing.median_us <= LAUNCH_BOUND * floor_us


def marked(timing: Timing, cost: Cost, peaks: Peaks | None, math_mode: str = "float32", floor_us: float | None = None) -> Timing:
    """The timing with its floor, and its `implausible`, `launch_bound` and `l2_resident` marks set."""
    return dataclasses.replace(
        timing,
        implausible=implausible(cost, timing, peaks, math_mode),
        launch_bound=launch_bound(timing, floor_us),
        l2_resident=timing.l2 == "warm" and l2_resident(cost, timing, peaks),
        floor_us=floor_us,
    )


def recounted(trial: Trial, cost: Cost, count: str) -> Trial:
    """A stored trial with its TFLOPS, and its shares of an arithmetic ceiling, by one of FLOP_COUNTS. Times and GB/s stay."""
    if not cost.flops or trial.tflops is None or (ratio := cost.counted(count).flops / cost.flops) == 1:
        return trial
    point = trial.roofline
    if point is not None and point.bound == "compute":
        shares = {name: share * ratio for name in ("fraction", "fraction_measured") if (share := getattr(point, name)) is not None}
        point = dataclasses.replace(point, **shares)
    return dataclasses.replace(trial, tflops=trial.tflops * ratio, roofline=point)


def bound_by_rates(tflops: float | None, gbps: float | None) -> str:
    """`memory` or `compute` where only the rates of a config are known, by FLOPs per byte."""
    if not tflops or not gbps:
        return "compute" if tflops else "memory"
    return "memory" if tflops * 1e3 / gbps < MEMORY_INTENSITY else "compute"


def _share(least: float, timing: Timing) -> float | None:
    return least / timing.median_us if timing.median_us > 0 else None
