"""The page's charts for a notebook: the one module of the API that reaches into `ui`, and only when
a figure is asked for.

A chart has its place in `ui.charts`, whoever draws it. Importing it there brings Streamlit along,
whose theme would become Plotly's default for all other figures of a notebook; and its colours are
places that Streamlit fills in. Both are put right here.
"""

import contextlib
from collections.abc import Callable, Generator, Mapping
from typing import TYPE_CHECKING

from tileviz.errors import Limitation, UnknownName
from tileviz.records import Trial

if TYPE_CHECKING:
    import pandas as pd
    import plotly.graph_objects as go

    from tileviz.store import Store
    from tileviz.store.sweeps import SweepView

TRIAL_KINDS = ("latency", "samples", "clocks", "errors")
SWEEP_KINDS = ("top", "progress", "knobs")


def of_trial(trial: Trial, kind: str) -> "go.Figure":
    """A chart of a trial, of TRIAL_KINDS. Raises UnknownName, and Limitation where the trial lacks
    what the chart shows."""
    if kind not in TRIAL_KINDS:
        raise UnknownName.of("figure", kind, TRIAL_KINDS)
    with _charts():
        from tileviz.ui.charts import clocks, errors, latency, samples

    if kind == "latency":
        return _drawn(latency.latency_frame(trial), latency.latency_figure, "no time was measured")
    if kind == "clocks":
        return _drawn(
            clocks.clocks_frame(trial),
            clocks.clocks_figure,
            "the clocks of this device were not read",
        )
    if kind == "samples":
        if trial.timing is None:
            raise Limitation("there is nothing to draw: no time was measured")
        return _drawn(samples.samples_frame(trial.timing), samples.samples_figure, "no time was measured")
    found = trial.verdict.errors if trial.verdict is not None else None
    if found is None:
        raise Limitation("there is nothing to draw: where the errors lie was not kept")
    return _drawn(errors.errors_frame(found), errors.errors_figure, "where the errors lie was not kept")


def of_timings(frame: "pd.DataFrame") -> "go.Figure":
    """Bars with whiskers of a frame with the columns of `ui.charts.latency`."""
    with _charts():
        from tileviz.ui.charts import latency

    return _drawn(frame, latency.latency_figure, "no time was measured")


def of_counts(counts: Mapping[str, Mapping[str, int]]) -> "go.Figure":
    """Static counts of each class of instruction: {"sass": {"tensor_core": 8}}."""
    with _charts():
        from tileviz.ui.charts import counts as chart

    return _drawn(chart.counts_frame(counts), chart.counts_figure, "no instruction of a class is in it")


def of_sweep(store: "Store", view: "SweepView", problem: int, kind: str) -> "go.Figure":
    """A chart of one problem of a sweep, of SWEEP_KINDS. Raises as `of_trial`."""
    if kind not in SWEEP_KINDS:
        raise UnknownName.of("figure", kind, SWEEP_KINDS)
    with _charts():
        from tileviz.ui.sweeps import effects, progress, top
        from tileviz.ui.sweeps.table import table_of

    table, none = (
        table_of(view, store.sweep_columns(view.id)),
        "no config of this problem has a time",
    )
    if kind == "knobs":
        return _drawn(
            effects.effects_frame(table, problem),
            effects.effects_figure,
            "no knob of this sweep has more than one value",
        )
    if kind == "progress":
        return _drawn(
            progress.progress_frame(table, problem),
            lambda frame: progress.progress_figure(frame, "trial"),
            none,
        )
    trial = store.trial(view.best[problem]) if problem in view.best else None
    baselines = list(trial.baselines) if trial is not None else []
    return _drawn(
        top.top_frame(table, problem, top.BARS),
        lambda frame: top.top_figure(frame, baselines),
        none,
    )


def _drawn(frame: "pd.DataFrame", draw: "Callable[[pd.DataFrame], go.Figure]", none: str) -> "go.Figure":
    with _charts():
        from tileviz.ui.charts import alone

    if frame.empty:
        raise Limitation(f"there is nothing to draw: {none}")
    return alone.alone(draw(frame))


@contextlib.contextmanager
def _charts() -> Generator[None]:
    """Around an import from `ui`: Plotly's default theme stays what it was."""
    import plotly.io

    before = plotly.io.templates.default
    try:
        yield
    finally:
        plotly.io.templates.default = before
