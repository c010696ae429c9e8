"""What a sweep sends to its measure lane: picklable, light to import; torch is loaded in the
child."""

import os
from dataclasses import dataclass

from tileviz.engine.jobs.compile import CompileJob
from tileviz.engine.processes.device_lock import device_lock
from tileviz.engine.processes.reports import Report, quiet
from tileviz.engine.requests import Request
from tileviz.records import Artifact, Trial

LOW_PRIORITY = 10
"""How far the compilers of a sweep stand back (`nice`): they fill every core, and what measures
must never wait for one."""


@dataclass(frozen=True)
class SweepCompileJob(CompileJob):
    """A CompileJob that stands back behind the lane and the engine."""

    def __call__(self, report: Report = quiet) -> Artifact:
        os.setpriority(os.PRIO_PROCESS, 0, max(LOW_PRIORITY, os.getpriority(os.PRIO_PROCESS, 0)))
        return super().__call__(report)


@dataclass(frozen=True)
class ReadyJob:
    """Draws inputs and reference of a problem, so that the first compiled config finds them
    there."""

    request: Request

    def __call__(self, report: Report = quiet) -> None:
        from tileviz.engine.sweeps.measure import bench_of

        bench_of(self.request).get_ready()


@dataclass(frozen=True)
class ConfigJob:
    """Checks and times one compiled config; inputs and reference of its problem are kept in the
    child for the next one."""

    request: Request
    trial: Trial
    best_us: float | None = None
    """The fastest of its problem so far: a config far slower gets a few launches only."""
    patient: bool = False
    """Take more samples: no other config waits for the device, which would only idle."""

    def __call__(self, report: Report = quiet) -> Trial:
        from tileviz.engine.sweeps.measure import bench_of

        with device_lock(self.request.runs_on, report):
            return bench_of(self.request).measured(
                self.request, self.trial, report, self.best_us, self.patient
            )


@dataclass(frozen=True)
class FinalsJob:
    """Measures the best configs of one problem again, in turn. Gives (trials with their new
    timings, ids of those that are tied best)."""

    entries: tuple[tuple[Request, Trial], ...]

    def __call__(self, report: Report = quiet) -> tuple[list[Trial], list[str]]:
        from tileviz.engine.sweeps.measure import bench_of

        with device_lock(self.entries[0][0].runs_on, report):
            return bench_of(self.entries[0][0]).finals(self.entries, report)


@dataclass(frozen=True)
class ForgetJob:
    """Frees what the child kept for the sweep."""

    def __call__(self, report: Report = quiet) -> None:
        from tileviz.engine.sweeps.measure import forget

        forget()
