"""How much each knob matters, by Optuna's PED-ANOVA, computed in a child of the engine and kept
with the sweep.

Source: Watanabe, Bansal, Hutter, PED-ANOVA (IJCAI 2023), as Optuna has it. It sees configs that
gave a time only: failures are dropped, so the page shows their share by knob value beside it.
"""

import random
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from tileviz.engine import client
from tileviz.engine.jobs.task import Task
from tileviz.engine.processes.reports import Report, quiet
from tileviz.engine.requests import Request
from tileviz.errors import BadRequest
from tileviz.records import Config
from tileviz.store import Store

KIND = "importance"

LEAST = 8
"""Timed configs of a problem below which no importance is computed."""

MOST = 4000
"""Timed configs that are looked at, taken at random: Optuna needs a third of a millisecond for
each."""


@dataclass(frozen=True)
class ImportanceJob:
    """`problems`: for each problem its (config, median in microseconds). Gives {problem's place:
    {knob: share}}; the shares sum to 1."""

    problems: tuple[tuple[int, tuple[tuple[Config, float], ...]], ...]

    def __call__(self, report: Report = quiet) -> dict[int, dict[str, float]]:
        report("phase", KIND)
        return {number: importance(timed) for number, timed in self.problems}


class ImportanceTask(Task[Request]):
    """An importance on its way through the engine. It leaves a note with the sweep and no trial."""

    def begin(self) -> None:
        sweep = self.doc["sweep"]
        view = self.store.sweep(sweep)
        if view is None:
            raise BadRequest(f"sweep {sweep} is not in the store")
        self.request = Request(KIND, view.kernel, view.request["problems"][0], {}, view.target)
        self.ask_child(ImportanceJob(timed_configs(self.store, sweep)))

    def made(self, found: dict[int, dict[str, float]], /) -> None:
        stored = {
            "of": self.doc["of"],
            "shares": {str(number): shares for number, shares in found.items()},
        }
        self.store.note_sweep(self.doc["sweep"], notes={KIND: stored})
        self._end("done")


def submit(store: Store, sweep: str) -> str:
    """Queues the importance of a sweep's knobs and gives the job's id. Raises BadRequest for a
    sweep that is not there."""
    view = store.sweep(sweep)
    if view is None:
        raise BadRequest(f"no sweep '{sweep}' under {store.home}")
    return client.queue(
        store,
        KIND,
        {"kind": KIND, "sweep": sweep, "kernel": view.kernel, "of": view.counts.get("ok", 0)},
    )


def stored(notes: dict[str, Any], problem: int) -> tuple[dict[str, float], int] | None:
    """(share of each knob, of how many configs) from a sweep's notes, or None."""
    found = notes.get(KIND)
    shares = found and found["shares"].get(str(problem))
    return (shares, found["of"]) if shares else None


def timed_configs(
    store: Store, sweep: str
) -> tuple[tuple[int, tuple[tuple[Config, float], ...]], ...]:
    """The timed configs of each problem that has enough of them, at most MOST of each."""
    timed: dict[int, list] = {}
    for row in store.sweep_frame(sweep, instructions=False, statuses=("ok",)):
        if row["median_us"] is not None and not row["implausible"]:
            timed.setdefault(row["problem_index"], []).append((row["config"], row["median_us"]))
    return tuple(
        (number, _thinned(found)) for number, found in timed.items() if len(found) >= LEAST
    )


def importance(timed: Sequence[tuple[Config, float]]) -> dict[str, float]:
    """Share of each knob that has more than one value, largest first; empty when no knob varies or
    all times are equal."""
    import optuna

    names = [
        name for name in timed[0][0] if len({str(config.get(name)) for config, _ in timed}) > 1
    ]
    if not names or len({us for _, us in timed}) < 2:
        return {}
    optuna.logging.set_verbosity(optuna.logging.WARNING)
    values = {name: sorted({str(config.get(name)) for config, _ in timed}) for name in names}
    spaces: dict[str, optuna.distributions.BaseDistribution] = {
        name: optuna.distributions.CategoricalDistribution(found) for name, found in values.items()
    }
    study = optuna.create_study()
    study.add_trials(
        optuna.trial.create_trial(
            params={name: str(config.get(name)) for name in names}, distributions=spaces, value=us
        )
        for config, us in timed
    )
    found = optuna.importance.get_param_importances(
        study, evaluator=optuna.importance.PedAnovaImportanceEvaluator()
    )
    return {
        name: round(share, 4) for name, share in sorted(found.items(), key=lambda item: -item[1])
    }


def _thinned(found: list) -> tuple:
    return tuple(found if len(found) <= MOST else random.Random(0).sample(found, MOST))
