"""The end of a sweep: the best configs of each problem measured again in turn, ties named, then the
baselines once a problem."""

from collections import deque
from dataclasses import replace
from typing import Literal

from tileviz.bench.baselines import MAX_AUTOTUNE
from tileviz.engine.jobs.phases import BASELINE
from tileviz.engine.jobs.run import MeasureJob
from tileviz.engine.sweeps.jobs import FinalsJob
from tileviz.kernels import kernel as kernel_of
from tileviz.measured import BaselineResult, best_of, ranked
from tileviz.records import Status, Trial

FinalStep = tuple[Literal["turns", "baselines"], int]
"""What is measured, and of which problem, by its place."""


class Finals:
    """Steps of a SweepTask after its search: `advance` when the lane may be free, `hear` and `lost`
    for what the lane says."""

    finals_job = FinalsJob
    baselines_job = MeasureJob

    def __init__(self, task, new_trials: bool) -> None:
        self.task, self.store, self.sweep, self.request = task, task.store, task.sweep, task.request
        view = self.store.sweep(self.sweep)
        rows = self.store.sweep_frame(self.sweep, instructions=False, statuses=("ok",))
        self.rows = {row["trial"]: row for row in rows if row["same_as"] is None}
        self.steps: deque[FinalStep] = deque()
        self.best: dict[int, Trial] = {}
        for number in range(len(self.request.problems)):
            if new_trials or number not in view.tied:
                self.steps.append(("turns", number))
            elif found := best_of(self._rows_of(number), view.tied[number]):
                self.best[number] = self.store.trial(found["trial"])
            self.steps.append(("baselines", number))
        self.now: FinalStep | None = None
        self.skip: tuple[str, ...] = ()

    def advance(self) -> None:
        """Begins the next step when the lane is free."""
        task = self.task
        if (
            task.child is not None
            or task.engine.lanes[self.request.device].busy
            or task.others_wait()
        ):
            return
        if self.now is None:
            if not self.steps:
                task.begin_forget()
                return
            self.now = self.steps.popleft()
        kind, number = self.now
        if kind == "turns":
            self._begin_turns(number)
        else:
            self._begin_baselines(number)

    def hear(self, kind: str, *rest) -> None:
        if kind == "phase":
            self._phase(rest[0])
        elif kind == "trial":
            self._save([rest[0]])
        elif kind == "done":
            self.task.leave_lane()
            if self.now is not None:
                self._done(self.now, rest[0])
        elif kind == "failed":
            self.task.leave_lane(spoiled=True)
            if self.now is not None:
                self._note(self.now, f"{rest[1]}")

    def lost(self, status: Status, reason: str) -> None:
        """The lane's child died or ran over: in a baseline the others still get their turn."""
        if self.now is None:
            return
        kind, number = self.now
        name = self.task.lane_phase.removeprefix(BASELINE)
        if kind == "baselines" and self.task.lane_phase.startswith(BASELINE):
            lost = BaselineResult(name, name, status, reason)
            self._save([replace(self.best[number], baselines=(*self.best[number].baselines, lost))])
            return
        self._note(self.now, reason)

    def _begin_turns(self, number: int) -> None:
        """The finalists of a problem, fastest first. A single one needs no turns; there is none
        where every config is launch-bound."""
        rows = ranked(self._rows_of(number))
        trials = [self.store.trial(row["trial"]) for row in rows[: self.request.finalists or 1]]
        trials = [trial for trial in trials if trial is not None]
        if not trials:
            self.now = None
            self.store.note_sweep(self.sweep, tied={number: []})
            return
        self.best[number] = trials[0]
        if len(trials) == 1 or self.request.finalists < 2:
            self._tied(number, [trials[0].trial])
            return
        entries = tuple(
            (self.request.trial_request(number, trial.config), trial) for trial in trials
        )
        self.task.use_lane(self.finals_job(entries))

    def _rows_of(self, number: int) -> list[dict]:
        return [row for row in self.rows.values() if row["problem_index"] == number]

    def _begin_baselines(self, number: int) -> None:
        best = self.best.get(number)
        if best is None or not self.request.baselines:
            self.now = None
            return
        done = tuple(baseline.name for baseline in best.baselines)
        request = self.request.trial_request(number, best.config)
        self.task.use_lane(
            self.baselines_job(request, best, measure=False, skip=(*done, *self._left_out()))
        )

    def _left_out(self) -> tuple[str, ...]:
        """A quick sweep does not wait for baselines that compile first."""
        if self.request.effort != "quick":
            return ()
        compiled = [
            baseline.name
            for baseline in kernel_of(self.request.kernel).baselines
            if baseline.compiles
        ]
        return (*compiled, *(f"{name}{MAX_AUTOTUNE}" for name in compiled))

    def _done(self, step: FinalStep, value) -> None:
        kind, number = step
        if kind == "baselines":
            self._save([value])
            self.now = None
            return
        trials, tied = value
        self._save(trials, finalist=1)
        self.best.pop(number, None)
        if tied:
            self.best[number] = next(trial for trial in trials if trial.trial == tied[0])
        self._tied(number, tied)

    def _tied(self, number: int, tied: list[str]) -> None:
        self.store.note_sweep(self.sweep, tied={number: tied})
        self.now = None

    def _save(self, trials: list[Trial], **columns) -> None:
        done = []
        for trial in trials:
            own = self.rows[trial.trial]["ordinal"]
            done.append(((own, *self.task.main.search.followers.get(own, [])), trial))
            if (
                self.now is not None
                and self.best.get(self.now[1]) is not None
                and self.best[self.now[1]].trial == trial.trial
            ):
                self.best[self.now[1]] = trial
        self.store.save_sweep_trials(self.sweep, done, columns=columns or {"finalist": 1})

    def _phase(self, phase: str) -> None:
        self.task._start_phase(phase)

    def _note(self, step: FinalStep, reason: str) -> None:
        """Says with the sweep why a step failed; the next one follows."""
        kind, number = step
        what = (
            "the best configs were not measured again in turn"
            if kind == "turns"
            else "the baselines were not all measured"
        )
        self.store.note_sweep(
            self.sweep,
            notes={f"{kind} {number}": f"{what}: {reason}"},
            tied={number: []} if kind == "turns" else None,
        )
        self.now = None
