"""Measuring many configs in one child of the lane: what a problem needs is drawn once and kept;
imports torch when used."""

import functools
import time
from collections.abc import Callable, Sequence
from dataclasses import replace

from tileviz.bench import clocks, facts, nvml, roofline, timers, turns
from tileviz.bench.checker import Checker
from tileviz.bench.pick_timer import pick_timer
from tileviz.bench.references import Truth
from tileviz.bench.statistics import tied_best
from tileviz.bench.timers import Plan
from tileviz.compiler import runtime
from tileviz.engine.jobs.compiled import blank_trial
from tileviz.engine.jobs.measurement import Measurement
from tileviz.engine.requests import Request
from tileviz.measured import Timing, Verdict
from tileviz.records import Trial, canonical_json

KEPT_SHORT = "kept short: "
"""A timing's note begins so when the config was too slow to be measured at length."""

SLOW = 3.0
"""A config this many times slower than the best of its problem is not measured at length."""

QUICK_PLANS = {
    "cuda": Plan(1, 0.5, 5, 5, least_samples=2),
    "cpu": Plan(1, 0.2, 3, 3, least_samples=1),
}
MAIN_PLANS = {"cuda": Plan(2, 1.0, 30, 50, batch=20), "cpu": Plan(1, 0.4, 10, 50, batch=10)}
PATIENT_PLANS = {"cuda": Plan(2, 1.0, 50, 200, batch=50), "cpu": Plan(1, 0.7, 10, 200, batch=10)}
FINAL_PLANS = {
    "cuda": turns.TurnPlan(2.0, visit_s=0.01),
    "cpu": turns.TurnPlan(2.0, rounds=10, visit_s=0.05),
}

KEPT_CALLS = 12
"""Executables that stay loaded for the finals."""

KEPT_BYTES = {"cuda": 4 << 30, "cpu": 1 << 29}
"""Model bytes of the problems whose inputs and references, of two draws each, stay in memory; the
one in use always does."""


