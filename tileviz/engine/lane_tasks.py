"""Jobs that need a device and nothing compiled before: measuring its ceilings, profiling one launch of a trial."""

import time
from dataclasses import asdict, dataclass, replace
from typing import Any

from tileviz.engine import client
from tileviz.engine.ceilings_job import CeilingsJob
from tileviz.engine.ncu_job import NcuJob
from tileviz.engine.requests import Request, request_from_json
from tileviz.engine.tasks import NO_PROCESS, Task
from tileviz.records import Device, Trial
from tileviz.records_json import to_json
from tileviz.store import Store

CEILINGS, PROFILE = "ceilings", "profile"
"""Kinds of jobs."""

CEILINGS_TIMEOUT_S = 120.0


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


class CeilingsTask(LaneTask):
    """Leaves the device with its ceilings in the store."""

    what = "measuring the ceilings"

    def asked(self) -> OnDevice:
        return OnDevice(self.doc["device"], CEILINGS_TIMEOUT_S)

    def lane_job(self) -> CeilingsJob:
        known = {d.id: d for d in (*self.engine.devices, *self.store.devices())}
        return CeilingsJob(known[self.request.device])

    def _keep(self, device: Device) -> None:
        self.store.save_device(device)


class ProfileTask(LaneTask):
    """Leaves what Nsight Compute measured in the trial it is of; where it cannot measure, the sentence that says why."""

    what = "profiling"

    def asked(self) -> Request:
        doc = dict(self.doc)
        self.of = doc.pop("of")
        return replace(request_from_json({**doc, "kind": "run"}), timeout_s=NcuJob.timeout_s + 30)

    def lane_job(self) -> NcuJob:
        return NcuJob(self.request)

    def _keep(self, launches) -> None:
        longest = max(launches, key=lambda launch: launch.duration_us or 0.0, default=None)
        if longest is None:
            self._write({"reason": "ncu saw no launch of this kernel"})
        else:
            self._write({**to_json(longest), "launches": len(launches)})

    def _failed(self, status: str, reason: str, detail: str) -> None:
        self._leave_lane()  # ncu runs the kernel in a process of its own, so the lane's is as good as before
        self._refused(reason)

    def _refused(self, reason: str) -> None:
        self._write({"reason": reason})
        super()._end("done")

    def _write(self, profile: dict[str, Any]) -> None:
        trial = self.store.trial(self.of)
        if trial is not None:
            self.store.save_trial(replace(trial, profile={**profile, "created": time.time()}))
            self.store.job_has(self.job, trial=self.of)


def measure_ceilings(store: Store, device: str) -> str:
    """Queues measuring a device's ceilings and gives the job's id."""
    return client.queue(store, CEILINGS, {"device": device})


def profile(store: Store, request: Request, trial: str) -> str:
    """Queues profiling one launch of a stored trial and gives the job's id. `request` says what to launch and on which data."""
    return client.queue(store, PROFILE, {**asdict(request), "kind": PROFILE, "of": trial})
