"""Which timers a device has, and the best of them that works."""

from tileviz.errors import ToolMissing, UnknownName

from .gpu_timers import CudaEvents, Cupti
from .timers import PerfCounter, Timer


def timers_of(device_id: str, flush: str = "read") -> tuple[Timer, ...]:
    """Every timer for this kind of device, best first, usable or not. The CPU's has no flush."""
    if device_id == "cpu":
        return (PerfCounter(),)
    return Cupti(device_id, flush), CudaEvents(device_id, flush)


def pick_timer(device_id: str, prefer: str | None = None, flush: str = "read") -> Timer:
    """The best timer that works for `cpu` or `cuda:N`, or the one named, with the flush named in `flush.MODES`.

    Raises UnknownName for a name that does not exist there, and ToolMissing, with each reason, when none works.
    """
    offered = timers_of(device_id, flush)
    if prefer is not None:
        offered = tuple(t for t in offered if t.name == prefer)
        if not offered:
            raise UnknownName.of(f"timer for {device_id}", prefer, (t.name for t in timers_of(device_id)))
    reasons = []
    for timer in offered:
        reason = timer.is_available()
        if reason is None:
            return timer
        reasons.append(f"{timer.name}: {reason}")
    raise ToolMissing("; ".join(reasons))
