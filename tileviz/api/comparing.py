"""`compare`: results side by side, each against the first."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from tileviz import formats
from tileviz.api import code, figures
from tileviz.api.code import Difference
from tileviz.api.results import Compiled, Result
from tileviz.api.stored import trial_of
from tileviz.api.tables import frame_of, table
from tileviz.bench import statistics
from tileviz.errors import BadRequest, NotComparable
from tileviz.measured import Timing
from tileviz.records import Trial

if TYPE_CHECKING:
    import pandas as pd
    import plotly.graph_objects as go


@dataclass(frozen=True, repr=False)
class Comparison:
    """Two or more results, the first of which the others are held against."""

    results: tuple[Result | Compiled, ...]

    def frame(self) -> "pd.DataFrame":
        """A row for each result: the fields and knobs in which they differ, times in microseconds,
        resources. `first_is` is its median over that of the first, `low` and `high` the interval at
        95 %; `verdict` says in words what that means, or why there is none."""
        return frame_of(self._rows())

    def figure(self) -> "go.Figure":
        """Latency of each, with the spread of the samples. Raises Limitation without a time."""
        return figures.of_timings(frame_of(self._bars()))

    def diff(self, text: str = "sass") -> Difference:
        """The same text of the first two beside each other. Raises Limitation where one is missing,
        or they are of unlike languages."""
        left, right = (result.code(text) for result in self.results[:2])
        return code.difference(left, right)

    def _rows(self) -> list[dict[str, Any]]:
        differing = _differing([result.trial for result in self.results])
        return [_row(self.results[0].trial, result.trial, differing) for result in self.results]

    def _bars(self) -> list[dict[str, Any]]:
        timed = [(result.trial, result.trial.timing) for result in self.results if result.trial.timing is not None]
        fastest = min((timing.median_us for _, timing in timed if timing.n), default=None)
        return [_bar(trial, timing, timing.median_us == fastest) for trial, timing in timed if timing.n]

    def __repr__(self) -> str:
        return f"{len(self.results)} results of {', '.join(dict.fromkeys(result.kernel for result in self.results))}"

    def _repr_html_(self) -> str:
        return table(repr(self), self._rows())


def compare(first: Result | Compiled | str, second: Result | Compiled | str, *more: Result | Compiled | str) -> Comparison:
    """Results, or ids of stored ones, side by side. Raises BadRequest for an id that is not stored,
    and for the same one twice."""
    found = tuple(map(trial_of, (first, second, *more)))
    if len({result.id for result in found}) < len(found):
        raise BadRequest("one result is given twice; compare different ones")
    return Comparison(found)


def _differing(trials: list[Trial]) -> list[str]:
    """Fields and knobs that are not the same in all of them."""
    given = [{"kernel": t.kernel, "target": t.target, **t.problem, **t.config} for t in trials]
    names = dict.fromkeys(name for values in given for name in values)
    return [name for name in names if len({repr(values.get(name)) for values in given}) > 1]


def _row(first: Trial, trial: Trial, differing: list[str]) -> dict[str, Any]:
    given = {"kernel": trial.kernel, "target": trial.target, **trial.problem, **trial.config}
    latency = trial.timing.median_us if trial.timing is not None and trial.timing.n else None
    own = {
        "trial": trial.trial,
        **{name: given.get(name) for name in differing},
        "status": trial.status,
        "latency_us": latency,
    }
    found = trial.resources
    used = {
        "registers": found.registers,
        "shared_bytes": found.shared_bytes.total or None,
        "occupancy": found.occupancy,
    }
    return {
        **own,
        **_against(first.timing, trial.timing, trial is first),
        "tflops": trial.tflops,
        "gbps": trial.gbps,
        **used,
    }


def _against(first: Timing | None, own: Timing | None, is_first: bool) -> dict[str, Any]:
    none = {"first_is": None, "low": None, "high": None}
    if is_first:
        return {**none, "verdict": "the first"}
    if first is None or own is None:
        return {**none, "verdict": "no time"}
    try:
        found = statistics.compare(first, own)
    except NotComparable as error:
        return {**none, "verdict": error.message}
    words = f"the first is {formats.compared_with(found, 'it')}"
    return {"first_is": found.ratio, "low": found.low, "high": found.high, "verdict": words}


def _bar(trial: Trial, timing: Timing, is_fastest: bool) -> dict[str, Any]:
    times = {"median_us": timing.median_us, "p10_us": timing.p10_us, "p90_us": timing.p90_us}
    taken = {
        "n": timing.n,
        "timer": timing.timer,
        "l2": timing.l2,
        "launch_bound": timing.launch_bound,
        "floor_us": timing.floor_us,
    }
    role = "failed" if trial.status != "ok" else "ours" if is_fastest else "other baseline"
    return {
        "name": f"{trial.kernel} {trial.trial}",
        "role": role,
        **times,
        **taken,
        "kernel": formats.assignments(trial.config),
    }
