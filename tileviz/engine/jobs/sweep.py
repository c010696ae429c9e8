"""A sweep on its way through the engine: compile children on one side, the device's lane on the other, every result written as it ends."""

import functools
import hashlib
import logging
import time
from collections import deque
from collections.abc import Callable
from dataclasses import replace

from tileviz.compiler import targets
from tileviz.compiler.machine_code import compiler_flags
from tileviz.engine.jobs.compile import stored_code
from tileviz.engine.jobs.compiled import with_code
from tileviz.engine.jobs.task import NO_PROCESS
from tileviz.engine.requests import death_words
from tileviz.engine.sweeps.budget import Budget
from tileviz.engine.sweeps.finals import Finals
from tileviz.engine.sweeps.jobs import ConfigJob, ForgetJob, ReadyJob, SweepCompileJob
from tileviz.engine.sweeps.lane_use import LaneUser
from tileviz.engine.sweeps.measure import KEPT_SHORT
from tileviz.engine.sweeps.model import machine_of, predict_us
from tileviz.engine.sweeps.pool import CompilePool, Item
from tileviz.engine.sweeps.request import SweepRequest, sweep_from_json
from tileviz.engine.sweeps.search import Search
from tileviz.errors import TilevizError
from tileviz.kernels import kernel as kernel_of
from tileviz.records import Artifact, JobView, Trial, canonical_json
from tileviz.store import new_id

log = logging.getLogger("tileviz.engine")

AHEAD = 8
"""Configs compiled ahead of the lane, beside those that are being compiled."""

LAST_CONFIG_S = 5.0
"""Seconds that the config on the device may go on when the budget of seconds is spent."""

WARM_S = 30.0
"""Most seconds to wait for the fork server and the precompiled header, without which each compile takes several times as long."""

ORDERED_BY_MODEL = ("model", "local")


