"""Rates and ceilings: TFLOPS and GB/s of a timing, which ceiling binds, what cannot be right, what is only a launch."""

import dataclasses

from tileviz.records import Cost, Roofline, Timing

from .peaks import Peaks

CLOCK_MARGIN = 1.10
"""Datasheet arithmetic rates are for the boost clock; the highest clock of a card is up to 8 % over it (H200: 1.98 against 1.83 GHz)."""

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


def roofline(cost: Cost, timing: Timing, peaks: Peaks | None, math_mode: str = "float32") -> Roofline:
    """The ceiling that binds (the one that needs more time), and the share of it that was reached. `peaks` None: no ceiling is known."""
    if peaks is None:
        intensity = cost.flops / cost.bytes if cost.bytes else 0.0
        return Roofline("memory" if intensity < MEMORY_INTENSITY else "compute", None, "no ceiling is known for this device")
    memory_us, compute_us = least_us(cost, peaks, math_mode)
    if compute_us > memory_us:
        ceiling = f"{peaks.tflops[peaks.mode(math_mode)]:.4g} TFLOPS {peaks.mode(math_mode)}, {peaks.source}"
        return Roofline("compute", _share(compute_us, timing), ceiling)
    return Roofline("memory", _share(memory_us, timing), f"{peaks.tbps:.4g} TB/s, {peaks.source}")


def least_us(cost: Cost, peaks: Peaks, math_mode: str) -> tuple[float, float]:
    """Microseconds that the bytes and the FLOPs need at the peaks; 0 where the peak is not known."""
    rate = peaks.tflops.get(peaks.mode(math_mode))
    return cost.bytes / peaks.tbps / 1e6, cost.flops / rate / 1e6 if rate else 0.0


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
    """The timing with its `implausible` and `launch_bound` marks set."""
    return dataclasses.replace(timing, implausible=implausible(cost, timing, peaks, math_mode), launch_bound=launch_bound(timing, floor_us))


def _share(least: float, timing: Timing) -> float | None:
    return least / timing.median_us if timing.median_us > 0 else None
