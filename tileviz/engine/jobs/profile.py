"""Profiling one launch of a trial with Nsight Compute: a process of its own under ncu, since CUPTI
and ncu cannot share one."""

import json
import sys
import tempfile
import time
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from tileviz.bench import ncu
from tileviz.engine import client
from tileviz.engine.jobs.on_device import LaneTask
from tileviz.engine.processes.device_lock import device_lock
from tileviz.engine.processes.lanes import python_path
from tileviz.engine.processes.reports import Report, quiet
from tileviz.engine.requests import Request, request_from_json
from tileviz.errors import ToolMissing
from tileviz.records import Status
from tileviz.records_json import to_json
from tileviz.store import Store

KIND = "profile"


@dataclass(frozen=True)
class NcuJob:
    """Duration, DRAM bytes, tensor-pipe use and stall reasons of one cold launch. For the measure
    lane, which it fills alone."""

    request: Request
    timeout_s: float = 300.0

    def __call__(self, report: Report = quiet) -> tuple[ncu.Launch, ...]:
        """Raises ToolMissing without ncu, RuntimeFailed where it fails or counters are not
        permitted, each in one sentence."""
        reason = ncu.is_available()
        if reason:
            raise ToolMissing(reason)
        with device_lock(self.request.runs_on, report), tempfile.TemporaryDirectory() as folder:
            report("phase", "profile")
            path = Path(folder) / "request.json"
            path.write_text(json.dumps(asdict(self.request)))
            target = [sys.executable, "-m", "tileviz.engine.jobs.ncu_target", str(path)]
            return tuple(
                ncu.profile(
                    target,
                    ncu.metrics(ncu.known_metrics()),
                    self.timeout_s,
                    {"PYTHONPATH": python_path()},
                )
            )


class ProfileTask(LaneTask[Request]):
    """Leaves what Nsight Compute measured in the trial it is of; where it cannot measure, the
    sentence that says why."""

    what = "profiling"
    spoils = False
    """ncu runs the kernel in a process of its own."""

    def asked(self) -> Request:
        doc = dict(self.doc)
        self.of = doc.pop("of")
        return replace(request_from_json({**doc, "kind": "run"}), timeout_s=NcuJob.timeout_s + 30)

    def lane_job(self) -> NcuJob:
        return NcuJob(self.request)

    def keep(self, launches: tuple[ncu.Launch, ...], /) -> None:
        longest = max(launches, key=lambda launch: launch.duration_us or 0.0, default=None)
        if longest is None:
            self._write({"reason": "ncu saw no launch of this kernel"})
        else:
            self._write({**to_json(longest), "launches": len(launches)})

    def refuse(self, status: Status, reason: str, detail: str = "") -> None:
        self._write({"reason": reason})
        self._end("done")

    def _write(self, profile: dict[str, Any]) -> None:
        trial = self.store.trial(self.of)
        if trial is not None:
            self.store.save_trial(replace(trial, profile={**profile, "created": time.time()}))
            self.store.job_has(self.job, trial=self.of)


def submit(store: Store, request: Request, trial: str) -> str:
    """Queues profiling one launch of a stored trial and gives the job's id. `request` says what to
    launch and on which data."""
    return client.queue(store, KIND, {**asdict(request), "kind": KIND, "of": trial})
