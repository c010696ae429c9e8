"""Measuring one trial in the lane's child: inputs, reference, check, time, check again, then the
baselines one by one, then all in turn."""

import time
from collections.abc import Callable
from dataclasses import replace

from tileviz.bench import baselines, clocks, draws, facts, peaks, roofline, timers, turns
from tileviz.bench.determinism import determinism_of, same_bits
from tileviz.bench.pick_timer import pick_timer
from tileviz.bench.references import Truth
from tileviz.bench.verify import verify, without_map_when_right
from tileviz.compiler import runtime, targets
from tileviz.engine.jobs.ceilings import stored_ceilings
from tileviz.engine.jobs.phases import BASELINE, IN_TURN
from tileviz.engine.requests import Request
from tileviz.errors import RuntimeFailed
from tileviz.kernels import code as code_of
from tileviz.measured import BaselineResult, Determinism, Timing, Verdict
from tileviz.records import Trial

OURS = ""
"""Our kernel's name among those that are measured in turn; no baseline has it."""


class Measurement:
    """Everything that one measurement shares: device, inputs, reference, timer. Made in the child;
    imports torch."""

    def __init__(self, request: Request, trial: Trial, report: Callable[..., None]) -> None:
        self.request, self.trial, self.report = request, trial, report
        self.kernel = code_of(request.kernel)
        self.target = targets.target(request.target)
        self.math_mode = self.kernel.math_mode(request.problem, self.target)
        self.cost = self.kernel.cost(request.problem)
        self.peaks = None
        self.device = request.runs_on
        self.index = None if self.device == "cpu" else int(self.device.partition(":")[2])
        self.timer = pick_timer(self.device, flush=request.flush)
        self.ceilings = stored_ceilings(self.device)
        self.call: Callable | None = None

    def run(self, *, measure: bool, skip: tuple[str, ...]) -> Trial:
        """The finished trial; every stage of it is reported as it exists."""
        self._use_device()
        self.report("phase", "inputs and reference")
        self._draw()
        if measure:
            self._check_and_time()
            self.report("trial", self.trial)
        if self.trial.status == "ok" and self.request.baselines:
            self._run_baselines(skip)
        return self.trial

    def _use_device(self) -> None:
        import torch

        if self.index is None:
            torch.set_num_threads(1)
            return
        torch.cuda.set_device(self.index)
        self.peaks = peaks.peaks_of(torch.cuda.get_device_name(self.index))

    def _draw(self) -> None:
        self.inputs = self._drawn(self.request.seed, self.request.inputs)
        self.truth = self._truth()
        shape, dtype = self.kernel.output(self.request.problem)
        self.output = draws.nan_filled(shape, dtype, self.device)
        self.spare: tuple = ()
        self.spare_truth: Truth | None = None

    def _drawn(self, seed: int, kind: str) -> tuple:
        return self.kernel.inputs(self.request.problem, draws.Draw(self.device, seed, kind))

    def _truth(self) -> Truth:
        return Truth.of(self.kernel, self.request.problem, self.inputs)

    def _change_inputs(self) -> None:
        """Other values in the same tensors, with their own truth: what a program kept of earlier
        launches is wrong then. Called again, it brings the first ones back."""
        if not self.spare:
            self.spare = self._drawn(self.request.seed ^ 1, "normal")
        draws.exchange(self.inputs, self.spare)
        self.truth, self.spare_truth = self.spare_truth or self._truth(), self.truth

    def _executable(self) -> Callable:
        if self.call is None:
            self.call = runtime.executable(
                lambda: self.kernel.build(self.request.problem, self.request.config, self.target),
                self.target,
                self.kernel.pass_configs(self.request.config),
                key=self.request.key,
            )
        return self.call

    def _check_and_time(self) -> None:
        call = self._executable()
        self.report("phase", "check")
        verdict = self._check(call)
        self.trial = replace(self.trial, verdict=verdict, fingerprint=self._fingerprint())
        self._save_arrays()
        if not verdict.ok:
            self.trial = replace(self.trial, status="wrong_result", reason=verdict.reason)
            return
        self.report("trial", self.trial)
        self.report("phase", "time")
        timing = self._time(lambda: call(*self.inputs, self.output))
        determinism = self._determinism(call, timing)
        again = self._check_changed(call)
        if not again.ok:
            self.trial = replace(
                self.trial,
                status="wrong_result",
                verdict=again,
                reason=f"right at first, {again.reason}",
            )
            return
        self.trial = replace(self.trial, verdict=replace(verdict, determinism=determinism))
        self._take_timing(timing)

    def _determinism(self, call: Callable, timing: Timing) -> Determinism | None:
        """Whether launches on the same inputs give the same bits."""
        return determinism_of(lambda: self._launched(call), timing.median_us)

    def _check_changed(self, call: Callable) -> Verdict:
        """Checks once more after timing, when the output stands for the inputs so far, with other
        inputs in the same place."""
        before = self.output.clone()
        self._change_inputs()
        verdict = self._check(call)
        stale = not verdict.unwritten_count and same_bits(self.output, before)
        self._change_inputs()
        told = "then gave back what it had computed before, though its inputs had changed"
        return (
            verdict
            if verdict.ok
            else replace(verdict, reason=told if stale else f"wrong after timing: {verdict.reason}")
        )

    def _take_timing(self, timing: Timing) -> None:
        """The trial with this timing and what follows from it."""
        tflops, gbps = (None, None) if timing.implausible else roofline.rates(self.cost, timing)
        point = roofline.roofline(self.cost, timing, self.peaks, self.math_mode, self.ceilings)
        self.trial = replace(
            self.trial, timing=timing, tflops=tflops, gbps=gbps, roofline=point, created=time.time()
        )

    def _check(self, call: Callable) -> Verdict:
        """Runs once into a fresh NaN-filled output and compares."""
        return self._verdict(self._launched(call), math_mode=self.math_mode)

    def _launched(self, call: Callable):
        """The output of a launch, which began full of NaN."""
        draws.refill(self.output)
        call(*self.inputs, self.output)
        self._synchronize()
        return self.output

    def verdict_of(self, output, *, math_mode: str, roundings: int = 1) -> Verdict:
        """The verdict on any output of this problem, a baseline's say, against the same
        reference."""
        return without_map_when_right(
            self._verdict(output, math_mode=math_mode, roundings=roundings)
        )

    def verdict_of_changed(self, run: Callable, *, math_mode: str, roundings: int = 1) -> Verdict:
        """The verdict on what run() gives once the inputs have changed under it."""
        self._change_inputs()
        try:
            return self.verdict_of(run(), math_mode=math_mode, roundings=roundings)
        finally:
            self._change_inputs()

    def _verdict(self, output, *, math_mode: str, roundings: int = 1) -> Verdict:
        return verify(
            output, self.truth.reference, math_mode=math_mode, roundings=roundings, **self._how()
        )

    def _how(self) -> dict:
        """What decides the tolerance, beside the precision of the products."""
        problem = self.request.problem
        return {
            "dtype": self.kernel.output(problem)[1],
            "accumulate": self.kernel.accumulate(problem),
            "error_scale": self.kernel.error_scale,
            "inputs": self.inputs,
            "exponents": self.truth.exponents,
            "cancelled": self.kernel.cancelled(problem),
        }

    def _watch(self) -> clocks.ClockWatch | None:
        return None if self.index is None else clocks.ClockWatch(self.index)

    def _time(self, run: Callable[[], object]) -> Timing:
        timing = turns.steady(
            lambda: timers.time_callable(run, self.timer, l2=self.request.l2, clocks=self._watch())
        )
        return self._marked(timing, self.math_mode)

    def _marked(self, timing: Timing, math_mode: str) -> Timing:
        return roofline.marked(
            timing, self.cost, self.peaks, math_mode, timers.empty_kernel_us(self.timer)
        )

    def _run_baselines(self, skip: tuple[str, ...]) -> None:
        setting = baselines.Setting(
            self.request.problem,
            self.device,
            self.inputs,
            self.timer,
            self.verdict_of,
            self._time,
            l2=self.request.l2,
            verdict_of_changed=self.verdict_of_changed,
        )
        only = self.request.only_baselines
        for baseline in baselines.expanded(self.kernel.baselines, self.device):
            if baseline.name in skip or (only and baseline.name not in only):
                continue
            if not baselines.why_not(setting, baseline):
                self.report("phase", BASELINE + baseline.name)
            result = baselines.against(baselines.run_baseline(setting, baseline), self.trial.timing)
            self.trial = replace(self.trial, baselines=(*self.trial.baselines, result))
            self.report("trial", self.trial)
        self._measure_in_turn(setting.ready)

    def _measure_in_turn(self, ready: dict[str, turns.Entrant]) -> None:
        """Ours and the baselines that are right, again in turn; then every comparison anew."""
        ours = self.trial.timing
        if not ready or ours is None:
            return
        self.report("phase", IN_TURN)
        call, plan = self._executable(), turns.CPU_TURNS if self.index is None else turns.GPU_TURNS
        entrants = {OURS: turns.Entrant(lambda: call(*self.inputs, self.output), ours), **ready}
        timings = turns.in_turn(OURS, entrants, self.timer, plan, self.request.l2, self._watch)
        if not timings:
            return
        self._take_timing(self._marked(timings.pop(OURS), self.math_mode))
        self.trial = replace(
            self.trial,
            baselines=tuple(self._compared(b, timings.get(b.name)) for b in self.trial.baselines),
        )

    def _compared(self, result: BaselineResult, timing: Timing | None) -> BaselineResult:
        if timing is not None:
            result = replace(result, timing=self._marked(timing, result.math_mode))
        return baselines.against(replace(result, comparison=None, speedup=None), self.trial.timing)

    def _fingerprint(self) -> dict:
        device = next(d for d in facts.local_devices() if d.id == self.device)
        return {**device.fingerprint, "kernel_source": self.kernel.source_hash}

    def _save_arrays(self) -> None:
        """Keeps inputs and output for checking elsewhere: in0, in1, ..., out; float32 where NumPy
        lacks the dtype."""
        if self.request.save is None:
            return
        import numpy

        arrays = {f"in{i}": _array(t) for i, t in enumerate(self.inputs)}
        try:
            numpy.savez(self.request.save, **arrays, out=_array(self.output))
        except OSError as error:
            raise RuntimeFailed(
                f"cannot write {self.request.save}: {error.strerror}", str(error)
            ) from error

    def _synchronize(self) -> None:
        """Waits for the device, so that a launch that failed is known here."""
        if self.index is None:
            return
        import torch

        try:
            torch.cuda.synchronize()
        except RuntimeError as error:
            raise runtime.device_failed(error) from error


def _array(tensor):
    tensor = tensor.detach().cpu()
    return tensor.float().numpy() if str(tensor.dtype) == "torch.bfloat16" else tensor.numpy()
