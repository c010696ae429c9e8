"""Profiling one launch of a trial with Nsight Compute: a process of its own under ncu, since CUPTI and ncu cannot share one."""

import json
import sys
import tempfile
from dataclasses import asdict, dataclass
from pathlib import Path

from tileviz.bench import ncu
from tileviz.engine.device_lock import device_lock
from tileviz.engine.lanes import python_path
from tileviz.engine.reports import Report, quiet
from tileviz.engine.requests import Request
from tileviz.errors import ToolMissing


@dataclass(frozen=True)
class NcuJob:
    """Duration, DRAM bytes, tensor-pipe use and stall reasons of one cold launch. For the measure lane, which it fills alone."""

    request: Request
    timeout_s: float = 300.0

    def __call__(self, report: Report = quiet) -> tuple[ncu.Launch, ...]:
        """Raises ToolMissing without ncu, RuntimeFailed where it fails or counters are not permitted, each in one sentence."""
        reason = ncu.is_available()
        if reason:
            raise ToolMissing(reason)
        with device_lock(self.request.device, report), tempfile.TemporaryDirectory() as folder:
            report("phase", "profile")
            path = Path(folder) / "request.json"
            path.write_text(json.dumps(asdict(self.request)))
            target = [sys.executable, "-m", "tileviz.engine.ncu_target", str(path)]
            return tuple(ncu.profile(target, ncu.metrics(ncu.known_metrics()), self.timeout_s, {"PYTHONPATH": python_path()}))
