"""Measures what a device really gives: its copy bandwidth and its dense matrix rates by math mode. Once a device, then stored.

Datasheet peaks are for the boost clock and ideal traffic; these are what a large copy and a large `torch.matmul` reach here and now.
"""

import time
from dataclasses import dataclass, field
from typing import Any

from tileviz.measured import Timing

from .draws import Draw
from .pick_timer import pick_timer
from .references import full_precision
from .timers import Plan, Timer, time_callable

GPU_COPY_BYTES = 4 << 30
CPU_COPY_BYTES = 64 << 20
"""Over the last-level cache of most processors."""

GPU_SIZES = (4096, 8192)
"""n of the n^3 products; the best is the ceiling: the larger fills the card better, the smaller runs into the power cap less."""
CPU_SIZES = (512,)

DTYPES = {"float16": "float16", "bfloat16": "bfloat16", "TF32": "float32", "float32": "float32"}
"""Math modes, and the dtype of their inputs."""

GPU_PLAN = Plan(warmup=3, max_seconds=0.4, min_samples=20, max_samples=50)
CPU_PLAN = Plan(warmup=1, max_seconds=0.3, min_samples=10, max_samples=20)


@dataclass(frozen=True)
class Ceilings:
    """What was reached on one device."""

    copy_tbps: float
    """Bytes read and bytes written by the copy, 10^12 a second."""
    copy_bytes: int
    """Size of the buffer that was copied; the traffic is twice that."""
    tflops: dict[str, float] = field(default_factory=dict)
    """Best dense matrix rate by math mode, on standard normal data. A mode that the device lacks is left out."""
    sizes: dict[str, int] = field(default_factory=dict)
    """n of the n^3 product that gave each rate."""
    timer: str = ""
    created: float = 0.0
    """Unix time."""
    fingerprint: dict[str, Any] = field(default_factory=dict)

    @property
    def day(self) -> str:
        return time.strftime("%Y-%m-%d", time.localtime(self.created))


def measure(device_id: str, timer: Timer | None = None, fingerprint: dict[str, Any] | None = None) -> Ceilings:
    """Measures `cpu` (one thread, as everything there) or `cuda:N`; a few seconds. Raises ToolMissing where no timer works."""
    import torch

    timer = timer or pick_timer(device_id)
    plan = CPU_PLAN if device_id == "cpu" else GPU_PLAN
    threads = torch.get_num_threads()
    if device_id == "cpu":
        torch.set_num_threads(1)
    try:
        copied = copy_bytes(device_id)
        copy = _copy(device_id, copied, timer, plan)
        best = {mode: _best_product(device_id, mode, timer, plan) for mode in modes_of(device_id)}
    finally:
        torch.set_num_threads(threads)
    known = {mode: found for mode, found in best.items() if found is not None}
    return Ceilings(
        copy_tbps=2 * copied / copy.median_us / 1e6,
        copy_bytes=copied,
        tflops={mode: rate for mode, (rate, _) in known.items()},
        sizes={mode: size for mode, (_, size) in known.items()},
        timer=timer.name,
        created=time.time(),
        fingerprint=fingerprint or {},
    )


def ceilings_from_json(doc: dict[str, Any] | None) -> Ceilings | None:
    """The Ceilings that `to_json` wrote; None for None, or for one that lacks its bandwidth."""
    if not doc or not doc.get("copy_tbps"):
        return None
    return Ceilings(**{name: doc[name] for name in Ceilings.__dataclass_fields__ if name in doc})


def copy_bytes(device_id: str) -> int:
    """Size of the copied buffer: 4 GiB, or an eighth of the memory where that is less; 64 MiB on the CPU."""
    import torch

    if device_id == "cpu":
        return CPU_COPY_BYTES
    return min(GPU_COPY_BYTES, torch.cuda.get_device_properties(device_id).total_memory // 8 >> 20 << 20)


def modes_of(device_id: str) -> tuple[str, ...]:
    """Math modes that a device multiplies matrices in at full speed; bfloat16 and TF32 came with compute capability 8.0."""
    import torch

    if device_id == "cpu":
        return ("float32",)
    return tuple(DTYPES) if torch.cuda.get_device_capability(device_id) >= (8, 0) else ("float16", "float32")


def _copy(device_id: str, size: int, timer: Timer, plan: Plan) -> Timing:
    import torch

    source = torch.ones(size // 4, device=device_id)
    into = torch.empty_like(source)
    return time_callable(lambda: into.copy_(source), timer, plan)


def _best_product(device_id: str, mode: str, timer: Timer, plan: Plan) -> tuple[float, int] | None:
    """(TFLOPS, n) of the fastest size that fits into memory; None when none does."""
    import torch

    found = []
    for size in CPU_SIZES if device_id == "cpu" else GPU_SIZES:
        try:
            found.append((_product(device_id, mode, size, timer, plan), size))
        except torch.OutOfMemoryError:
            continue  # a smaller size was or will be measured; with none, the mode is missing
    return max(found, default=None)


def _product(device_id: str, mode: str, size: int, timer: Timer, plan: Plan) -> float:
    import torch

    draw = Draw(device_id, 0)
    A, B = draw(size, size, dtype=DTYPES[mode]), draw(size, size, dtype=DTYPES[mode])
    C = torch.empty_like(A)
    with torch.no_grad(), full_precision(tf32=mode == "TF32"):
        timing = time_callable(lambda: torch.matmul(A, B, out=C), timer, plan)
    return 2 * size**3 / timing.median_us / 1e6
