"""A sweep as the page's charts read it: one row per requested config, with its knobs
beside it. pandas only: no widgets, no figures."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import pandas as pd

from tileviz.bench.roofline import bound_by_rates
from tileviz.formats import rate, word
from tileviz.measured import why_no_best
from tileviz.store.sweeps import SweepView

MEASURED, FAILED, PRUNED, NOT_RUN, UNTOLD = "measured", "failed", "pruned", "not run", "without a number"
"""UNTOLD ran right, and the file that it came from tells no time or rate of it."""

KIND_OF = {"ok": MEASURED, "pruned": PRUNED, "unsupported": PRUNED, "not_run": NOT_RUN, "cancelled": NOT_RUN}
"""What a status is drawn as; every other status has failed."""

SHORT = {
    "pruned": "pruned", "unsupported": "unsupported", "compile_failed": "compile", "launch_failed": "launch", "runtime_failed": "runtime",
    "wrong_result": "wrong", "timeout": "timeout", "crashed": "crashed", "cancelled": "cancelled", "not_run": "not run",
    "implausible": "implausible",
}  # fmt: skip
"""A status in a cell of the heatmap."""

FLAGS = {"true", "false"}

RATES = {"latency": "median_us", "TFLOPS": "tflops", "GB/s": "gbps"}
"""What a chart may show of a timed config: the column of each."""


class Counts:
    """Instruction counts of each row. A text is read when it is asked for: a heatmap needs none of them."""

    def __init__(self, texts: Sequence[str | None]) -> None:
        self._texts = texts
        self._read: dict[str, dict[str, dict[str, int]] | None] = {}

    def __len__(self) -> int:
        return len(self._texts)

    def __getitem__(self, index: int) -> dict[str, dict[str, int]] | None:
        """{"sass": {class: n}}, or None where a row has none. Raises IndexError, as a list does."""
        text = self._texts[index]
        if text is None:
            return None
        if text not in self._read:
            self._read[text] = json.loads(text)
        return self._read[text]


@dataclass(frozen=True)
class SweepTable:
    """`rows` and `knobs` have the same index, 0 to n - 1 in the order of the requested configs."""

    view: SweepView
    rows: pd.DataFrame
    """The store's sweep_columns but config and instructions; and `kind`, `timed` (right, plausible, has a time),
    `leader` (not the same code as an earlier one), `shared_bytes`."""
    knobs: pd.DataFrame
    """A column a knob or pass config, values as words."""
    configs: list[dict[str, Any]]
    counted: Counts = field(default_factory=lambda: Counts(()))

    @property
    def problems(self) -> list[dict[str, Any]]:
        return self.view.request["problems"]

    @cached_property
    def values(self) -> dict[str, list[str]]:
        """Every knob's values as words: numbers ascending, the rest in the order of the configs."""
        return {name: ordered(self.knobs[name].unique()) for name in self.knobs}

    @property
    def varying(self) -> list[str]:
        """Knobs with more than one value that make a difference to the code."""
        idle = set(self.idle)
        return [name for name, values in self.values.items() if len(values) > 1 and name not in idle]

    @property
    def favourites(self) -> list[str]:
        """Varying knobs in the order in which they are good axes: numbers before words, flags last."""
        kind = {name: 0 if all(map(_is_number, self.values[name])) else 1 + (set(self.values[name]) <= FLAGS) for name in self.varying}
        return sorted(kind, key=lambda name: kind[name])

    @cached_property
    def idle(self) -> list[str]:
        """Knobs with more than one value that change nothing on this target: every config is the same code as one with the first value."""
        own = self.knobs[self.rows["leader"].to_numpy()]
        return [name for name, values in self.values.items() if len(values) > 1 and own[name].nunique() <= 1]

    def of_problem(self, problem: int) -> pd.DataFrame:
        return self.rows[self.rows["problem_index"] == problem]

    def timed(self, problem: int, leaders: bool = True) -> pd.DataFrame:
        """The timed rows of a problem, the best first, then the fastest, and last what is launch-bound; by default those with code of
        their own."""
        own = self.of_problem(problem)
        own = own[own["timed"] & (own["leader"] | (not leaders))]
        order = own.assign(other=own.index != self.best(problem)).sort_values(["launch_bound", "other", "median_us"], kind="stable")
        return own.loc[order.index]

    def best(self, problem: int) -> int | None:
        """Index of the row that is the best of a problem (see `measured.best_of`); None where none may be named so."""
        found = self.view.bests.get(problem)
        return self.index_of(found.ordinal) if found is not None else None

    def shares(self, problem: int, values: pd.Series, column: str = "median_us") -> pd.Series:
        """Speed relative to the best, 0 to 1: its time over others', or others' rates over its own. Those that are tied with it may be
        quicker by chance."""
        best, own = self.best(problem), self.of_problem(problem)
        found = own.loc[own["kind"] == MEASURED, column]
        is_time = column == RATES["latency"]
        base = self.rows.at[best, column] if best is not None else found.min() if is_time else found.max()
        return (base / values if is_time else values / base).clip(upper=1.0)

    def why_no_best(self, problem: int) -> str:
        """In a sentence without its full stop."""
        return why_no_best(self.of_problem(problem).to_dict("records"))

    def tied(self, problem: int) -> set[str]:
        """Trials that the best one does not clearly beat, the best among them; empty when it is alone."""
        found = self.view.tied.get(problem, [])
        return set(found) if len(found) > 1 else set()

    def index_of(self, ordinal: int) -> int | None:
        found = self.rows.index[self.rows["ordinal"] == ordinal]
        return int(found[0]) if len(found) else None


