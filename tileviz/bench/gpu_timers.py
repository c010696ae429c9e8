"""Timers for CUDA devices: device time of each launch by CUPTI activity records, and CUDA events with the launch queue kept full.

CUPTI allows one user in a process: while `Cupti` is in use, torch.profiler must not be, and the other way round.
"""

import contextlib
import ctypes
import functools
import glob
import importlib
import importlib.util
import os
from collections.abc import Callable, Generator

from tileviz.errors import RuntimeFailed

from .cupti_records import Records, Work, durations_us, kernel_names
from .flush import Flush
from .timers import GPU_PLAN, Run, Timer, prepare

QUEUE = 100
"""Launches enqueued before the device is waited for: with flush and events well under the 1,024 a queue holds."""

HEAD_START_CYCLES = 2_000_000
"""About 1 ms of spinning that lets the CPU enqueue ahead of the GPU."""


class GpuTimer(Timer):
    """What CUDA timers share: the device, the flush, waiting. `flush` other than `read` is for showing the difference only."""

    plan = GPU_PLAN
    has_l2 = True

    def __init__(self, device_id: str = "cuda:0", flush: str = "read") -> None:
        self.device_id = device_id
        self.flush = Flush(device_id, flush)
        self.flush_mode = flush

    def is_available(self) -> str | None:
        import torch

        if not torch.cuda.is_available():
            return "no CUDA device that PyTorch can use"
        return None

    def settle(self, run: Run, count: int) -> None:
        import torch

        with torch.cuda.device(self.device_id):
            for _ in range(count):
                prepare(run)
                run()
            torch.cuda.synchronize()

    def sample(self, run: Run, count: int, l2: str = "cold") -> list[float]:
        import torch

        before = self.flush if l2 == "cold" else _nothing
        samples: list[float] = []
        with torch.cuda.device(self.device_id):
            before()
            torch.cuda.synchronize()
            while len(samples) < count:
                samples += self._batch(run, min(QUEUE, count - len(samples)), before)
        return samples

    def empty_launch(self) -> None:
        """Launches a kernel that does nothing: a spin of no cycles."""
        import torch

        torch.cuda._sleep(0)

    def _batch(self, run: Run, count: int, before: Callable[[], None]) -> list[float]:
        raise NotImplementedError


class CudaEvents(GpuTimer):
    """Time between two events around each launch. A first spin keeps the queue full, so the gap holds no wait for the CPU; what is left
    is the events' own cost, some 3 us. Not for kernels under 10 us."""

    name = "cuda_events"

    def _batch(self, run, count, before):
        import torch

        events = [(torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)) for _ in range(count)]
        torch.cuda._sleep(HEAD_START_CYCLES)
        for start, end in events:
            prepare(run)
            before()
            start.record()
            run()
            end.record()
        torch.cuda.synchronize()
        return [start.elapsed_time(end) * 1e3 for start, end in events]


class Cupti(GpuTimer):
    """Device time of each launch: the sum of everything one call of run puts on the GPU, without the flush."""

    name = "cupti"

    def is_available(self) -> str | None:
        return super().is_available() or _cupti_problem(self.device_id)

    def kernel_names(self, run: Run) -> list[str]:
        """Names of what one call of run launches."""
        return kernel_names(self._capture(run, 1, _nothing))

    def session(self):
        return _Capture.of(_cupti()).kept_on()

    def _batch(self, run, count, before):
        return durations_us(self._capture(run, count, before))

    def _capture(self, run, count, before) -> Records:
        import torch

        cupti = _cupti()
        # CUSTOM0 and CUSTOM1 are used by PyTorch's own profiler.
        ours = cupti.ExternalCorrelationKind.CUSTOM2
        capture = _Capture.of(cupti)
        with torch.cuda.device(self.device_id), capture:
            for number in range(count):
                prepare(run)
                before()
                cupti.activity_push_external_correlation_id(ours, number)
                begin = cupti.get_timestamp()
                try:
                    run()
                finally:
                    end = cupti.get_timestamp()
                    cupti.activity_pop_external_correlation_id(ours)
                capture.records.windows.append((begin, end))
            torch.cuda.synchronize()
        return capture.records


