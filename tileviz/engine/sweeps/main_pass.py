"""The main pass of a sweep: configs go out to compile children, and what is compiled to the
device's lane, until the budget is spent."""

import hashlib
import logging
import time
from collections import deque

from tileviz.compiler import targets
from tileviz.compiler.machine_code import compiler_flags
from tileviz.engine.jobs.compile import stored_code
from tileviz.engine.jobs.compiled import blank_trial, with_code
from tileviz.engine.sweeps.measure import KEPT_SHORT
from tileviz.engine.sweeps.model import machine_of, predict_us
from tileviz.engine.sweeps.pool import CompilePool, Item
from tileviz.engine.sweeps.request import SweepRequest
from tileviz.engine.sweeps.search import Search
from tileviz.kernels import kernel as kernel_of
from tileviz.records import Artifact, Status, Trial, canonical_json
from tileviz.store import Store
from tileviz.store.sweeps import SweepView

log = logging.getLogger("tileviz.engine")

AHEAD = 8
"""Configs compiled ahead of the lane, beside those that are being compiled."""

LAST_CONFIG_S = 5.0
"""Seconds that the config on the device may go on when the budget of seconds is spent."""

ORDERED_BY_MODEL = ("model", "local")


class MainPass:
    """Steps of a SweepTask in its search: `advance` at every step, `hear_worker` for the compile
    children, `hear` and `lost` for what the lane says."""

    def __init__(self, task, view: SweepView) -> None:
        self.task, self.store, self.engine, self.sweep = task, task.store, task.engine, task.sweep
        self.request: SweepRequest = task.request
        self.search = search_of(self.store, self.sweep, self.request)
        self.budget = self.request.budget
        self.pool = CompilePool(
            self.slots(),
            lambda: self.engine.fork_server.child(),
            self.engine.learn_exit,
            self.request.timeout_s,
        )
        self.trials: dict[int, Trial] = {}
        self.ready: deque[Item] = deque()
        """Compiled, and waiting for the lane."""
        self.sources: dict[str, Item] = {}
        """The first config of each launch, by `same_launch`."""
        self.out: set[int] = set()
        """Ordinals on their way."""
        self.item: Item | None = None
        """What the lane measures now."""
        self.exhausted = self.drawn = False
        self.why = ""
        """Why no further config is handed out."""
        self.spent_s = view.seconds
        self.clock: float | None = None
        self.had_trials = self.search.tried
        self.had_turns = set(view.tied)

    @property
    def hands_out(self) -> bool:
        """Whether it has configs left to compile."""
        return not self.exhausted and not self.why

    @property
    def has_new_trials(self) -> bool:
        return self.search.tried > self.had_trials

    def begin(self) -> None:
        self.clock = time.monotonic()

    def advance(self) -> bool:
        """Hands out what can be. True when the pass is over."""
        self.why = self.why or self._budget_spent()
        if self.why and not self.why.endswith("trials is spent"):
            self._stop_early()
        self._fill()
        self._feed_lane()
        return self.task.child is None and not self.out

    def end(self) -> None:
        """Takes down the compile children, and stops the clock."""
        self.pool.kill()
        self.spent_s, self.clock = self.seconds_spent(), None

    def seconds_spent(self) -> float:
        """Seconds of the pass, over all runs of this sweep."""
        return self.spent_s + (time.monotonic() - self.clock if self.clock is not None else 0.0)

    # to the compile children

    def slots(self) -> int:
        """Its share of the compile slots: sweeps on several devices divide them, else all would
        wait for the same cores."""
        others = sum(
            task is not self.task and getattr(task, "hands_out", False)
            for task in self.engine.tasks.values()
        )
        return max(1, self.engine.compile_slots // (1 + others))

    def hear_worker(self, worker) -> None:
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
            result = item.ended(
                result.status, result.reason, result.detail, artifact=item.source.key
            )
        self._finish(item, result)

    def enforce_deadlines(self) -> None:
        for item, trial in self.pool.overdue():
            self._finish(item, trial)

    def _fill(self) -> None:
        """Hands out configs while compile children are free and not too much waits for the lane."""
        self.pool.size = self.slots()
        most_out = self.pool.size + (1 if self.search.adaptive else AHEAD)
        while self.pool.has_room and self.hands_out and len(self.out) < most_out:
            if (
                self.budget.trials is not None
                and self.search.tried + len(self.out) >= self.budget.trials
            ):
                return
            ordinal = self.search.next()
            if ordinal is None:
                self.exhausted = True
                return
            self._start_config(ordinal)

    def _start_config(self, ordinal: int) -> None:
        number = self.search.problem[ordinal]
        request = self.request.trial_request(number, self.search.config[ordinal])
        item = Item(ordinal, number, blank_trial(request))
        self.out.add(ordinal)
        stored = stored_code(self.store, request)
        if stored is not None:
            self._compiled(item, stored)
            return
        self.pool.give(item, self.task.compile_job(request, executable=True))

    def _compiled(self, item: Item, artifact: Artifact) -> None:
        """On to the lane, unless no launch can work; or, when another config is the same launch, on
        to that one's result."""
        item.trial = with_code(item.trial, artifact, artifact.seconds)
        if item.trial.status != "ok":
            self._finish(item, item.trial)
            return
        first = self.sources.setdefault(same_launch(item, artifact), item)
        if first is item:
            self.ready.append(item)
            self.task.first_ready = self.task.first_ready or time.monotonic()
            return
        ordinals = [item.ordinal, *self.search.followers.pop(item.ordinal, [])]
        self.search.followers.setdefault(first.ordinal, []).extend(ordinals)
        self.store.link_sweep_rows(self.sweep, ordinals, first.ordinal)
        done = self.trials.get(first.ordinal)
        if done is not None:
            self._save(done, first.ordinal)
            self._settle(item.ordinal, done)

    # to the lane

    def _feed_lane(self) -> None:
        task = self.task
        if (
            task.child is not None
            or self.engine.lanes[self.request.device].busy
            or task.others_wait()
        ):
            return
        if not self.ready:
            self._get_ready()
            return
        self.item = self.ready.popleft()
        request = self.request.trial_request(self.item.problem, self.item.trial.config)
        patient = not self.ready and bool(self.pool.busy)
        task.use_lane(
            task.config_job(
                request, self.item.trial, self.search.best_us.get(self.item.problem), patient
            )
        )

    def _get_ready(self) -> None:
        """While the first configs compile, the lane draws inputs and reference of the first of
        them."""
        if not self.drawn and self.out:
            self.drawn = True
            first = min(self.out)
            request = self.request.trial_request(
                self.search.problem[first], self.search.config[first]
            )
            self.task.use_lane(self.task.ready_job(request))

    def hear(self, kind: str, *rest) -> None:
        """One message of the lane."""
        if self.item is None:
            if kind in ("done", "failed"):
                # what failed here fails again for each config, and is told there
                self.task.leave_lane(spoiled=kind == "failed")
        elif kind == "trial":
            self.item.trial = rest[0]
        elif kind == "done":
            self.task.leave_lane()
            self._measured(self.item, rest[0])
        elif kind == "failed":
            status, reason, detail = rest
            self.task.leave_lane(spoiled=status == "runtime_failed")
            self._measured(self.item, self.item.ended(status, reason, detail))

    def lost(self, status: Status, reason: str) -> None:
        """The lane's child died or ran over."""
        if self.item is not None:
            self._measured(
                self.item,
                self.item.ended(
                    status, f"check and timing was {reason}" if status == "timeout" else reason
                ),
            )

    def _measured(self, item: Item, trial: Trial) -> None:
        self.item = None
        self._finish(item, trial)

    # what came of a config

    def _finish(self, item: Item, trial: Trial) -> None:
        """Tells the strategy of a config's result, and writes it, with the configs that share it,
        while the lane is at the next one."""
        self.trials[item.ordinal] = trial
        self._settle(item.ordinal, trial)
        if self.task.stage == "search" and self.ready and not self.why and not self._budget_spent():
            self._feed_lane()
        if item.problem in self.had_turns:
            self.had_turns.discard(item.problem)
            # earlier finals know nothing of this config
            self.store.note_sweep(self.sweep, tied={item.problem: None})
        self._save(trial, item.ordinal)

    def _settle(self, ordinal: int, trial: Trial) -> None:
        for settled in (ordinal, *self.search.followers.get(ordinal, [])):
            if settled in self.out:
                self.out.discard(settled)
                self.search.tell(
                    settled,
                    trial.timing.median_us if trial.status == "ok" and trial.timing else None,
                )
        log.info("sweep %s: config %s %s", self.sweep, ordinal, trial.status)

    def _save(self, trial: Trial, ordinal: int) -> None:
        """Writes the trial into its row, and into those that share it."""
        rows = (ordinal, *self.search.followers.get(ordinal, []))
        short = bool(trial.timing and trial.timing.note.startswith(KEPT_SHORT))
        self.store.save_sweep_trials(
            self.sweep, [(rows, trial)], seconds=self.seconds_spent(), columns={"short": int(short)}
        )

    # the budget

    def _budget_spent(self) -> str:
        return self.budget.spent(
            trials=self.search.tried,
            seconds=self.seconds_spent(),
            since_best=self.search.since_best,
        )

    def _stop_early(self) -> None:
        """Drops what is under way, but for the config on the device, which may end soon."""
        self.pool.kill()
        self.ready.clear()
        self.out &= {self.item.ordinal} if self.item is not None else set()
        if self.task.deadline is not None:
            self.task.deadline = min(self.task.deadline, time.monotonic() + LAST_CONFIG_S)


def search_of(store: Store, sweep: str, request: SweepRequest) -> Search:
    """What to try next, from the sweep's rows; by the model's estimates where the strategy takes
    them."""
    rows = store.sweep_frame(sweep, instructions=False)
    if request.strategy not in ORDERED_BY_MODEL:
        return Search(request.strategy, request.seed, rows)
    described, device = (
        kernel_of(request.kernel),
        next((d for d in store.devices() if d.id == request.device), None),
    )
    machine = machine_of(targets.target(request.target), device)
    return Search(
        request.strategy,
        request.seed,
        rows,
        lambda n, configs: predict_us(described, request.problems[n], configs, machine),
    )


def same_launch(item: Item, artifact: Artifact) -> str:
    """Equal for configs that are one and the same launch: generated text, flags of the compiler,
    grid, threads, shared memory."""
    found = artifact.resources
    passes = {name: value for name, value in item.trial.config.items() if "." in name}
    launch = [
        item.problem,
        found.grid,
        found.threads_launched,
        found.shared_bytes.dynamic,
        compiler_flags(passes),
    ]
    return hashlib.sha256((canonical_json(launch) + artifact.source).encode()).hexdigest()