class Bench(Measurement):
    """A Measurement of one problem that takes one config after another."""

    def __init__(self, request: Request) -> None:
        super().__init__(request, blank_trial(request), lambda *_: None)
        self.timer = timer_of(request.device, request.flush)
        self.kind = "cpu" if self.index is None else "cuda"
        self.best_us: float | None = None
        self.plan = MAIN_PLANS[self.kind]
        self.calls: dict[str, tuple[float, Callable]] = {}
        self.checkers: dict[Truth, Checker] = {}
        self.ready = False

    def get_ready(self) -> None:
        """Makes the device, TileLang, inputs, reference and the timer's floor ready before there is
        anything to measure."""
        self._use_device()
        runtime.warm_up()
        self._prepare()
        timers.empty_kernel_us(self.timer)

    def measured(
        self,
        request: Request,
        trial: Trial,
        report: Callable[..., None],
        best_us: float | None,
        patient: bool,
    ) -> Trial:
        """The trial, checked, timed, and checked again."""
        phases = Phases(report)
        self.request, self.trial, self.report, self.call = request, trial, phases, None
        self.best_us, self.plan = best_us, (PATIENT_PLANS if patient else MAIN_PLANS)[self.kind]
        self._use_device()
        self._prepare()
        phases("phase", "load")
        self.call = self._executable()
        self._check_and_time()
        if self.trial.timing is not None:
            self._keep(request.key, self.trial.timing.median_us, self.call)
        return replace(self.trial, seconds={**self.trial.seconds, **phases.seconds()})

    def finals(
        self, entries: Sequence[tuple[Request, Trial]], report: Callable[..., None]
    ) -> tuple[list[Trial], list[str]]:
        """The trials measured again in turn, and the ids of those that the fastest does not clearly
        beat, fastest first."""
        self._use_device()
        self._prepare()
        report("phase", "the best again, in turn")
        calls = {trial.trial: self._loaded(request) for request, trial in entries}
        runs = {
            name: functools.partial(call, *self.inputs, self.output) for name, call in calls.items()
        }
        entrants = {
            trial.trial: turns.Entrant(runs[trial.trial], trial.timing)
            for _, trial in entries
            if trial.timing is not None
        }
        first = entries[0][1].trial
        with self.timer.session():
            timings = turns.in_turn(
                first, entrants, self.timer, FINAL_PLANS[self.kind], entries[0][0].l2, self._watch
            )
        trials = [
            self._with_determinism(
                self._retimed(trial, timings.get(trial.trial)), calls[trial.trial]
            )
            for _, trial in entries
        ]
        return trials, tied_best(
            {trial.trial: trial.timing for trial in trials if trial.timing is not None}
        )

    def _prepare(self) -> None:
        if not self.ready:
            self.report("phase", "inputs and reference")
            self._draw()
            self.ready = True

    def _loaded(self, request: Request) -> Callable:
        kept = self.calls.get(request.key)
        if kept is not None:
            return kept[1]
        self.request, self.call = request, None
        return self._executable()

    def _keep(self, key: str, median_us: float, call: Callable) -> None:
        self.calls[key] = (median_us, call)
        if len(self.calls) > KEPT_CALLS:
            del self.calls[max(self.calls, key=lambda name: self.calls[name][0])]

    def _retimed(self, trial: Trial, timing: Timing | None) -> Trial:
        if timing is None:
            return trial
        self.trial = trial
        self._take_timing(self._marked(timing, self.math_mode))
        return self.trial

    def _with_determinism(self, trial: Trial, call: Callable) -> Trial:
        if trial.verdict is None or trial.timing is None:
            return trial
        return replace(
            trial,
            verdict=replace(trial.verdict, determinism=super()._determinism(call, trial.timing)),
        )

    def _time(self, run: Callable[[], object]) -> Timing:
        """A few launches; many when it is not far slower than the best."""
        with self.timer.session():
            return self._timed(run)

    def _timed(self, run: Callable[[], object]) -> Timing:
        l2 = self.request.l2
        first = timers.time_callable(run, self.timer, QUICK_PLANS[self.kind], l2)
        if self.best_us and first.median_us > SLOW * self.best_us:
            note = f"{KEPT_SHORT}{first.median_us / self.best_us:.1f} times slower than the best"
            return self._marked(replace(first, note=note), self.math_mode)
        whole = timers.time_callable(run, self.timer, self.plan, l2, clocks=self._watch())
        return self._marked(replace(whole, earlier_us=first.samples_us), self.math_mode)

    def _check(self, call: Callable) -> Verdict:
        """Runs once into a fresh NaN-filled output and compares."""
        self.report("phase", "check")
        if self.truth not in self.checkers:
            self.checkers[self.truth] = Checker(
                self.truth.reference, math_mode=self.math_mode, **self._how()
            )
        return self.checkers[self.truth](self._launched(call))

    def _determinism(self, call: Callable, timing: Timing) -> None:
        """Left to the finalists."""

    def _watch(self) -> clocks.ClockWatch | None:
        return (
            None
            if self.index is None
            else clocks.ClockWatch(self.index, handle=handle_of(self.index))
        )

    def _fingerprint(self) -> dict:
        return {**device_fingerprint(self.request.device), "kernel_source": self.kernel.source_hash}

    def _marked(self, timing: Timing, math_mode: str) -> Timing:
        return roofline.marked(
            timing, self.cost, self.peaks, math_mode, timers.empty_kernel_us(self.timer)
        )


class Phases:
    """Passes reports on, and measures the phases that they begin."""

    def __init__(self, report: Callable[..., None]) -> None:
        self.report = report
        self.spent: dict[str, float] = {}
        self.name, self.began = "", time.perf_counter()

    def __call__(self, kind: str, value: object) -> None:
        if kind == "phase":
            self._close()
            self.name = str(value)
        self.report(kind, value)

    def seconds(self) -> dict[str, float]:
        self._close()
        return self.spent

    def _close(self) -> None:
        now = time.perf_counter()
        if self.name:
            self.spent[self.name] = round(self.spent.get(self.name, 0.0) + now - self.began, 4)
        self.name, self.began = "", now


_benches: dict[str, Bench] = {}
"""Problems that were measured in this child, the last used last."""


def bench_of(request: Request) -> Bench:
    """The bench of the request's problem, kept from an earlier config where memory allows."""
    key = canonical_json(
        [
            request.kernel,
            request.problem,
            request.device,
            request.seed,
            request.inputs,
            request.l2,
            request.flush,
        ]
    )
    bench = _benches.pop(key, None) or Bench(request)
    _benches[key] = bench
    while (
        len(_benches) > 1 and sum(b.cost.bytes for b in _benches.values()) > KEPT_BYTES[bench.kind]
    ):
        del _benches[next(iter(_benches))]
    return bench


def forget() -> None:
    """Frees every bench of this child."""
    import torch

    _benches.clear()
    if torch.cuda.is_initialized():
        torch.cuda.empty_cache()


@functools.cache
def handle_of(index: int):
    """NVML's handle of a device: looked up once, not for each config."""
    return nvml.handle_of_torch(index) if nvml.library() is not None else None


@functools.cache
def timer_of(device: str, flush: str) -> timers.Timer:
    return pick_timer(device, flush=flush)


@functools.cache
def device_fingerprint(device: str) -> dict:
    return facts.fingerprint(device)
