"""TileLang's own AutoTuner raced against a sweep: the same programs and configs, in a child of its
own, and its winner timed beside ours.

It runs on a GPU alone. It has no budget and tells nothing but its best, so a race that is stopped
leaves a sentence. What came of it is a note of the sweep, one for each problem.
"""

import os
import shutil
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from tileviz.compiler import targets
from tileviz.engine import client
from tileviz.engine.jobs.compile import CompileJob, stored_code
from tileviz.engine.jobs.compiled import blank_trial, with_code
from tileviz.engine.jobs.on_device import LaneTask
from tileviz.engine.processes.device_lock import device_lock
from tileviz.engine.processes.lanes import spawn_child
from tileviz.engine.processes.reports import Report, quiet
from tileviz.engine.requests import Request
from tileviz.engine.sweeps.request import sweep_from_json
from tileviz.errors import BadRequest
from tileviz.kernels import code as code_of
from tileviz.kernels import kernel as kernel_of
from tileviz.records import DECIDED, Artifact, Config, JobView, Status, Trial
from tileviz.records_json import to_json
from tileviz.store import Store
from tileviz.store.sweeps import SweepView

KIND = "rival"
"""Kind of the job; a note of the sweep is called so, with the place of its problem."""

TITLE = "TileLang AutoTuner"
PHASE = "race TileLang's AutoTuner"

FIXED_S, EACH_S, MOST_S = 120.0, 5.0, 3600.0
"""Time-out of a race: so much, and so much for each config, and no more than this."""


@dataclass(frozen=True)
class Raced:
    """What the AutoTuner told: see compiler.autotuner.Tuned."""

    config: Config
    says_us: float
    wall_s: float
    tried: int
    failed: int


@dataclass(frozen=True)
class RaceJob:
    """Runs the AutoTuner over configs of one problem, in a folder of its own under `folder`. For a
    child that does nothing else."""

    request: Request
    configs: tuple[Config, ...]
    folder: str

    def __call__(self, report: Report = quiet) -> Raced:
        os.chdir(self.folder)
        # cold, as for its user; nothing of it is kept
        os.environ["TILELANG_CACHE_DIR"] = str(Path(self.folder, "tilelang"))
        _print_into(Path(self.folder, "printed"))
        import torch

        from tileviz.bench.draws import Draw
        from tileviz.compiler import autotuner

        request, described = self.request, code_of(self.request.kernel)
        target = targets.target(request.target)
        device = request.runs_on
        with device_lock(device, report):
            report("phase", PHASE)
            torch.cuda.set_device(int(device.partition(":")[2]))
            inputs = list(
                described.inputs(request.problem, Draw(device, request.seed, request.inputs))
            )
            found = autotuner.tuned(
                lambda knobs: described.build(request.problem, knobs, target),
                self.configs,
                target,
                lambda: inputs,
            )
        return Raced(found.config, found.latency_us, found.seconds, found.tried, found.failed)


@dataclass(frozen=True)
class BesideJob:
    """Checks and times the AutoTuner's config by our own timer, then both in turn. Gives (ours or
    None, theirs, ids of those tied)."""

    theirs: tuple[Request, Trial]
    ours: tuple[Request, Trial] | None

    def __call__(self, report: Report = quiet) -> tuple[Trial | None, Trial, list[str]]:
        from tileviz.engine.sweeps.measure import bench_of, forget

        request, blank = self.theirs
        bench = bench_of(request)
        with device_lock(request.runs_on, report):
            theirs = bench.measured(request, blank, report, None, True)
            ours = self.ours[1] if self.ours else None
            tied = [theirs.trial]
            if theirs.status == "ok" and self.ours is not None:
                (ours, theirs), tied = bench.finals((self.ours, (request, theirs)), report)
        forget()
        return ours, theirs, tied


