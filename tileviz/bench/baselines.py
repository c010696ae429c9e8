"""Runs what a user would call instead (PyTorch eager, torch.compile, SDPA by backend): same inputs, same check, same timer.

Whatever happens becomes a status with a sentence: a baseline never ends a trial, and a missing value is never a zero.
"""

import contextlib
import importlib.util
import os
import shutil
import time
from collections.abc import Callable, Generator
from dataclasses import dataclass, field, replace
from typing import Any

from tileviz.errors import NotComparable, TilevizError
from tileviz.measured import BaselineResult, Timing, Verdict

from .memory import out_of_memory
from .references import full_precision
from .statistics import compare
from .timers import Run, Timer, prepare
from .triton_baselines import tuned
from .turns import Entrant

EAGER_ROUNDINGS = 4
"""A chain of PyTorch calls rounds to its dtype between its steps; the fused baselines of our kernels have up to four."""

MAX_AUTOTUNE = "_max_autotune"

COMPILE_MODES = {"": "default", MAX_AUTOTUNE: "max-autotune-no-cudagraphs"}
"""Suffix of the baseline's name, and the mode of torch.compile. CUDA graphs are left out: the device time of a launch does not see what
they save."""


@dataclass(frozen=True)
class Setting:
    """What all baselines of one trial share with it."""

    problem: dict[str, Any]
    device: str
    """`cpu` or `cuda:0`."""
    inputs: tuple
    timer: Timer
    verdict_of: Callable[..., Verdict]
    """verdict_of(output, math_mode=..., roundings=...): against the trial's own reference; several outputs come as a tuple, or by name."""
    time: Callable[[Callable[[], object]], Timing]
    """time(run): the trial's timer, plan, L2 mode and marks."""
    verdict_of_changed: Callable[..., Verdict]
    """verdict_of_changed(run, math_mode=..., roundings=...): of a call after timing, when other values stand in the inputs."""
    l2: str = "cold"
    restoring: Callable[[Run], Run] = lambda run: run
    """restoring(run): the call, with what gives inputs that it may write over their values back before each time."""
    ready: dict[str, Entrant] = field(default_factory=dict)
    """Every baseline that was right and timed, by name, for measuring all in turn afterwards."""

    @property
    def kind(self) -> str:
        return self.device.partition(":")[0]

    def run_of(self, call: Callable) -> Run:
        """One call with the inputs, for a timer."""
        return self.restoring(lambda: call(*self.inputs))

    def once(self, call: Callable) -> Any:
        """What one call with the inputs gives."""
        run = self.run_of(call)
        prepare(run)
        return run()


def expanded(baselines: tuple, device: str) -> tuple:
    """The baselines as they are run: on a GPU, torch.compile once a mode.

    Items are `kernels.toolkit.base.Baseline` and `TritonBaseline`, which has the same fields.
    """
    out = []
    for baseline in baselines:
        out.append(baseline)
        if baseline.compiles and device != "cpu":
            out.append(replace(baseline, name=f"{baseline.name}{MAX_AUTOTUNE}", title=f"{baseline.title} max-autotune"))
    return tuple(out)


def run_baseline(setting: Setting, baseline) -> BaselineResult:
    """The checked and timed result of one `kernels.toolkit.base.Baseline`; raises nothing but KeyboardInterrupt and the like.

    Status `ok`, `unsupported` (cannot or must not be compared here), `compile_failed`, `runtime_failed` (out of memory too) or
    `wrong_result`. A wrong one is not timed.
    """
    blank = BaselineResult(baseline.name, baseline.title, "ok")
    try:
        blank = replace(blank, math_mode=baseline.math_mode(setting.problem))
        reason = why_not(setting, baseline)
        if reason:
            return replace(blank, status="unsupported", reason=reason)
        with _like_ours(setting.kind, blank.math_mode):
            return _checked_and_timed(setting, baseline, blank)
    except TilevizError as failure:
        return replace(blank, status=failure.status or "runtime_failed", reason=failure.message, detail=failure.detail)
    except Exception as failure:  # PyTorch's backends raise classes of their own
        status, reason = sentence_of(failure)
        return replace(blank, status=status, reason=reason, detail=str(failure))


def why_not(setting: Setting, baseline) -> str:
    """Why a baseline cannot be run here or must not be compared, in one sentence; empty when it may be."""
    if baseline.kind != "any" and baseline.kind != setting.kind:
        return "runs on a GPU only" if baseline.kind == "cuda" else "runs on the CPU only"
    reason = baseline.unavailable(setting.problem)
    if reason:
        return reason
    return no_compiler(setting.kind) if baseline.compiles else ""