def table_of(view: SweepView, columns: Mapping[str, list]) -> SweepTable:
    """The table of what `Store.sweep_columns` gave."""
    rows = pd.DataFrame({name: values for name, values in columns.items() if name not in ("config", "instructions")})
    if rows.empty:
        rows = pd.DataFrame(columns=["ordinal", "problem_index", "status", "reason", "trial", "same_as", "median_us", "ended"])
    for name in ("implausible", "launch_bound", "short", "finalist"):
        rows[name] = rows[name].astype(bool) if name in rows else False
    status = rows["status"].where(~rows["implausible"], "implausible")
    rows["status"] = status
    rows["kind"] = status.map(KIND_OF).fillna(FAILED)
    told = [name for name in RATES.values() if name in rows]
    rows.loc[(rows["kind"] == MEASURED) & rows[told].isna().all(axis=1), "kind"] = UNTOLD
    rows["timed"] = (rows["kind"] == MEASURED) & rows["median_us"].notna()
    rows["leader"] = rows["same_as"].isna()
    for name in ("shared_static_bytes", "shared_dynamic_bytes"):
        rows[name] = pd.to_numeric(rows[name], errors="coerce") if name in rows else None
    rows["shared_bytes"] = rows["shared_static_bytes"].fillna(0) + rows["shared_dynamic_bytes"].fillna(0)
    configs = json.loads(f"[{','.join(columns.get('config', ()))}]")
    names = list(dict.fromkeys(name for config in configs for name in config))
    knobs = pd.DataFrame({name: _words([config.get(name) for config in configs]) for name in names}, index=rows.index)
    return SweepTable(view, rows, knobs, configs, Counts(columns.get("instructions", ())))


def _words(values: list) -> list[str]:
    """Values of a knob as words. Each distinct one is put in words once, where all are of one kind: True equals 1, and 1 equals 1.0."""
    kinds = set(map(type, values))
    if len(kinds) > 1 or not kinds <= {bool, int, float, str}:
        return [word(value) or "default" for value in values]
    told = {value: word(value) or "default" for value in set(values)}
    return [told[value] for value in values]


def ordered(words: Sequence[str]) -> list[str]:
    """Numbers ascending, then words in their own order."""
    numbers = [w for w in words if _is_number(w)]
    return sorted(numbers, key=float) + [w for w in words if not _is_number(w)]


def rated(tflops: float | None, gbps: float | None) -> str:
    """The rate that a config is judged by: TFLOPS, or GB/s where memory binds."""
    return rate(tflops, gbps, bound_by_rates(tflops, gbps))


def differing(ours: dict[str, Any], theirs: dict[str, Any]) -> dict[str, tuple[str, str]]:
    """{knob: (ours, theirs)} where two configs differ."""
    names = dict.fromkeys((*ours, *theirs))
    pairs = {name: (word(ours.get(name)) or "default", word(theirs.get(name)) or "default") for name in names}
    return {name: pair for name, pair in pairs.items() if pair[0] != pair[1]}


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True