class RaceTask(LaneTask[Request]):
    """Waits for the device, races in a child of its own, compiles the winner where it is not
    stored, and times it beside our best."""

    start_child: Callable = staticmethod(spawn_child)
    race_job: Callable = RaceJob
    compile_job: Callable = CompileJob
    beside_job: Callable = BesideJob
    raced: Raced | None = None
    one_at_a_time = True

    @classmethod
    def must_wait(cls, job: JobView, active: list[JobView]) -> bool:
        """After its own sweep."""
        return any(
            other.kind == "sweep" and other.request.get("sweep") == job.request.get("sweep")
            for other in active
        )

    @property
    def what(self) -> str:
        if self.raced is not None:
            return "timing the AutoTuner's config"
        return "TileLang's AutoTuner, which tells nothing before it has tried every config,"

    @property
    def folder(self) -> Path:
        """What the race writes goes here: the log, the compiled code. One race at a time on a
        device."""
        return self.store.home / f"rival-{self.request.runs_on.replace(':', '-')}"

    def asked(self) -> Request:
        self.sweep, self.problem = self.doc["sweep"], self.doc["problem"]
        view = self.store.sweep(self.sweep)
        if view is None:
            raise BadRequest(f"sweep {self.sweep} is not in the store")
        if refused := why_not(view):
            raise BadRequest(refused)
        self.configs = configs_of(self.store, self.sweep, self.problem)
        if not self.configs:
            raise BadRequest(
                "no config of this problem breaks no rule, so there is nothing to race over"
            )
        self.swept = sweep_from_json(view.request)
        timeout_s = self.doc.get("timeout_s") or min(MOST_S, FIXED_S + EACH_S * len(self.configs))
        return replace(self.swept.trial_request(self.problem, self.configs[0]), timeout_s=timeout_s)

    def advance(self) -> None:
        if self.raced is not None or self.stage != "wait" or self.unwritten is not None:
            super().advance()
            return
        lane = self.engine.lanes[self.request.device]
        if lane.busy:
            return
        lane.busy = True  # the device is the race's, though its child is not the lane's
        self.stage = "race"
        shutil.rmtree(self.folder, ignore_errors=True)
        self.folder.mkdir()
        self._hand_over(
            self.start_child(), self.race_job(self.request, self.configs, str(self.folder))
        )

    def lane_job(self) -> Callable[..., Any]:
        return self.beside_job((self.request, self.trial), self._ours())

    def _done(self, value: Any) -> None:
        if self.stage != "race":
            super()._done(value)
            return
        self._leave_race()
        self.raced = value
        self._note({})
        request = self.request = self.swept.trial_request(self.problem, value.config)
        stored = stored_code(self.store, request)
        if stored is not None:
            self._go_on_with(stored)
        else:
            self.ask_child(self.compile_job(request, executable=True))

    def made(self, artifact: Artifact, /) -> None:
        self.store.save_artifact(artifact)
        self._go_on_with(artifact)

    def _go_on_with(self, artifact: Artifact) -> None:
        self.store.job_has(self.job, artifact=artifact.key)
        self.trial = with_code(blank_trial(self.request), artifact, dict(self.seconds))
        if self.trial.status == "ok":
            self.wait_for_device()
        else:
            self.refuse(self.trial.status, self.trial.reason)

    def told(self, kind: str, value: Any) -> None:
        if kind == "source":
            self.store.save_artifact(value, complete=False)

    def keep(self, value: tuple[Trial | None, Trial, list[str]], /) -> None:
        ours, theirs, tied = value
        self.store.save_trial(theirs)
        said: dict[str, Any] = {"trial": theirs.trial, "checked": theirs.status}
        if theirs.status != "ok":
            said["reason"] = f"its config did not pass our check: {theirs.reason}"
        if theirs.timing is not None:
            said |= {"measured_us": theirs.timing.median_us, "timer": theirs.timing.timer}
        if ours is not None and ours.timing is not None:
            same = self._code(ours.config) == self._code(theirs.config)
            said |= {"same": same, "tied": same or len(tied) > 1}
            said |= {
                "ours_us": ours.timing.median_us,
                "ours_trial": ours.trial,
                "ours_config": ours.config,
            }
        self._note(said)

    def refuse(self, status: Status, reason: str, detail: str = "") -> None:
        self._note({"reason": reason})
        super().refuse(status, reason, detail)

    def _failed(self, status: Status, reason: str, detail: str) -> None:
        if self.stage == "race":
            self._kill()
            self.refuse(status, reason, detail)
            return
        super()._failed(status, reason, detail)

    def _kill(self) -> None:
        if self.stage == "race":
            self._leave_race()
            self.stage = "killed"
            return
        super()._kill()

    def _leave_race(self) -> None:
        """The race's child goes, with its threads, its CUDA context and all that it wrote."""
        self._drop_child()
        self.deadline = None
        self.engine.lanes[self.request.device].busy = False
        shutil.rmtree(self.folder, ignore_errors=True)

    def _ours(self) -> tuple[Request, Trial] | None:
        view = self.store.sweep(self.sweep)
        best = view.best.get(self.problem) if view is not None else None
        trial = self.store.trial(best) if best else None
        return (
            None
            if trial is None or trial.timing is None
            else (self.swept.trial_request(self.problem, trial.config), trial)
        )

    def _code(self, config: Config) -> Config:
        return kernel_of(self.request.kernel).same_code(
            self.request.problem, config, targets.target(self.request.target)
        )

    def _note(self, more: dict[str, Any]) -> None:
        view = self.store.sweep(self.sweep)
        if view is None:
            return
        found = to_json(self.raced) if self.raced is not None else {}
        said = {
            "created": time.time(),
            "sweep_s": view.seconds,
            "configs": len(getattr(self, "configs", ())),
        }
        self.store.note_sweep(
            self.sweep, notes={note_name(self.problem): {**said, **found, **more}}
        )


