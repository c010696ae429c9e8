"""One job on its way through the engine: compile, wait for the device, measure; with its deadline, cancel and deaths."""

import logging
import time
from collections.abc import Callable
from dataclasses import replace

from tileviz.engine.jobs.compile import CompileJob, stored_code
from tileviz.engine.jobs.compiled import with_code
from tileviz.engine.jobs.phases import BASELINE, IN_TURN
from tileviz.engine.jobs.run import MeasureJob
from tileviz.engine.processes.device_lock import WAITING
from tileviz.engine.processes.lanes import Child
from tileviz.engine.requests import death_words, request_from_json
from tileviz.errors import StoreError, TilevizError
from tileviz.measured import BaselineResult
from tileviz.records import Artifact, JobView, Trial
from tileviz.store import new_id

log = logging.getLogger("tileviz.engine")

START_S = 300.0
"""A process gets so long to begin a job: on a busy machine torch and TileLang take a minute to import."""

NO_PROCESS = "no process could be started for it; `python -m tileviz doctor` and engine.log say why"


class Task:
    """`begin` once, then `advance` at every step of the engine, `hear` when its child has a message."""

    def __init__(self, engine, job: JobView) -> None:
        self.engine = engine
        self.store = engine.store
        self.job = job.id
        self.doc = job.request
        self.trial = Trial(new_id(), "", {}, {}, "", self.doc.get("device"), "ok")
        self.child: Child | None = None
        self.stage = "new"
        self.ended = False
        self.phase = ""
        self.phase_began = time.monotonic()
        self.seconds: dict[str, float] = {}
        self.deadline: float | None = None
        self.began = False
        self.unwritten: tuple[str, str] | None = None

    @property
    def is_compiling(self) -> bool:
        return self.stage == "compile"

    @property
    def has_results(self) -> bool:
        """Whether something of it is stored before it ends."""
        return False

    # the way of a job

    def begin(self) -> None:
        self.request = request_from_json(self.doc)
        key = self.request.key
        self.trial = Trial(
            trial=new_id(),
            kernel=self.request.kernel,
            problem=self.request.problem,
            config=self.request.config,
            target=self.request.target,
            device=self.request.device,
            status="ok",
            key=key,
            inputs=self.request.inputs,
            seed=self.request.seed,
            created=time.time(),
        )
        self._ask_for_code(CompileJob(self.request, executable=self.request.kind == "run"))

    def _ask_for_code(self, job: Callable) -> None:
        """The request's code: from the store, or compiled by a child that does `job`."""
        stored = stored_code(self.store, self.request)
        if stored is not None:
            self._go_on_with(stored)
            return
        self.stage = "compile"
        self._hand_over(self.engine.fork_server.child(), job)

    def advance(self) -> None:
        """Starts measuring when the device's lane is free; tries again to write what a full disk refused."""
        if self.unwritten is not None:
            state, reason = self.unwritten
            self._end(state, reason)
            return
        if self.stage != "wait":
            return
        lane = self.engine.lanes[self.request.device]
        if lane.busy:
            return
        lane.busy = True
        self.stage = "measure"
        self._hand_over(lane.child(), self.lane_job())

    def lane_job(self):
        """What the lane runs: the measuring that is left to do."""
        return MeasureJob(self.request, self.trial, measure=self.trial.timing is None, skip=tuple(b.name for b in self.trial.baselines))

    def ears(self) -> dict:
        """The connections to listen on, each with the step that handles its message."""
        return {} if self.child is None else {self.child.connection: self.hear}

    def hear(self) -> None:
        """Handles one message of the child, or its death."""
        try:
            kind, *rest = self.child.connection.recv()
        except (EOFError, OSError):
            self._died()
            return
        if kind == "started":
            self.began = True
            self._set_deadline()
        elif kind == "phase":
            self._start_phase(rest[0])
        elif kind == "source":
            self.store.save_artifact(rest[0], complete=False)
            self.store.job_has(self.job, artifact=rest[0].key)
        elif kind == "trial":
            self._save(rest[0])
        elif kind == "failed":
            self._failed(*rest)
        elif kind == "done" and self.stage == "compile":
            self._drop_child()
            self._close_phase()
            self._compiled(rest[0])
        elif kind == "done":
            self._measured(rest[0])

    def cancel(self) -> None:
        """Kills the child and all it started; what was measured before stays."""
        self._kill()
        if self.trial.timing is None:
            self._save(replace(self.trial, status="cancelled", reason="cancelled before it was timed"))
        self._end("cancelled", "cancelled")

    def enforce_deadline(self) -> None:
        if self.deadline is None or time.monotonic() < self.deadline or self.ended:
            return
        if not self.began:
            self._kill()
            self._save(replace(self.trial, status="crashed", reason=NO_PROCESS))
            self._end("done")
            return
        seconds = self.request.timeout_s
        if self._in_baseline():
            self._baseline_lost("timeout", f"stopped after {seconds:g} s")
            return
        if self.phase == IN_TURN:
            self._turns_lost()
            return
        doing = "compiling" if self.stage == "compile" else "check and timing"
        self._kill()
        self._save(
            replace(
                self.trial, status="timeout", reason=f"{doing} was stopped after {seconds:g} s; raise the timeout or use a smaller problem"
            )
        )
        self._end("done")

    def guarded(self, step) -> None:
        """Runs a step; a store that cannot be written ends this job alone, and is tried again."""
        if self.ended:
            return
        try:
            step()
        except StoreError as error:
            log.error("job %s: %s", self.job, error)
            self._give_up(str(error))
            time.sleep(0.2)
        except TilevizError as error:
            self._give_up(str(error))
        except Exception as error:
            log.exception("job %s", self.job)
            self._give_up(f"the engine failed on this job ({type(error).__name__}: {error}); see engine.log")

    def _give_up(self, sentence: str) -> None:
        """Kills what runs and ends the job at the next step. When even that fails, it must not take the engine along."""
        self.unwritten = ("failed", sentence)
        try:
            self._kill()
        except Exception:
            log.exception("job %s: what it left could not be cleared", self.job)

    # what happens on it

    def _compiled(self, artifact: Artifact) -> None:
        self.store.save_artifact(artifact, complete=self.request.until == "all")
        if self.request.until == "all":
            self.engine.prepare(self.request.target)
        self._go_on_with(artifact)

    def _go_on_with(self, artifact: Artifact) -> None:
        """The artifact is there, made now or stored before: measure it, or be done. The trial's seconds are those of this job alone."""
        self.store.job_has(self.job, artifact=artifact.key)
        self.trial = with_code(self.trial, artifact, dict(self.seconds))
        if self.request.kind == "compile" or self.trial.status != "ok":
            self._save(self.trial)
            self._end("done")
            return
        self.stage = "wait"
        self.deadline = None
        self._start_phase("wait for the device")
        self.advance()

    def _measured(self, trial: Trial) -> None:
        self._save(trial)
        self._leave_lane()
        self._end("done")

    def _failed(self, status: str, reason: str, detail: str) -> None:
        if self.stage == "compile" and status == "runtime_failed":
            status = "compile_failed"  # nothing ran yet
        spoiled = status == "runtime_failed" and self.request.device not in (None, "cpu")
        if self.stage == "compile":
            self._drop_child()
        elif spoiled:
            self._kill()  # a CUDA context does not recover from an illegal access
        else:
            self._leave_lane()
        self._save(replace(self.trial, status=status, reason=reason, detail=detail))
        self._end("done")

    def _died(self) -> None:
        self.engine.learn_exit(self.child)
        how, phase, was_born = self.child.death(), self.phase or self.stage, self.child.pid is not None
        log.error("job %s: a child died in phase '%s': %s", self.job, phase, how)
        if self._in_baseline():
            self._baseline_lost("crashed", f"the process died: {how}")
            return
        if self.phase == IN_TURN:
            self._turns_lost()
            return
        if self.stage == "measure":
            how = death_words(how, self.request.kernel, self.request.problem)
        self._kill()
        reason = NO_PROCESS
        if was_born:
            reason = f"the process died in phase '{phase}': {how}"
        self._save(replace(self.trial, status="crashed", reason=reason))
        self._end("done")

    def _baseline_lost(self, status: str, reason: str) -> None:
        """A baseline killed its child: note it and go on with the others in a new one."""
        self._kill()
        name = self.phase.removeprefix(BASELINE)
        self._save(replace(self.trial, baselines=(*self.trial.baselines, BaselineResult(name, name, status, reason))))
        self.stage = "wait"
        self.deadline = None
        self.ended = False

    def _turns_lost(self) -> None:
        """Measuring in turn was cut short: the trial stays as it was measured before."""
        self._kill()
        self._end("done")

    def _in_baseline(self) -> bool:
        return self.stage == "measure" and self.phase.startswith(BASELINE) and self.trial.timing is not None

    def _start_phase(self, phase: str) -> None:
        self._close_phase()
        self.phase = phase
        self.store.start_phase(self.job, phase)
        if phase.startswith(BASELINE) or phase == IN_TURN:
            self._set_deadline()
        elif phase == WAITING:
            self.deadline = None  # the time of another's step

    def _close_phase(self) -> None:
        now = time.monotonic()
        if self.phase:
            self.seconds[self.phase] = round(self.seconds.get(self.phase, 0.0) + now - self.phase_began, 4)
        self.phase_began = now

    def _hand_over(self, child: Child, job: Callable) -> None:
        """Gives a child its job. The step's own seconds count from when the child begins it."""
        self.child, self.began = child, False
        self.deadline = time.monotonic() + START_S
        child.send(job)

    def _set_deadline(self) -> None:
        self.deadline = time.monotonic() + self.request.timeout_s

    def _save(self, trial: Trial) -> None:
        self._close_phase()
        self.trial = replace(trial, seconds={**trial.seconds, **self.seconds})
        self.store.save_trial(self.trial)
        self.store.job_has(self.job, trial=self.trial.trial)

    def _end(self, state: str, reason: str = "") -> None:
        self.unwritten = None
        self.store.finish(self.job, state, reason)
        self.ended = True
        self.deadline = None
        log.info("job %s: %s %s", self.job, state, reason)

    def _drop_child(self) -> None:
        if self.child is not None:
            self.child.kill()
        self.child = None

    def _leave_lane(self) -> None:
        self.engine.lanes[self.request.device].busy = False
        self.child = None

    def kill_children(self) -> None:
        """Called when the engine ends."""
        if self.child is not None:
            self.child.kill()

    def _kill(self) -> None:
        if self.stage == "measure":
            self.engine.lanes[self.request.device].drop()
            self.child = None
        else:
            self._drop_child()
        self.stage = "killed"
