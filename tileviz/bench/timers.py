"""Times a callable: the timers that can be run anywhere, the plan of how often, and the loop that keeps every sample.

GPU timers are in `gpu_timers`, and `pick_timer` chooses one. Its name travels with every value.
"""

import contextlib
import dataclasses
import math
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

from tileviz.errors import UnknownName
from tileviz.measured import Timing

from .statistics import relative_error

Run = Callable[[], object]
L2_MODES = ("cold", "warm")


@dataclass(frozen=True)
class Prepared:
    """A call that needs something to be done before each time, which is no part of it: a timer does it outside the timed window."""

    run: Run
    before: Run

    def __call__(self) -> object:
        return self.run()


def prepare(run: Run) -> None:
    """Does what a Prepared call needs before it; nothing for any other."""
    if isinstance(run, Prepared):
        run.before()


@dataclass(frozen=True)
class Plan:
    """How often to launch. Sampling stops at the target, or at the first cap it meets; the reason is kept."""

    warmup: int
    """Launches before the first sample; at least one is made, and no more once a quarter of max_seconds is gone."""
    max_seconds: float
    """Cap on the wall time of sampling; even min_samples gives way to it, `least_samples` does not."""
    min_samples: int = 50
    max_samples: int = 500
    target_relative_error: float = 0.005
    """Half the 95 % interval of the median, over the median; `statistics.relative_error` has the formula."""
    least_samples: int = 3
    batch: int = 50
    """Samples taken between two looks at the error."""


GPU_PLAN = Plan(warmup=10, max_seconds=5.0)
CPU_PLAN = Plan(warmup=3, max_seconds=2.0)


class Timer:
    """The contract: `sample` returns one value in microseconds for each of `count` calls of run, in order, and drops none."""

    name = ""
    floor_us: float | None = None
    """What an empty call takes; None until `empty_kernel_us` has measured it."""
    plan = CPU_PLAN
    has_l2 = False
    """True where the L2 mode means something."""
    flush_mode = "read"
    """How a cold L2 is made, by a name in `flush.MODES`."""

    def is_available(self) -> str | None:
        """Why this timer cannot be used here, with what to do; None when it can."""
        return None

    def sample(self, run: Run, count: int, l2: str = "cold") -> list[float]:
        """Microseconds of each of `count` calls, with a cold or warm L2; what a Prepared one needs before is in none of them."""
        raise NotImplementedError

    def settle(self, run: Run, count: int) -> None:
        """Calls run and waits for the device to be done."""
        for _ in range(count):
            prepare(run)
            run()

    def session(self) -> contextlib.AbstractContextManager:
        """Keeps ready, while entered, what every call of `sample` would set up and take down again."""
        return contextlib.nullcontext()

    def now(self) -> float:
        """The wall clock of the plan, in seconds."""
        return time.perf_counter()


class PerfCounter(Timer):
    """Wall time of each call, for the CPU target."""

    name = "perf_counter"

    def sample(self, run: Run, count: int, l2: str = "cold") -> list[float]:
        clock, samples = time.perf_counter_ns, []
        for _ in range(count):
            prepare(run)
            start = clock()
            run()
            samples.append((clock() - start) / 1e3)
        return samples


class ScriptedTimer(Timer):
    """Gives samples from a script, for tests. Its clock moves by `seconds_each` with each call."""

    name = "scripted"
    has_l2 = True

    def __init__(self, samples: Iterable[float], seconds_each: float = 0.0) -> None:
        self.script: Iterator[float] = iter(samples)
        self.seconds_each = seconds_each
        self.seconds = 0.0
        self.warmed = 0

    def sample(self, run: Run, count: int, l2: str = "cold") -> list[float]:
        self.seconds += count * self.seconds_each
        return [next(self.script) for _ in range(count)]

    def settle(self, run: Run, count: int) -> None:
        self.warmed += count
        self.seconds += count * self.seconds_each

    def now(self) -> float:
        return self.seconds


