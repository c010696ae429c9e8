"""One job on its way through the engine: its child, its device, its deadline, and how it ends. Each
kind of job is a subclass."""

import logging
import time
from collections.abc import Callable
from typing import Any, Generic, Literal, Protocol, TypeVar

from tileviz.engine.processes.channel import Connection
from tileviz.engine.processes.device_lock import WAITING
from tileviz.engine.processes.lanes import Child
from tileviz.errors import StoreError, TilevizError
from tileviz.records import EndState, JobView, Status

log = logging.getLogger("tileviz.engine")

START_S = 300.0
"""A process gets so long to begin a job: on a busy machine torch and TileLang take a minute to
import."""

NO_PROCESS = "no process could be started for it; `python -m tileviz doctor` and engine.log say why"

Stage = Literal[
    "new",
    "compile",
    "wait",
    "measure",
    "left",
    "killed",
    "race",
    "warm",
    "search",
    "finals",
    "forget",
]
"""Where a task is: `compile` has a child of the fork server, `wait` waits for its device, `measure`
has the device's lane, `left` has given it back; the rest are a race's and a sweep's own."""


class Asked(Protocol):
    """What every job asks for: the device, None for what needs none, and the most seconds of a
    step."""

    @property
    def device(self) -> str | None: ...

    @property
    def timeout_s(self) -> float: ...


Asking = TypeVar("Asking", bound=Asked)


