"""Watches clocks, power, temperature and throttle reasons while a kernel is timed. Reads only: nothing on the card is ever set."""

import threading
from dataclasses import dataclass, field
from typing import Any

from tileviz.measured import quantile

from . import clock_series, nvml

PERIOD_S = 0.02

REASONS = {
    0x2: "application clocks",
    0x4: "power cap",
    0x8: "hardware slowdown",
    0x10: "sync boost",
    0x20: "thermal slowdown by software",
    0x40: "thermal slowdown by hardware",
    0x80: "power brake",
    0x100: "display clocks",
}
"""Bits of NVML's clock event reasons. 0x1, an idle GPU, is no reason worth showing."""

SLOWDOWNS = 0x8 | 0x20 | 0x40 | 0x80
"""What flags a value. A power cap is the steady state of a heavy GEMM and is only recorded."""


@dataclass(frozen=True)
class Reading:
    """One look at the card; None where it does not say."""

    sm_clock_mhz: float | None
    memory_clock_mhz: float | None
    power_w: float | None
    temperature_c: float | None
    reasons: int | None


@dataclass
class ClockWatch:
    """with ClockWatch("cuda:0") as watch: ... reads before, every 20 ms during, and after; `seen` sums it up for a Timing.

    Without NVML every value is None. May be entered again; the readings start afresh.
    """

    device_id: str | int = "cuda:0"
    """As torch names it: `cuda:0`, or 0."""
    period_s: float = PERIOD_S
    handle: Any = None
    """An NVML handle, found from the device id when it is None."""
    readings: list[Reading] = field(default_factory=list)
    _stop: threading.Event = field(default_factory=threading.Event)
    _thread: threading.Thread | None = None

    def __enter__(self) -> "ClockWatch":
        self.readings = []
        if self.handle is None and nvml.library() is not None:
            self.handle = nvml.handle_of_torch(self.device_id)
        if self.handle is None:
            return self
        self._stop.clear()
        self.readings.append(look(self.handle))
        self._thread = threading.Thread(target=self._watch, daemon=True, name="clock-watch")
        self._thread.start()
        return self

    def __exit__(self, *failure) -> None:
        if self._thread is None:
            return
        self._stop.set()
        self._thread.join()
        self._thread = None
        self.readings.append(look(self.handle))

    def seen(self) -> dict[str, Any]:
        """Fields of a Timing from this watch's readings."""
        return summary(self.readings)

    def _watch(self) -> None:
        while not self._stop.wait(self.period_s):
            self.readings.append(look(self.handle))


def summary(readings: list[Reading]) -> dict[str, Any]:
    """Fields of a Timing: median clocks and power, highest temperature, every throttle reason seen, and the SM clock in order; None, or
    empty, where nothing was read."""
    masks = [r.reasons for r in readings if r.reasons is not None]
    joined = 0
    for mask in masks:
        joined |= mask
    return {
        "sm_clock_mhz": _median(r.sm_clock_mhz for r in readings),
        "memory_clock_mhz": _median(r.memory_clock_mhz for r in readings),
        "power_w": _median(r.power_w for r in readings),
        "temperature_c": max((r.temperature_c for r in readings if r.temperature_c is not None), default=None),
        "throttled": bool(joined & SLOWDOWNS) if masks else None,
        "throttle_reasons": names_of(joined),
        **clock_series.thinned(readings, names_of),
    }


def names_of(mask: int) -> tuple[str, ...]:
    """The reasons of a mask in words."""
    return tuple(name for bit, name in REASONS.items() if mask & bit)


def look(handle) -> Reading:
    """Reads the card once."""
    milliwatts = nvml.read("nvmlDeviceGetPowerUsage", handle)
    reasons = nvml.read("nvmlDeviceGetCurrentClocksEventReasons", handle)
    return Reading(
        sm_clock_mhz=nvml.read("nvmlDeviceGetClockInfo", handle, nvml.constant("NVML_CLOCK_SM")),
        memory_clock_mhz=nvml.read("nvmlDeviceGetClockInfo", handle, nvml.constant("NVML_CLOCK_MEM")),
        power_w=None if milliwatts is None else milliwatts / 1000,
        temperature_c=nvml.read("nvmlDeviceGetTemperature", handle, nvml.constant("NVML_TEMPERATURE_GPU")),
        reasons=nvml.read("nvmlDeviceGetCurrentClocksThrottleReasons", handle) if reasons is None else reasons,
    )


def _median(values) -> float | None:
    known = [v for v in values if v is not None]
    return quantile(known, 0.5) if known else None
