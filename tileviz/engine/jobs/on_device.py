"""What jobs share that need a device and nothing compiled before: they leave something else than a trial."""

import time
from dataclasses import dataclass, replace

from tileviz.engine.jobs.task import NO_PROCESS, Task
from tileviz.engine.requests import Request
from tileviz.records import Trial


@dataclass(frozen=True)
class OnDevice:
    """What such a job asks of the lane."""

    device: str
    timeout_s: float


class LaneTask(Task):
    """Waits for its device, runs one job there, and leaves something else than a trial; what goes wrong is the job's reason."""

    what = ""
    """In a sentence: what was stopped or died."""

    def begin(self) -> None:
        self.request = self.asked()
        self.stage = "wait"
        self._start_phase("wait for the device")
        self.advance()

    def asked(self) -> OnDevice | Request:
        raise NotImplementedError

    def enforce_deadline(self) -> None:
        if self.deadline is None or time.monotonic() < self.deadline or self.ended:
            return
        self._kill()
        if not self.began:
            self._refused(NO_PROCESS)
            return
        self._refused(f"{self.what} was stopped after {self.request.timeout_s:g} s")

    def _measured(self, value) -> None:
        self._leave_lane()
        self._keep(value)
        self._end("done")

    def _keep(self, value) -> None:
        raise NotImplementedError

    def _refused(self, reason: str) -> None:
        self._end("failed", reason)

    def _save(self, trial: Trial) -> None:
        """The trial of such a task is never stored; its reason is the job's."""
        self._close_phase()
        self.trial = trial

    def _end(self, state: str, reason: str = "") -> None:
        reason_of_trial, self.trial = self.trial.reason, replace(self.trial, reason="")
        if state == "done" and reason_of_trial:
            self._refused(reason_of_trial)
            return
        super()._end(state, reason)
