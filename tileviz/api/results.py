"""What `run` and `compile` give: a stored trial, with the ways to look at it."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from tileviz import formats
from tileviz.api import code, figures
from tileviz.api.code import Code
from tileviz.api.tables import frame_of, table
from tileviz.bench.roofline import bound_by_rates
from tileviz.errors import TilevizError
from tileviz.measured import BaselineResult, Comparison, Timing, fastest_baseline
from tileviz.records import Artifact, Config, Problem, Resources, Trial
from tileviz.records_json import to_json
from tileviz.store import Store

if TYPE_CHECKING:
    import pandas as pd
    import plotly.graph_objects as go


@dataclass(frozen=True)
class _OfTrial:
    """A trial and the store that it lies in."""

    trial: Trial
    """The record, with everything that is known of it."""
    store: Store = field(repr=False, compare=False)

    @property
    def id(self) -> str:
        """What `tileviz.load` and `python -m tileviz show` take."""
        return self.trial.trial

    @property
    def kernel(self) -> str:
        return self.trial.kernel

    @property
    def problem(self) -> Problem:
        """Every size, dtype and flag, also those that were not given."""
        return self.trial.problem

    @property
    def config(self) -> Config:
        """A value for every knob, also for those that were not given."""
        return self.trial.config

    @property
    def ok(self) -> bool:
        """Whether all went well; `status` and `reason` say what did not."""
        return self.trial.status == "ok"

    @property
    def status(self) -> str:
        """`ok`, `wrong_result`, `pruned`, `compile_failed`, `timeout`, ...: one of
        `records.STATUSES`."""
        return self.trial.status

    @property
    def reason(self) -> str:
        """A sentence where the status is not `ok`, else ""."""
        return self.trial.reason

    @property
    def resources(self) -> Resources:
        """Registers, shared memory and occupancy; None stands where the target has no such value."""
        return self.trial.resources

    @property
    def artifact(self) -> Artifact | None:
        """The generated code; None where there is none, or it is no longer stored."""
        return self.store.artifact(self.trial.artifact) if self.trial.artifact else None

    def code(self, text: str = "source") -> Code:
        """One text of its code: `source`, `ir`, `ptx` or `sass`. Raises Limitation, with the
        reason, where it has none."""
        return code.code_of(self.trial, self.artifact, text)

    def document(self) -> dict[str, Any]:
        """The same as plain JSON values, as `python -m tileviz show --json` prints them."""
        return to_json(self.trial)

    def expect_ok(self) -> None:
        """Raises TilevizError with the status and the reason unless all went well: for scripts that
        should stop then."""
        if not self.ok:
            raise TilevizError(f"{self._title()}: {self._status()}", self.trial.detail)

    def _title(self) -> str:
        return f"{self.kernel} {formats.assignments(self.problem)}"

    def _status(self) -> str:
        return f"{self.status}: {self.reason}" if self.reason else self.status


@dataclass(frozen=True, repr=False)
class Result(_OfTrial):
    """One config, compiled, checked and timed, beside the baselines."""

    @property
    def latency_us(self) -> float | None:
        """Median over all samples; None without a time."""
        return _median(self.trial.timing)

    @property
    def timing(self) -> Timing | None:
        """Every sample, and how it was taken."""
        return self.trial.timing

    @property
    def tflops(self) -> float | None:
        return self.trial.tflops

    @property
    def gbps(self) -> float | None:
        return self.trial.gbps

    @property
    def baselines(self) -> tuple[BaselineResult, ...]:
        return self.trial.baselines

    @property
    def fastest_baseline(self) -> BaselineResult | None:
        """The quickest one that is right and whose time may be compared with ours."""
        return fastest_baseline(self.baselines)

    def frame(self) -> "pd.DataFrame":
        """A row for ours, then one for each baseline; times in microseconds. `ours_is` is their
        median over ours, `low` and `high` its interval at 95 %."""
        return frame_of(self._rows())

    def figure(self, kind: str = "latency") -> "go.Figure":
        """`latency` beside the baselines, all `samples`, the SM's `clocks`, or where the `errors`
        lie. Raises Limitation where the trial lacks what it shows, UnknownName for another kind."""
        return figures.of_trial(self.trial, kind)

    def _rows(self) -> list[dict[str, Any]]:
        ours = {
            "name": "this config",
            "status": self.status,
            **_times(self.trial.timing),
            **_compared(None),
        }
        error = self.trial.verdict.rel_error if self.trial.verdict else None
        rows = [{**ours, "rel_error": error, "reason": self.reason}]
        for baseline in self.baselines:
            own = {
                "name": baseline.title,
                "status": baseline.status,
                **_times(baseline.timing),
                **_compared(baseline.comparison),
            }
            error = baseline.verdict.rel_error if baseline.verdict else None
            rows.append({**own, "rel_error": error, "reason": baseline.reason})
        return rows

    def __repr__(self) -> str:
        return f"{self._title()}: {', '.join(filter(None, (self._status(), *self._numbers())))}"

    def _numbers(self) -> list[str]:
        if self.latency_us is None:
            return []
        best = self.fastest_baseline
        rate = formats.rate(self.tflops, self.gbps, bound_by_rates(self.tflops, self.gbps))
        against = formats.compared_with(best.comparison, best.title) if best is not None and best.comparison is not None else ""
        return [formats.duration_us(self.latency_us), "" if rate == "-" else rate, against]

    def _repr_html_(self) -> str:
        return table(repr(self), self._rows(), f"{formats.assignments(self.config)}; trial {self.id}")


@dataclass(frozen=True, repr=False)
class Compiled(_OfTrial):
    """One config, compiled for a target that need not be here."""

    @property
    def target(self) -> str:
        return self.trial.target

    @property
    def counts(self) -> Mapping[str, Mapping[str, int]]:
        """How often each class of instruction is written, by text: {"sass": {"tensor_core": 8}}."""
        return self.trial.instructions

    def frame(self) -> "pd.DataFrame":
        """A row for each class of instruction that occurs, a column for each text."""
        return frame_of(self._rows())

    def figure(self) -> "go.Figure":
        """How often each class of instruction is written, text by text."""
        return figures.of_counts(self.counts)

    def _rows(self) -> list[dict[str, Any]]:
        classes = dict.fromkeys(name for found in self.counts.values() for name, n in found.items() if n)
        return [{"class": name, **{text: found.get(name, 0) for text, found in self.counts.items()}} for name in classes]

    def __repr__(self) -> str:
        return f"{self._title()} for {self.target}: {self._status()}"

    def _repr_html_(self) -> str:
        return table(repr(self), self._rows(), f"{formats.assignments(self.config)}; trial {self.id}")


def of(trial: Trial, store: Store) -> Result | Compiled:
    """The view of a stored trial."""
    return Compiled(trial, store) if trial.device is None else Result(trial, store)


def _times(timing: Timing | None) -> dict[str, Any]:
    names = ("median_us", "p10_us", "p90_us")
    found = {name: getattr(timing, name) if timing is not None and timing.n else None for name in names}
    return {
        "latency_us": found["median_us"],
        "p10_us": found["p10_us"],
        "p90_us": found["p90_us"],
        "samples": timing.n if timing else 0,
    }


def _compared(found: Comparison | None) -> dict[str, Any]:
    if found is None:
        return {"ours_is": None, "low": None, "high": None}
    return {"ours_is": found.ratio, "low": found.low, "high": found.high}


def _median(timing: Timing | None) -> float | None:
    return timing.median_us if timing is not None and timing.n else None
