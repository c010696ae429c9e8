"""Running one config on its device: checked, timed, and measured beside its baselines."""

from dataclasses import dataclass

from tileviz.engine.processes.device_lock import device_lock
from tileviz.engine.processes.reports import Report, quiet
from tileviz.engine.requests import Request
from tileviz.records import Trial


@dataclass(frozen=True)
class MeasureJob:
    """Checks and times a compiled trial, then its baselines, one by one; the trial is reported after each."""

    request: Request
    trial: Trial
    measure: bool = True
    """False when the trial itself is measured and only baselines are left (the child died in one)."""
    skip: tuple[str, ...] = ()
    """Baselines that have a result already."""

    def __call__(self, report: Report = quiet) -> Trial:
        from tileviz.engine.jobs.measurement import Measurement

        with device_lock(self.request.device, report):
            return Measurement(self.request, self.trial, report).run(measure=self.measure, skip=self.skip)
