"""Running one config on its device: checked, timed, and measured beside its baselines."""

from dataclasses import dataclass, replace

from tileviz.engine.jobs.compile import CompileTask
from tileviz.engine.jobs.phases import BASELINE, IN_TURN
from tileviz.engine.processes.device_lock import device_lock
from tileviz.engine.processes.reports import Report, quiet
from tileviz.engine.requests import Request, death_words
from tileviz.measured import BaselineResult
from tileviz.records import Status, Trial


@dataclass(frozen=True)
class MeasureJob:
    """Checks and times a compiled trial, then its baselines, one by one; the trial is reported
    after each."""

    request: Request
    trial: Trial
    measure: bool = True
    """False when the trial itself is measured and only baselines are left (the child died in
    one)."""
    skip: tuple[str, ...] = ()
    """Baselines that have a result already."""

    def __call__(self, report: Report = quiet) -> Trial:
        from tileviz.engine.jobs.measurement import Measurement

        with device_lock(self.request.runs_on, report):
            return Measurement(self.request, self.trial, report).run(
                measure=self.measure, skip=self.skip
            )


class RunTask(CompileTask):
    """Compiles where that is not done yet, then measures on the device. A baseline that kills its
    process costs itself alone."""

    executable = True

    def coded(self) -> None:
        self.wait_for_device()

    def lane_job(self) -> MeasureJob:
        """The measuring that is left to do."""
        return MeasureJob(
            self.request,
            self.trial,
            measure=self.trial.timing is None,
            skip=tuple(b.name for b in self.trial.baselines),
        )

    def measured(self, trial: Trial, /) -> None:
        self._save(trial)
        self._end("done")

    def lost(self, status: Status, reason: str) -> None:
        if self._in_baseline():
            self._baseline_lost(status, reason)
        elif self.phase == IN_TURN:
            self._kill()
            self._end("done")  # the trial stays as it was measured before
        else:
            super().lost(status, reason)

    def late_words(self) -> str:
        if self.stage == "compile":
            return super().late_words()
        stopped = f"stopped after {self.request.timeout_s:g} s"
        return (
            stopped
            if self._in_baseline()
            else f"check and timing was {stopped}; raise the timeout or use a smaller problem"
        )

    def death_words(self, how: str) -> str:
        if self._in_baseline():
            return f"the process died: {how}"
        return super().death_words(
            death_words(how, self.request.kernel, self.request.problem)
            if self.stage == "measure"
            else how
        )

    def _baseline_lost(self, status: Status, reason: str) -> None:
        """Notes it and goes on with the others in a new child."""
        self._kill()
        name = self.phase.removeprefix(BASELINE)
        self._save(
            replace(
                self.trial,
                baselines=(*self.trial.baselines, BaselineResult(name, name, status, reason)),
            )
        )
        self.stage = "wait"
        self.deadline = None

    def _in_baseline(self) -> bool:
        return (
            self.stage == "measure"
            and self.phase.startswith(BASELINE)
            and self.trial.timing is not None
        )

    def _start_phase(self, phase: str) -> None:
        super()._start_phase(phase)
        if phase.startswith(BASELINE) or phase == IN_TURN:
            self._set_deadline()