def time_callable(run: Run, timer: Timer, plan: Plan | None = None, l2: str = "cold", clocks=None) -> Timing:
    """Samples run() by the plan and returns every sample, in order.

    `l2` is `cold` or `warm`, and recorded as `n/a` for a timer without it, and as `warm` where the timer does not flush. `clocks` is a
    `ClockWatch` not yet entered, or None. What run raises passes through.
    """
    if l2 not in L2_MODES:
        raise UnknownName.of("L2 mode", l2, L2_MODES)
    l2, flush = l2_state(timer, l2)
    plan = plan or timer.plan
    warmup, seconds_each = _warm_up(run, timer, plan)
    if clocks is None:
        samples, why = _collect(run, timer, plan, l2, seconds_each)
    else:
        with clocks:
            samples, why = _collect(run, timer, plan, l2, seconds_each)
    timing = Timing(tuple(samples), timer.name, l2, warmup, why, flush=flush)
    return dataclasses.replace(timing, **clocks.seen()) if clocks is not None else timing


def l2_state(timer: Timer, l2: str) -> tuple[str, str]:
    """(L2 mode, flush) as a Timing records them: without a flush the L2 is warm, whatever was asked for."""
    if not timer.has_l2:
        return "n/a", ""
    return ("warm", "none") if l2 == "warm" or timer.flush_mode == "none" else ("cold", timer.flush_mode)


def empty_kernel_us(timer: Timer) -> float:
    """Median microseconds of a call that does nothing, by this timer: the floor under every value. Measured once a timer."""
    if timer.floor_us is None:
        run = getattr(timer, "empty_launch", lambda: None)
        timer.floor_us = time_callable(run, timer, dataclasses.replace(timer.plan, max_samples=200, max_seconds=1.0), l2="warm").median_us
    return timer.floor_us


def _warm_up(run: Run, timer: Timer, plan: Plan) -> tuple[int, float]:
    """Launches made, and the seconds of the last one."""
    start, done, seconds_each = timer.now(), 0, 0.0
    while done < max(1, plan.warmup) and (not done or timer.now() - start < plan.max_seconds / 4):
        before = timer.now()
        timer.settle(run, 1)
        seconds_each = timer.now() - before
        done += 1
    return done, seconds_each


def _collect(run: Run, timer: Timer, plan: Plan, l2: str, seconds_each: float) -> tuple[list[float], str]:
    start, samples = timer.now(), []
    count = plan.min_samples
    while True:
        samples += timer.sample(run, _affordable(count, len(samples), plan, seconds_each, timer.now() - start), l2)
        used = timer.now() - start
        seconds_each = used / len(samples)
        why = _why_stop(samples, plan, used, seconds_each)
        if why:
            return samples, why
        count = min(plan.batch, plan.max_samples - len(samples))


def _affordable(count: int, have: int, plan: Plan, seconds_each: float, used: float) -> int:
    """At most `count` samples, as many as the time left allows, but never fewer than least_samples in all."""
    if seconds_each > 0:
        count = min(count, int((plan.max_seconds - used) / seconds_each))
    return max(count, plan.least_samples - have, 1)


def _why_stop(samples: list[float], plan: Plan, used: float, seconds_each: float) -> str:
    """Why sampling ends here, or nothing."""
    n, error = len(samples), relative_error(samples)
    reached = f", median known to {error * 100:.2f} %" if math.isfinite(error) else ""
    if n >= plan.min_samples and error < plan.target_relative_error:
        return f"median known to {error * 100:.2f} %, target {plan.target_relative_error * 100:.1f} %"
    if n >= plan.max_samples:
        return f"cap of {plan.max_samples} samples{reached}"
    if n >= plan.least_samples and used + seconds_each > plan.max_seconds:
        return f"cap of {plan.max_seconds:g} s after {n} samples{reached}"
    return ""
