"""`sweep`: many configs of one kernel, searched by the engine, and what came of it."""

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any, Unpack

from tileviz import formats
from tileviz.api import figures, running
from tileviz.api.results import Result
from tileviz.api.tables import frame_of, table
from tileviz.engine import presets
from tileviz.engine.options import Measuring, Where
from tileviz.engine.sweeps import client, results
from tileviz.engine.sweeps import request as engine
from tileviz.engine.sweeps.request import Given
from tileviz.errors import BadRequest
from tileviz.records import Problem, TunedConfig
from tileviz.store import Store, StoreWithRecorded
from tileviz.store.sweeps import SweepView

if TYPE_CHECKING:
    import pandas as pd
    import plotly.graph_objects as go

SEARCH = tuple(f.name for f in fields(engine.Searching))

Problems = Mapping[str, Any] | Sequence[Mapping[str, Any]]


class Searching(running.Measuring, total=False):
    """How a sweep is searched and measured. What is left out is as on the page."""

    strategy: str
    """`grid`, `random`, `local`, `model` or `tpe`; without one, the effort chooses."""
    effort: str
    """`quick`, `normal` or `full`."""
    trials: int
    """Most configs to measure."""
    seconds: float
    """Most seconds to search for."""
    patience: int
    """Configs without a better one after which the search ends."""
    finalists: int
    """How many of the best are measured again in turn."""


@dataclass(frozen=True, repr=False)
class Sweep:
    """A stored sweep, as far as it has come."""

    id: str
    """What `tileviz.load` and `python -m tileviz show` take."""
    store: Store = field(repr=False, compare=False)

    @property
    def view(self) -> SweepView:
        """The record. Raises BadRequest where it was deleted, StoreError where it cannot be read."""
        return results.view_of(self.store, self.id)

    @property
    def problems(self) -> list[Problem]:
        return self.view.request["problems"]

    @property
    def counts(self) -> Mapping[str, int]:
        """Configs by status."""
        return self.view.counts

    def best(self, problem: int = 0) -> Result | None:
        """The best config of a problem, by its place in `problems`; None where none can be named so
        (`document()["no_best"]` says why)."""
        found = self.view.best.get(problem)
        trial = self.store.trial(found) if found else None
        return Result(trial, self.store) if trial is not None else None

    def frame(self) -> "pd.DataFrame":
        """A row for each requested config, also for those that broke a rule or failed: a column for
        each size, each knob, and what was measured; times in microseconds."""
        return frame_of(self._rows())

    def figure(self, kind: str = "top", problem: int = 0) -> "go.Figure":
        """`top`, the best configs; `progress`, the fastest so far; `knobs`, best and median by the
        values of each knob. Raises Limitation where there is nothing to show, UnknownName for
        another kind."""
        return figures.of_sweep(self.store, self.view, problem, kind)

    def export(self, path: str | Path, form: str = "csv") -> int:
        """Writes it as `csv`, `json` or `t4`; gives the number of rows. Raises BadRequest and
        StoreError."""
        return results.export(self.store, self.id, form, Path(path))

    def keep_best(self) -> tuple[TunedConfig, ...]:
        """Makes the best config of each problem a preset, which like problems then start from."""
        return tuple(presets.keep(self.store, self.id))

    def document(self) -> dict[str, Any]:
        """The same as plain JSON values, as `python -m tileviz show --json` prints them."""
        return results.document(self.store, self.id)

    def _rows(self) -> list[dict[str, Any]]:
        problems = self.problems
        return [_row(problems[row["problem_index"]], row) for row in self.store.sweep_frame(self.id)]

    def __len__(self) -> int:
        """How many configs were asked for."""
        return self.view.requested

    def __repr__(self) -> str:
        view = self.view
        told = ", ".join(f"{count:,} {status}" for status, count in view.counts.items() if count)
        return f"sweep {self.id} of {view.kernel}, {view.state}: {told}"

    def _repr_html_(self) -> str:
        timed = sorted((row for row in self._rows() if row["latency_us"]), key=lambda row: row["latency_us"])
        best = self.best()
        named = f"best: {formats.assignments(best.config)}" if best is not None else ""
        return table(repr(self), timed, "; ".join(filter(None, (named, self.view.reason))))


def sweep(
    kernel: str,
    problems: Problems | None = None,
    values: Mapping[str, Sequence[Any]] | None = None,
    *,
    config: Mapping[str, Any] | None = None,
    device: str | None = None,
    use_presets: bool = True,
    **searching: Unpack[Searching],
) -> Sweep:
    """Measures many configs of one kernel and finds the best of each problem.

    `problems` is one problem, whose sizes may be lists (`{"M": [512, 1024]}` is two problems), or a
    list of problems. `values` gives the values of knobs that vary, and `config` those of knobs that
    stand; the others stand where `run` would start. Without `values` every knob varies.

    Raises BadRequest for a name or number that makes no sense, EngineError and StoreError where
    nothing can be run. Ctrl-C stops the sweep; what was measured is kept.
    """
    store = StoreWithRecorded()
    asked = running.measured(searching, Searching)
    request, space = engine.resolve_sweep(
        kernel,
        each_problem(problems),
        {name: tuple(found) for name, found in (values or {}).items()},
        given=Given(fixed=dict(config or {}), all_knobs=not values),
        searching=engine.Searching(**{name: asked.pop(name) for name in SEARCH if name in asked}),
        where=Where(device=device),
        measuring=Measuring(**asked),
        presets=running.starts(store, kernel, use_presets),
    )
    found = client.submit(store, request, space)
    view = running.heeding_ctrl_c(lambda most: client.wait(store, found, timeout=most), lambda: client.cancel(store, found))
    return Sweep(view.id, store)


def each_problem(problems: Problems | None) -> list[dict[str, Any]]:
    """One problem for each combination of sizes that are given as lists. Raises BadRequest for an
    empty one."""
    given = [problems] if isinstance(problems, Mapping) or problems is None else list(problems)
    found = [each for problem in given for each in _combinations(problem or {})]
    if not found:
        raise BadRequest("a sweep needs at least one problem, and a list of sizes at least one size")
    return found


def _combinations(problem: Mapping[str, Any]) -> list[dict[str, Any]]:
    lists = [value if isinstance(value, list | tuple | range) else (value,) for value in problem.values()]
    return [dict(zip(problem, values, strict=True)) for values in itertools.product(*lists)]


def _row(problem: Problem, row: Mapping[str, Any]) -> dict[str, Any]:
    measured = ("tflops", "gbps", "registers", "occupancy", "rel_error")
    known = {"latency_us": row["median_us"], **{name: row[name] for name in measured}}
    return {
        "ordinal": row["ordinal"],
        **problem,
        **row["config"],
        "status": row["status"],
        **known,
        "reason": row["reason"],
        "trial": row["trial"],
    }
