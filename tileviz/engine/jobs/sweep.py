"""A sweep on its way through the engine: it warms up, searches, measures the best again with the
baselines, and forgets what it kept."""

import functools
import logging
import time
from collections.abc import Callable

from tileviz.engine.jobs.task import NO_PROCESS
from tileviz.engine.processes.channel import Connection
from tileviz.engine.processes.lanes import Child
from tileviz.engine.requests import death_words
from tileviz.engine.sweeps.finals import Finals
from tileviz.engine.sweeps.jobs import ConfigJob, ForgetJob, ReadyJob, SweepCompileJob
from tileviz.engine.sweeps.lane_use import LaneUser
from tileviz.engine.sweeps.main_pass import MainPass
from tileviz.engine.sweeps.pool import CompilePool
from tileviz.engine.sweeps.request import sweep_from_json
from tileviz.errors import TilevizError
from tileviz.records import EndState, JobView, Status

log = logging.getLogger("tileviz.engine")

WARM_S = 30.0
"""Most seconds to wait for the fork server and the precompiled header, without which each compile
takes several times as long."""


class SweepTask(LaneUser):
    """A task with many children: those that compile are its main pass's own, the lane's is its
    `child`. `stage` is `warm`, `search`, `finals` or `forget`."""

    compile_job: Callable = SweepCompileJob
    ready_job: Callable = ReadyJob
    config_job: Callable = ConfigJob
    one_at_a_time = True
    main: MainPass | None = None
    finals: Finals | None = None

    def __init__(self, engine, job: JobView) -> None:
        super().__init__(engine, job)
        self.sweep: str = self.doc.get("sweep", "")

    @property
    def is_compiling(self) -> bool:
        return False  # its compile children are its own

    @property
    def has_results(self) -> bool:
        return self.main is not None and bool(self.main.trials)

    @property
    def hands_out(self) -> bool:
        """Whether it has configs left to compile."""
        return self.stage == "search" and self.main is not None and self.main.hands_out

    @property
    def pool(self) -> CompilePool | None:
        return self.main.pool if self.main is not None else None

    # the way of a sweep

    def begin(self) -> None:
        view = self.store.sweep(self.sweep)
        if view is None:
            raise TilevizError(f"sweep {self.sweep} is not in the store")
        self.request = sweep_from_json(view.request)
        self.main = MainPass(self, view)
        self.store.start_sweep(self.sweep, job=self.job)
        self.engine.prepare(self.request.target)
        self.stage, self.warm_since, self.first_fork_server = (
            "warm",
            time.monotonic(),
            self.engine.fork_server,
        )
        self._start_phase("prepare")

    def advance(self) -> None:
        if self.unwritten is not None:
            self._end(*self.unwritten)
        elif self.main is not None:
            self._advance(self.main)

    def _advance(self, main: MainPass) -> None:
        if self.stage == "warm" and self._is_warm():
            self.stage = "search"
            main.begin()
            self._start_phase("compile and measure")
        elif self.stage == "search":
            if main.advance():
                self._begin_finals(main)
        elif self.stage == "finals" and self.finals is not None:
            self.finals.advance()
        elif self.stage == "forget":
            self._forget(main)

    def _is_warm(self) -> bool:
        """The fork server is up, and the precompiled header is made; or both take too long, or the
        fork server died."""
        if (
            time.monotonic() - self.warm_since > WARM_S
            or self.engine.fork_server is not self.first_fork_server
        ):
            return True
        return self.engine.fork_server.ready and not self.engine.background

    def _begin_finals(self, main: MainPass) -> None:
        main.end()
        if self.first_ready is not None:
            share = self.busy_s / max(time.monotonic() - self.first_ready, 1e-9)
            self.store.note_sweep(self.sweep, notes={"lane_busy": round(share, 4)})
        self.finals = Finals(self, new_trials=main.has_new_trials)
        self.stage = "finals"

    def begin_forget(self) -> None:
        """Called when the finals are over."""
        self.stage = "forget"

    def _forget(self, main: MainPass) -> None:
        lane = self.engine.lanes[self.request.device]
        if self.child is not None or lane.busy:
            return
        if lane.current is None or lane.current.killed:
            self._end("done", main.why)
            return
        self.use_lane(ForgetJob())

    # what its children say

    def ears(self) -> dict[Connection, Callable[[], None]]:
        main, found = self.main, {}
        if main is None:
            return found
        for worker in main.pool.workers:
            found[worker.child.connection] = functools.partial(main.hear_worker, worker)
        if self.child is not None:
            found[self.child.connection] = functools.partial(self._hear_lane, main, self.child)
        return found

    def _hear_lane(self, main: MainPass, child: Child) -> None:
        if child is not self.child:
            return
        try:
            kind, *rest = child.connection.recv()
        except (EOFError, OSError):
            self._lane_died(main, child)
            return
        self.keep_time(kind, *rest)
        if self.stage == "finals" and self.finals is not None:
            self.finals.hear(kind, *rest)
        elif self.stage == "forget":
            if kind in ("done", "failed"):
                self.leave_lane()
                self._end("done", main.why)
        else:
            main.hear(kind, *rest)

    def _lane_died(self, main: MainPass, child: Child) -> None:
        self.engine.learn_exit(child)
        how, item = child.death(), main.item
        how = how if item is None else death_words(how, self.request.kernel, item.trial.problem)
        log.error(
            "sweep %s: the lane's child died in phase '%s': %s", self.sweep, self.lane_phase, how
        )
        self._lane_lost(main, "crashed", f"the process died in phase '{self.lane_phase}': {how}")

    def _lane_lost(self, main: MainPass, status: Status, reason: str) -> None:
        if self.child is None:
            self.deadline = None
            return
        self.drop_lane()
        if self.stage == "finals" and self.finals is not None:
            self.finals.lost(status, reason)
        elif self.stage == "forget":
            self._end("done", main.why)
        else:
            main.lost(status, reason)

    def enforce_deadline(self) -> None:
        main = self.main
        if main is None or self.stage == "killed":
            return
        main.enforce_deadlines()
        if self.child is not None and self.child.killed:
            self._lane_lost(main, "crashed", "the process that measures was dead before it began")
        if self.deadline is not None and time.monotonic() >= self.deadline:
            if self.began:
                self._lane_lost(main, "timeout", f"stopped after {self.request.timeout_s:g} s")
            else:
                self._lane_lost(main, "crashed", NO_PROCESS)

    # its end

    def _end(self, state: EndState, reason: str = "") -> None:
        seconds = None
        if self.main is not None:
            self.main.end()
            seconds = self.main.spent_s
        self.store.finish_sweep(self.sweep, state, reason, seconds=seconds)
        super()._end(state, reason)

    def _kill(self) -> None:
        """Kills every child and all they started; what was measured stays, what was under way is
        not run."""
        self.kill_children()
        lane = self.engine.lanes.get(self.doc["device"])
        if lane is not None and (self.child is not None or not lane.busy):
            lane.drop()
        if self.main is not None:
            self.main.item = None
        self.child, self.deadline = None, None
        self.stage = "killed"

    def kill_children(self) -> None:
        """Called when the engine ends."""
        if self.pool is not None:
            self.pool.kill()