def why_not(view: SweepView) -> str:
    """Why this sweep cannot be raced, in one sentence, or an empty one."""
    if view.recorded:
        return (
            "this sweep comes with tileviz and was measured elsewhere; a race needs"
            " the device that it was measured on"
        )
    if view.request.get("imported"):
        return "this sweep came from a file; a race needs the device that it was measured on"
    return why_not_on(view.target)


def why_not_on(target: str) -> str:
    """Why there is no race on a target, in one sentence, or an empty one."""
    if targets.target(target).is_cuda:
        return ""
    return (
        "TileLang's AutoTuner needs an NVIDIA GPU: it times with CUDA events, and does"
        " not know the CPU target's programs"
    )


def configs_of(store: Store, sweep: str, problem: int) -> tuple[Config, ...]:
    """The list that both race over: every requested config that breaks no rule, equal ones once,
    whether the sweep tried it or not."""
    rows = store.sweep_frame(sweep, instructions=False)
    return tuple(
        row["config"]
        for row in rows
        if row["problem_index"] == problem
        and row["same_as"] is None
        and row["status"] not in DECIDED
    )


def submit(store: Store, sweep: str, problem: int = 0, timeout_s: float | None = None) -> str:
    """Queues a race and gives the job's id; it begins when the sweep has ended. Raises BadRequest
    where there can be none."""
    view = store.sweep(sweep)
    if view is None:
        raise BadRequest(f"no sweep '{sweep}' under {store.home}")
    if refused := why_not(view):
        raise BadRequest(refused)
    asked = {
        "kind": KIND,
        "sweep": sweep,
        "problem": problem,
        "kernel": view.kernel,
        "target": view.target,
        "device": view.device,
    }
    return client.queue(store, KIND, {**asked, "timeout_s": timeout_s})


def jobs_of(store: Store, sweep: str) -> list[str]:
    """Races of this sweep that wait or run."""
    return [
        job.id
        for job in store.jobs(active=True, limit=200)
        if job.kind == KIND and job.request.get("sweep") == sweep
    ]


def note_name(problem: int) -> str:
    return f"{KIND} {problem}"


def told(notes: dict[str, Any], problem: int) -> dict[str, Any] | None:
    """What came of the race over a problem, from a sweep's notes, or None.

    `config`, `says_us`, `wall_s`, `tried`, `failed` are the AutoTuner's; `measured_us`, `ours_us`,
    `tied`, `same` by our timer, in turn; `sweep_s` the seconds of the sweep's search; `reason` what
    went wrong.
    """
    return notes.get(note_name(problem))


def _print_into(path: Path) -> None:
    """Sends what this process and its compilers print into a file: the engine's log is no place for
    progress bars."""
    with open(path, "ab") as file:
        for descriptor in (1, 2):
            os.dup2(file.fileno(), descriptor)