class Task(Generic[Asking]):
    """`begin` once, then `advance` at every step of the engine, and `hear` when its child has a
    message.

    A kind says what it asks for (`begin`, `lane_job`), what becomes of the answer (`made` by a
    child of the fork server, `measured` by the lane's), and of what goes wrong (`refuse`).
    """

    one_at_a_time = False
    """Whether its device has one such job at a time; single runs go between its steps."""
    spoils = True
    """Whether what fails on a GPU leaves a CUDA context of no more use in the lane's child."""
    request: Asking
    """Set by `begin`."""

    def __init__(self, engine, job: JobView) -> None:
        self.engine = engine
        self.store = engine.store
        self.job = job.id
        self.doc = job.request
        self.child: Child | None = None
        self.stage: Stage = "new"
        self.ended = False
        self.phase = ""
        self.phase_began = time.monotonic()
        self.seconds: dict[str, float] = {}
        self.deadline: float | None = None
        self.began = False
        self.unwritten: tuple[EndState, str] | None = None

    @property
    def is_compiling(self) -> bool:
        return self.stage == "compile"

    @property
    def has_results(self) -> bool:
        """Whether something of it is stored before it ends."""
        return False

    # what a kind says

    @classmethod
    def must_wait(cls, job: JobView, active: list[JobView]) -> bool:
        """Whether another of the active jobs comes before it."""
        return False

    def begin(self) -> None:
        """Asks for the first thing. Sets `request`."""
        raise NotImplementedError

    def lane_job(self) -> Callable[..., Any]:
        """What the device's lane runs."""
        raise NotImplementedError

    def made(self, value: Any, /) -> None:
        """What a child of the fork server gave."""
        raise NotImplementedError

    def measured(self, value: Any, /) -> None:
        """What the lane's child gave; the lane is free again."""
        raise NotImplementedError

    def told(self, kind: str, value: Any) -> None:
        """What exists before the job ends: a `source`, a `trial`."""

    def refuse(self, status: Status, reason: str, detail: str = "") -> None:
        """Ends the job, which could not be done: its reason stays with it, where no trial does."""
        self._end("failed", reason)

    def lost(self, status: Status, reason: str) -> None:
        """Its child died or ran over."""
        self._kill()
        self.refuse(status, reason)

    def late_words(self) -> str:
        return (
            f"compiling was stopped after {self.request.timeout_s:g} s; raise the"
            " timeout or use a smaller problem"
        )

    def death_words(self, how: str) -> str:
        return f"the process died in phase '{self.phase or self.stage}': {how}"

    # the way of a job

    def ask_child(self, job: Callable[..., Any]) -> None:
        """Has a child of the fork server do a job."""
        self.stage = "compile"
        self._hand_over(self.engine.fork_server.child(), job)

    def wait_for_device(self) -> None:
        self.stage = "wait"
        self.deadline = None
        self._start_phase("wait for the device")
        self.advance()

    def advance(self) -> None:
        """Takes the device's lane when it is free; tries again to write what a full disk
        refused."""
        if self.unwritten is not None:
            self._end(*self.unwritten)
            return
        if self.stage != "wait":
            return
        lane = self.engine.lanes[self.request.device]
        if lane.busy:
            return
        lane.busy = True
        self.stage = "measure"
        self._hand_over(lane.child(), self.lane_job())

    def ears(self) -> dict[Connection, Callable[[], None]]:
        """The connections to listen on, each with the step that handles its message."""
        return {} if self.child is None else {self.child.connection: self.hear}

    def hear(self) -> None:
        """Handles one message of the child, or its death."""
        child = self.child
        if child is None:
            return  # it went while others were heard
        try:
            kind, *rest = child.connection.recv()
        except (EOFError, OSError):
            self._died(child)
            return
        if kind == "started":
            self.began = True
            self._set_deadline()
        elif kind == "phase":
            self._start_phase(rest[0])
        elif kind == "failed":
            self._failed(*rest)
        elif kind == "done":
            self._done(rest[0])
        else:
            self.told(kind, rest[0])

    def cancel(self) -> None:
        """Kills the child and all it started; what was measured before stays."""
        self._kill()
        self._end("cancelled", "cancelled")

    def enforce_deadline(self) -> None:
        if self.deadline is None or time.monotonic() < self.deadline or self.ended:
            return
        if self.began:
            self.lost("timeout", self.late_words())
        else:
            Task.lost(self, "crashed", NO_PROCESS)

    def guarded(self, step: Callable[[], None]) -> None:
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
        except Exception as error:  # whatever it is, the engine goes on with the other jobs
            log.exception("job %s", self.job)
            self._give_up(
                f"the engine failed on this job ({type(error).__name__}: {error}); see engine.log"
            )

    def kill_children(self) -> None:
        """Called when the engine ends."""
        if self.child is not None:
            self.child.kill()

    # what happens on it

    def _done(self, value: Any) -> None:
        if self.stage == "compile":
            self._drop_child()
            self._close_phase()
            self.made(value)
        else:
            self._leave_lane()
            self.measured(value)

    def _failed(self, status: Status, reason: str, detail: str) -> None:
        if self.stage == "compile":
            self._drop_child()
            status = "compile_failed" if status == "runtime_failed" else status  # nothing ran yet
        elif self.spoils and status == "runtime_failed" and self.request.device != "cpu":
            self._kill()  # a CUDA context does not recover from an illegal access
        else:
            self._leave_lane()
        self.refuse(status, reason, detail)

    def _died(self, child: Child) -> None:
        self.engine.learn_exit(child)
        how = child.death()
        log.error("job %s: a child died in phase '%s': %s", self.job, self.phase or self.stage, how)
        self.lost(
            "crashed",
            self.death_words(how) if child.pid is not None else child.why_unborn or NO_PROCESS,
        )

    def _give_up(self, sentence: str) -> None:
        """Kills what runs and ends the job at the next step. When even that fails, it must not take
        the engine along."""
        self.unwritten = ("failed", sentence)
        try:
            self._kill()
        except (
            Exception
        ):  # what could not be done may be undone halfway: the job must end all the same
            log.exception("job %s: what it left could not be cleared", self.job)

    def _end(self, state: EndState, reason: str = "") -> None:
        self.unwritten = None
        self.store.finish(self.job, state, reason)
        self.ended = True
        self.deadline = None
        log.info("job %s: %s %s", self.job, state, reason)

    # its phases and its child

    def _start_phase(self, phase: str) -> None:
        self._close_phase()
        self.phase = phase
        self.store.start_phase(self.job, phase)
        if phase == WAITING:
            self.deadline = None  # the time of another's step

    def _close_phase(self) -> None:
        now = time.monotonic()
        if self.phase:
            self.seconds[self.phase] = round(
                self.seconds.get(self.phase, 0.0) + now - self.phase_began, 4
            )
        self.phase_began = now

    def _hand_over(self, child: Child, job: Callable[..., Any]) -> None:
        """Gives a child its job. The step's own seconds count from when the child begins it."""
        self.child, self.began = child, False
        self.deadline = time.monotonic() + START_S
        child.send(job)

    def _set_deadline(self) -> None:
        self.deadline = time.monotonic() + self.request.timeout_s

    def _drop_child(self) -> None:
        if self.child is not None:
            self.child.kill()
        self.child = None

    def _leave_lane(self) -> None:
        self.engine.lanes[self.request.device].busy = False
        self.child = None
        self.stage = "left"

    def _kill(self) -> None:
        if self.stage == "measure":
            self.engine.lanes[self.request.device].drop()
            self.child = None
        else:
            self._drop_child()
        self.stage = "killed"