class _Capture:
    """Collects activity records between enter and exit. One a process: CUPTI's callbacks are registered once and never again."""

    _only: "_Capture | None" = None

    def __init__(self, cupti) -> None:
        kind = cupti.ActivityKind
        self.cupti = cupti
        # Without the API kinds CUPTI makes no external records; PyTorch launches by the runtime API, TileLang by the driver's.
        self.kinds = (kind.EXTERNAL_CORRELATION, kind.RUNTIME, kind.DRIVER, kind.CONCURRENT_KERNEL, kind.MEMCPY, kind.MEMSET)
        self.custom = int(cupti.ExternalCorrelationKind.CUSTOM2)
        self.work = {int(kind.CONCURRENT_KERNEL): None, int(kind.MEMCPY): "memcpy", int(kind.MEMSET): "memset"}
        self.calls = (int(kind.RUNTIME), int(kind.DRIVER))
        self.external = int(kind.EXTERNAL_CORRELATION)
        self.records = Records()
        self.stays_on = False
        cupti.activity_register_callbacks(_buffer_size, self._take)

    @classmethod
    def of(cls, cupti) -> "_Capture":
        if cls._only is None:
            cls._only = cls(cupti)
        return cls._only

    def __enter__(self) -> "_Capture":
        self.records = Records()
        if not self.stays_on:
            self._switch(self.cupti.activity_enable)
        return self

    def __exit__(self, *failure) -> None:
        self.cupti.activity_flush_all(1)
        if not self.stays_on:
            self._switch(self.cupti.activity_disable)

    @contextlib.contextmanager
    def kept_on(self) -> Generator[None]:
        """Records all the time while entered; what is launched between two captures belongs to no sample and is dropped."""
        if self.stays_on:
            yield
            return
        self._switch(self.cupti.activity_enable)
        self.stays_on = True
        try:
            yield
        finally:
            self.stays_on = False
            self._switch(self.cupti.activity_disable)

    def _switch(self, to: Callable) -> None:
        for kind in self.kinds:
            to(kind)

    def _take(self, activities) -> None:
        for activity in activities:
            kind = int(activity.kind)
            if kind in self.work:
                name = self.work[kind] or activity.name
                self.records.work.append(Work(activity.start, activity.end, activity.correlation_id, name))
            elif kind in self.calls:
                self.records.calls.append((activity.start, activity.correlation_id))
            elif kind == self.external and int(activity.external_kind) == self.custom:
                self.records.external[activity.correlation_id] = activity.external_id


def _buffer_size() -> tuple[int, int]:
    """Bytes of a record buffer, and 0 for as many records as fit."""
    return 2 << 20, 0


def _nothing() -> None:
    """No flush."""


@functools.cache
def _cupti():
    """The cupti module, its library loaded first: the wheel looks for libcupti.so.13 and does not know where PyTorch keeps it."""
    for path in libcupti_paths():
        try:
            ctypes.CDLL(path, mode=ctypes.RTLD_GLOBAL)
            break
        except OSError:
            continue
    return importlib.import_module("cupti.cupti")


def libcupti_paths() -> list[str]:
    """Places of a CUDA 13 libcupti: beside PyTorch's wheels, then in a CUDA toolkit."""
    spec = importlib.util.find_spec("nvidia")
    folders = spec.submodule_search_locations if spec else None
    wheels = [path for root in folders or () for path in glob.glob(f"{root}/*/lib/libcupti.so.13")]
    toolkits = [root for root in (os.environ.get("CUDA_HOME"), os.environ.get("CUDA_PATH"), "/usr/local/cuda") if root]
    found = [path for root in toolkits for path in glob.glob(f"{root}/extras/CUPTI/lib64/libcupti.so.13")]
    return sorted(wheels) + found


@functools.cache
def _cupti_problem(device_id: str) -> str | None:
    """Why CUPTI cannot be used, found by recording one launch that does nothing."""
    if importlib.util.find_spec("cupti") is None:
        return "cupti-python is not installed; pip install -r requirements-gpu.txt"
    timer = Cupti(device_id)
    try:
        durations_us(timer._capture(timer.empty_launch, 1, _nothing))
    except RuntimeFailed as failure:
        return failure.message
    except Exception as failure:  # a closed library answers with its own error classes
        return f"CUPTI does not start ({type(failure).__name__}: {str(failure) or 'no message'}); {_library_hint()}"
    return None


def _library_hint() -> str:
    paths = libcupti_paths()
    if not paths:
        return "no libcupti.so.13 was found; pip install nvidia-cuda-cupti, and put its folder into LD_LIBRARY_PATH"
    return f"try LD_LIBRARY_PATH={os.path.dirname(paths[0])}, and let the driver permit profiling (NVreg_RestrictProfilingToAdminUsers=0)"