def no_compiler(kind: str) -> str:
    """Why torch.compile cannot work on this kind of device, with what to do; empty when it can."""
    compiler = os.environ.get("CXX") or "g++"
    if kind == "cpu" and shutil.which(compiler) is None:
        return f"torch.compile needs a C++ compiler on the CPU and {compiler} was not found; apt-get install g++, or set CXX"
    if kind == "cuda" and importlib.util.find_spec("triton") is None:
        return "torch.compile needs Triton on a GPU; pip install triton"
    return ""


def against(result: BaselineResult, ours: Timing | None) -> BaselineResult:
    """The result with its comparison to our timing and our speed-up over it; both None where either is missing or implausible."""
    if ours is None or result.status != "ok" or result.timing is None:
        return result
    try:
        comparison = compare(ours, result.timing)
    except NotComparable:
        return result
    return replace(result, comparison=comparison, speedup=comparison.ratio)


def sentence_of(failure: BaseException) -> tuple[str, str]:
    """(status, one sentence) of an exception from PyTorch."""
    first = next((line.strip() for line in str(failure).splitlines() if line.strip()), type(failure).__name__)
    no_room = out_of_memory(failure)
    if no_room:
        return "runtime_failed", no_room
    if type(failure).__module__.startswith(("torch._dynamo", "torch._inductor")):
        return "compile_failed", f"torch.compile failed: {first}"
    return "runtime_failed", f"{type(failure).__name__}: {first}"


def kernel_name(run: Callable[[], object], setting: Setting) -> str:
    """Names of what one call launches on the GPU, joined by ` + `; empty on the CPU. By CUPTI where that is the timer, else by
    PyTorch's profiler, since only one of the two may be used in a process."""
    if setting.kind == "cpu":
        return ""
    names_of = getattr(setting.timer, "kernel_names", None)
    if names_of is not None:
        return " + ".join(names_of(run))
    import torch

    with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CUDA]) as profile:
        run()
        torch.cuda.synchronize()
    launched = [event.name for event in profile.events() if event.device_type == torch.autograd.DeviceType.CUDA]
    return " + ".join(dict.fromkeys(launched))


def _checked_and_timed(setting: Setting, baseline, blank: BaselineResult) -> BaselineResult:
    call, note, compile_s = _ready(setting, baseline)
    output = setting.once(call)
    verdict = setting.verdict_of(output, math_mode=blank.math_mode, roundings=EAGER_ROUNDINGS)
    result = replace(blank, compile_s=compile_s, verdict=verdict)
    del output
    if not verdict.ok:
        return replace(result, status="wrong_result", reason=verdict.reason)
    run = setting.run_of(call)
    timing = setting.time(run)
    again = setting.verdict_of_changed(run, math_mode=blank.math_mode, roundings=EAGER_ROUNDINGS)
    if not again.ok:
        reason = f"right at first, wrong once its inputs had changed: {again.reason}"
        return replace(result, status="wrong_result", verdict=again, reason=reason)
    setting.ready[baseline.name] = Entrant(run, timing, lambda: _like_ours(setting.kind, blank.math_mode))
    names = kernel_name(run, setting)
    return replace(result, timing=timing, kernel_name=f"{names} ({note})" if note else names)


def _ready(setting: Setting, baseline) -> tuple[Callable, str, float | None]:
    """(call, a note on how it was picked, seconds until its first result where it compiles).

    Dynamo is reset before the first of a trial, so that no shape seen before makes it general.
    """
    import torch

    if hasattr(baseline, "configs"):
        return tuned(baseline, setting)
    call = baseline.make(setting.problem)
    if not baseline.compiles:
        return call, "", None
    if not any(name.startswith("torch_compile") for name in setting.ready):
        torch._dynamo.reset()
    suffix = MAX_AUTOTUNE if baseline.name.endswith(MAX_AUTOTUNE) else ""
    start = time.perf_counter()
    compiled = torch.compile(call, dynamic=False, mode=COMPILE_MODES[suffix])
    setting.once(compiled)
    _wait(setting.kind)
    return compiled, "", time.perf_counter() - start


def _wait(kind: str) -> None:
    import torch

    if kind == "cuda":
        torch.cuda.synchronize()


@contextlib.contextmanager
def _like_ours(kind: str, math_mode: str) -> Generator[None]:
    """One thread on the CPU, since TileLang's C is one serial loop; on a GPU the math mode that is stated. No gradients."""
    import torch

    threads = torch.get_num_threads()
    with torch.no_grad(), full_precision(tf32="tf32" in math_mode.lower()):
        if kind == "cpu":
            torch.set_num_threads(1)
        try:
            yield
        finally:
            torch.set_num_threads(threads)