class SweepTask(LaneUser):
    """The same steps as a Task, with many children. `stage` is `warm`, `search`, `finals` or `forget`."""

    compile_job: Callable = SweepCompileJob
    ready_job: Callable = ReadyJob
    config_job: Callable = ConfigJob
    pool: CompilePool | None = None
    finals: Finals | None = None
    item: Item | None = None
    """What the lane measures now."""
    spent_s = 0.0
    clock: float | None = None
    why = ""

    @property
    def is_compiling(self) -> bool:
        return False  # its compile children are its own

    @property
    def has_results(self) -> bool:
        return bool(self.trials)

    @property
    def hands_out(self) -> bool:
        """Whether it has configs left to compile."""
        return self.stage == "search" and not self.exhausted and not self.why

    # the way of a sweep

    def __init__(self, engine, job: JobView) -> None:
        super().__init__(engine, job)
        self.sweep: str = self.doc.get("sweep", "")
        self.trials: dict[int, Trial] = {}

    def begin(self) -> None:
        view = self.store.sweep(self.sweep)
        if view is None:
            raise TilevizError(f"sweep {self.sweep} is not in the store")
        self.request: SweepRequest = sweep_from_json(view.request)
        self.search = self._search()
        self.budget: Budget = self.request.budget
        self.spent_s = view.seconds
        self.ready: deque[Item] = deque()
        self.sources: dict[str, Item] = {}
        self.out: set[int] = set()
        self.exhausted = self.drawn = False
        self.pool = self._pool()
        self.had_trials = self.search.tried
        self.had_turns = set(view.tied)
        self.store.start_sweep(self.sweep, job=self.job)
        self.engine.prepare(self.request.target)
        self.stage, self.warm_since, self.first_fork_server = "warm", time.monotonic(), self.engine.fork_server
        self._start_phase("prepare")

    def advance(self) -> None:
        if self.unwritten is not None:
            self._end(*self.unwritten)
        elif self.stage == "warm" and self._is_warm():
            self.stage, self.clock = "search", time.monotonic()
            self._start_phase("compile and measure")
        elif self.stage == "search":
            self._search_on()
        elif self.stage == "finals":
            self.finals.advance()
        elif self.stage == "forget":
            self._forget()

    def ears(self) -> dict:
        found = {worker.child.connection: functools.partial(self._hear_worker, worker) for worker in self.pool.workers} if self.pool else {}
        if self.child is not None:
            found[self.child.connection] = functools.partial(self._hear_lane, self.child)
        return found

    def cancel(self) -> None:
        """Kills every child and all they started; what was measured stays, what was under way is not run."""
        self._kill()
        self._end("cancelled", "cancelled")

    def enforce_deadline(self) -> None:
        if self.pool is None or self.stage == "killed":
            return
        for item, trial in self.pool.overdue():
            self._finish(item, trial)
        if self.child is not None and self.child.killed:
            self._lane_lost("crashed", "the process that measures was dead before it began")
        if self.deadline is not None and time.monotonic() >= self.deadline:
            late = "timeout", f"stopped after {self.request.timeout_s:g} s"
            self._lane_lost(*(late if self.began else ("crashed", NO_PROCESS)))

    # searching

    def _search_on(self) -> None:
        self.why = self.why or self._budget_spent()
        if self.why and not self.why.endswith("trials is spent"):
            self._stop_early()
        self._fill()
        self._feed_lane()
        if self.child is None and not self.out:
            self._begin_finals()

    def _fill(self) -> None:
        """Hands out configs while compile children are free and not too much waits for the lane."""
        self.pool.size = self._slots()
        while self.pool.has_room and not self.exhausted and not self.why and len(self.out) < self._most_out():
            if self.budget.trials is not None and self.search.tried + len(self.out) >= self.budget.trials:
                return
            ordinal = self.search.next()
            if ordinal is None:
                self.exhausted = True
                return
            self._start_config(ordinal)

    def _slots(self) -> int:
        """Its share of the compile slots: sweeps on several devices divide them, else all would wait for the same cores."""
        others = sum(isinstance(task, SweepTask) and task is not self and task.hands_out for task in self.engine.tasks.values())
        return max(1, self.engine.compile_slots // (1 + others))

    def _start_config(self, ordinal: int) -> None:
        number, config = self.search.problem[ordinal], self.search.config[ordinal]
        request = self.request.trial_request(number, config)
        blank = Trial(new_id(), request.kernel, request.problem, config, request.target, request.device, "ok")
        trial = replace(blank, key=request.key, inputs=request.inputs, seed=request.seed, created=time.time())
        item = Item(ordinal, number, trial)
        self.out.add(ordinal)
        stored = stored_code(self.store, request)
        if stored is not None:
            self._compiled(item, stored)
            return
        self.pool.give(item, self.compile_job(request, executable=True))

    def _hear_worker(self, worker) -> None:
        told = self.pool.hear(worker)
        if told is None:
            return
        item, result = told
        if isinstance(result, Artifact):
            self.store.save_artifact(result)
            self._compiled(item, result)
            return
        if item.source is not None:
            self.store.save_artifact(item.source, complete=False)
            result = replace(result, artifact=item.source.key)
        self._finish(item, result)

    def _compiled(self, item: Item, artifact: Artifact) -> None:
        """On to the lane, unless no launch can work; or, when another config has given the same source, on to that one's result."""
        item.trial = with_code(item.trial, artifact, artifact.seconds)
        if item.trial.status != "ok":
            self._finish(item, item.trial)
            return
        first = self.sources.setdefault(same_source(item, artifact), item)
        if first is item:
            self.ready.append(item)
            self.first_ready = self.first_ready or time.monotonic()
            return
        ordinals = [item.ordinal, *self.search.followers.pop(item.ordinal, [])]
        self.search.followers.setdefault(first.ordinal, []).extend(ordinals)
        self.store.link_sweep_rows(self.sweep, ordinals, first.ordinal)
        done = self.trials.get(first.ordinal)
        if done is not None:
            self._save_trials([done])
            self._settle(item.ordinal, done)

    def _feed_lane(self) -> None:
        lane = self.engine.lanes[self.request.device]
        if self.child is not None or lane.busy or self.others_wait():
            return
        if not self.ready:
            self._get_ready()
            return
        self.item = self.ready.popleft()
        request = self.request.trial_request(self.item.problem, self.item.trial.config)
        patient = not self.ready and bool(self.pool.busy)
        self.use_lane(self.config_job(request, self.item.trial, self.search.best_us.get(self.item.problem), patient))

    def _get_ready(self) -> None:
        """While the first configs compile, the lane draws inputs and reference of the first of them."""
        if not self.drawn and self.out:
            self.drawn = True
            first = min(self.out)
            self.use_lane(self.ready_job(self.request.trial_request(self.search.problem[first], self.search.config[first])))

    def _hear_lane(self, child) -> None:
        if child is not self.child:
            return
        try:
            kind, *rest = child.connection.recv()
        except (EOFError, OSError):
            self.engine.learn_exit(child)
            how = child.death() if self.item is None else death_words(child.death(), self.request.kernel, self.item.trial.problem)
            log.error("sweep %s: the lane's child died in phase '%s': %s", self.sweep, self.lane_phase, how)
            self._lane_lost("crashed", f"the process died in phase '{self.lane_phase}': {how}")
            return
        self.keep_time(kind, *rest)
        if self.stage == "finals":
            self.finals.hear(kind, *rest)
        elif self.stage == "forget":
            self._forgotten(kind)
        elif self.item is None:
            if kind in ("done", "failed"):
                self.leave_lane(spoiled=kind == "failed")  # what failed here fails again for each config, and is told there
        elif kind == "trial":
            self.item.trial = rest[0]
        elif kind == "done":
            self.leave_lane()
            self._measured(rest[0])
        elif kind == "failed":
            status, reason, detail = rest
            self.leave_lane(spoiled=status == "runtime_failed")
            self._measured(self.item.ended(status, reason, detail))

    def _lane_lost(self, status: str, reason: str) -> None:
        if self.child is None:
            self.deadline = None
            return
        self.drop_lane()
        if self.stage == "finals":
            self.finals.lost(status, reason)
        elif self.stage == "forget":
            self._end("done", self.why)
        elif self.item is not None:
            self._measured(self.item.ended(status, f"check and timing was {reason}" if status == "timeout" else reason))

    def _measured(self, trial: Trial) -> None:
        item, self.item = self.item, None
        self._finish(item, trial)

    def _finish(self, item: Item, trial: Trial) -> None:
        """Tells the strategy of a config's result, and writes it, with the configs that share it, while the lane is at the next one."""
        self.trials[item.ordinal] = trial
        self._settle(item.ordinal, trial)
        if self.stage == "search" and self.ready and not self.why and not self._budget_spent():
            self._feed_lane()
        if item.problem in self.had_turns:
            self.had_turns.discard(item.problem)
            self.store.note_sweep(self.sweep, tied={item.problem: None})  # earlier finals know nothing of this config
        self._save_trials([trial], item.ordinal)

    def _settle(self, ordinal: int, trial: Trial) -> None:
        for settled in (ordinal, *self.search.followers.get(ordinal, [])):
            if settled in self.out:
                self.out.discard(settled)
                self.search.tell(settled, trial.timing.median_us if trial.status == "ok" and trial.timing else None)
        log.info("sweep %s: config %s %s", self.sweep, ordinal, trial.status)

    def _save_trials(self, trials: list[Trial], ordinal: int | None = None) -> None:
        done = []
        for trial in trials:
            own = ordinal if ordinal is not None else next(place for place, found in self.trials.items() if found.trial == trial.trial)
            done.append(((own, *self.search.followers.get(own, [])), trial))
        short = bool(trials[0].timing and trials[0].timing.note.startswith(KEPT_SHORT))
        self.store.save_sweep_trials(self.sweep, done, seconds=self.seconds_spent(), columns={"short": int(short)})

    # the budget

    def seconds_spent(self) -> float:
        """Seconds of the main pass, over all runs of this sweep."""
        return self.spent_s + (time.monotonic() - self.clock if self.clock is not None else 0.0)

    def _budget_spent(self) -> str:
        return self.budget.spent(trials=self.search.tried, seconds=self.seconds_spent(), since_best=self.search.since_best)

    def _stop_early(self) -> None:
        """Drops what is under way, but for the config on the device, which may end soon."""
        self.pool.kill()
        self.ready.clear()
        self.out &= {self.item.ordinal} if self.item is not None else set()
        if self.deadline is not None:
            self.deadline = min(self.deadline, time.monotonic() + LAST_CONFIG_S)

    def _most_out(self) -> int:
        return self.pool.size + (1 if self.search.adaptive else AHEAD)

    # the end

    def _begin_finals(self) -> None:
        self.pool.kill()
        self.spent_s, self.clock = self.seconds_spent(), None
        if self.first_ready is not None:
            share = self.busy_s / max(time.monotonic() - self.first_ready, 1e-9)
            self.store.note_sweep(self.sweep, notes={"lane_busy": round(share, 4)})
        self.finals = Finals(self, new_trials=self.search.tried > self.had_trials)
        self.stage = "finals"

    def begin_forget(self) -> None:
        """Called when the finals are over."""
        self.stage = "forget"

    def _forget(self) -> None:
        lane = self.engine.lanes[self.request.device]
        if self.child is not None or lane.busy:
            return
        if lane.current is None or lane.current.killed:
            self._end("done", self.why)
            return
        self.use_lane(ForgetJob())

    def _forgotten(self, kind: str) -> None:
        if kind in ("done", "failed"):
            self.leave_lane()
            self._end("done", self.why)

    def _end(self, state: str, reason: str = "") -> None:
        self.spent_s, self.clock = self.seconds_spent(), None
        self.store.finish_sweep(self.sweep, state, reason, seconds=self.spent_s)
        super()._end(state, reason)

    def _kill(self) -> None:
        if self.pool is not None:
            self.pool.kill()
        lane = self.engine.lanes.get(self.doc["device"])
        if lane is not None and (self.child is not None or not lane.busy):
            lane.drop()
        self.child, self.item, self.deadline = None, None, None
        self.stage = "killed"

    def kill_children(self) -> None:
        """Called when the engine ends."""
        if self.pool is not None:
            self.pool.kill()

    # the start

    def _pool(self) -> CompilePool:
        engine = self.engine
        return CompilePool(self._slots(), lambda: engine.fork_server.child(), engine.learn_exit, self.request.timeout_s)

    def _search(self) -> Search:
        request = self.request
        rows = self.store.sweep_frame(self.sweep, instructions=False)
        if request.strategy not in ORDERED_BY_MODEL:
            return Search(request.strategy, request.seed, rows)
        described, device = kernel_of(request.kernel), next((d for d in self.store.devices() if d.id == request.device), None)
        machine = machine_of(targets.target(request.target), device)
        return Search(request.strategy, request.seed, rows, lambda n, config: predict_us(described, request.problems[n], config, machine))

    def _is_warm(self) -> bool:
        """The fork server is up, and the precompiled header is made; or both take too long, or the fork server died."""
        if time.monotonic() - self.warm_since > WARM_S or self.engine.fork_server is not self.first_fork_server:
            return True
        return self.engine.fork_server.ready and not self.engine.background


def same_source(item: Item, artifact: Artifact) -> str:
    """Equal for configs that are one and the same launch: generated text, flags of the compiler, grid, threads, shared memory."""
    found = artifact.resources
    launch = [item.problem, found.grid, found.threads_launched, found.shared_bytes.dynamic, compiler_flags(_pass_configs(item))]
    return hashlib.sha256((canonical_json(launch) + artifact.source).encode()).hexdigest()


def _pass_configs(item: Item) -> dict:
    return {name: value for name, value in item.trial.config.items() if "." in name}
