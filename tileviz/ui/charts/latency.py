"""Latency of our kernel and of each baseline, with the spread of the samples."""

import html

import pandas as pd
import plotly.graph_objects as go

from tileviz.formats import duration_us, scale_us
from tileviz.measured import Timing, fastest_baseline
from tileviz.records import Trial
from tileviz.ui.charts import style
from tileviz.ui.parts import kernel_names

COLUMNS = ["name", "role", "median_us", "p10_us", "p90_us", "n", "timer", "l2", "launch_bound", "floor_us", "kernel"]

CUT_AT = 4.0
"""A bar longer than this many times the longer of ours and the best baseline is cut: one slow baseline would hide all differences."""

WHISKER_AT = 2.0
"""A whisker may take the axis to this many times its own median; one that is longer is cut."""

ROOM = 1.04
"""The axis goes on behind its end by this factor."""

FLOOR_FROM = 0.02
"""Share of the longest bar from which the empty kernel's line is worth drawing."""


def latency_frame(trial: Trial) -> pd.DataFrame:
    """A row for ours and for each baseline that has a time, ours first, then the fastest; times in microseconds.

    One chart never mixes timers: a baseline timed otherwise than ours is left out (and listed with its reason beside the chart).
    """
    best = fastest_baseline(trial.baselines)
    rows = []
    if trial.timing is not None and trial.timing.n:
        rows.append(_row("this config", "ours", trial.timing, trial.kernel))
    timed = [(b, b.timing) for b in trial.baselines if b.timing is not None and b.timing.n and _same_timer(trial.timing, b.timing)]
    for baseline, timing in sorted(timed, key=lambda each: each[1].median_us):
        role = "best baseline" if best is not None and baseline.name == best.name else "other baseline"
        failed = baseline.status != "ok" or (baseline.verdict is not None and not baseline.verdict.ok)
        launched, _ = kernel_names.split_picked(baseline.kernel_name)
        rows.append(_row(baseline.title, "failed" if failed else role, timing, kernel_names.readable(launched)))
    return pd.DataFrame(rows, columns=COLUMNS)


def latency_figure(frame: pd.DataFrame) -> go.Figure:
    """Horizontal bars of the median; whiskers from p10 to p90; each bar's value stands under its name."""
    end = axis_end(frame)
    divisor, unit = scale_us(end)
    rows = frame.iloc[::-1]
    values = rows[["median_us", "p10_us", "p90_us"]] / divisor
    told = [
        [duration_us(row.p10_us), duration_us(row.median_us), duration_us(row.p90_us), row.n, row.timer, row.l2, html.escape(row.kernel)]
        for row in rows.itertuples()
    ]
    whiskers = {"array": values["p90_us"] - values["median_us"], "arrayminus": values["median_us"] - values["p10_us"]}
    bars = go.Bar(
        x=values["median_us"],
        y=[_label(row.name, row.median_us, _mark(row, end)) for row in rows.itertuples(index=False)],
        orientation="h",
        marker={"color": [style.COLOURS[role] for role in rows["role"]]},
        error_x={"type": "data", "symmetric": False, "color": style.ERROR_BAR, "thickness": 1.5, "width": 5, **whiskers},
        customdata=told,
        hovertemplate="median %{customdata[1]}, p10 %{customdata[0]}, p90 %{customdata[2]}<br>"
        "%{customdata[3]} samples, %{customdata[4]}, L2 %{customdata[5]}<br>%{customdata[6]}<extra></extra>",
    )
    x = {"title": {"text": f"latency, {unit} (median; whiskers p10 to p90)"}, "range": [0, ROOM * end / divisor]}
    return go.Figure(bars, style.layout(80 + 50 * max(1, len(frame)), x, {"type": "category"}, **_floor(frame, divisor)))


def axis_end(frame: pd.DataFrame) -> float:
    """Microseconds at the right end: the longest whisker, or where longer bars and whiskers are cut."""
    if not len(frame):
        return 0.0
    reach = frame["p90_us"].clip(upper=WHISKER_AT * frame["median_us"])
    near = reach[frame["role"].isin(("ours", "best baseline"))].max()
    longest = float(reach.max())
    return min(longest, CUT_AT * float(near)) if near == near else longest


def _floor(frame: pd.DataFrame, divisor: float) -> dict:
    """A dotted line where an empty kernel ends, unless it would lie on the axis."""
    known = frame["floor_us"].dropna()
    if not len(known) or not known.iloc[0] > FLOOR_FROM * axis_end(frame):
        return {}
    at = float(known.iloc[0]) / divisor
    look = {"color": style.ERROR_BAR, "width": 1.5, "dash": "dot"}
    line = {"type": "line", "x0": at, "x1": at, "yref": "paper", "y0": 0, "y1": 1, "line": look}
    words = {
        "x": at, "yref": "paper", "y": 1, "text": f"empty kernel {duration_us(float(known.iloc[0]))}", "showarrow": False,
        "xanchor": "left", "yanchor": "bottom", "font": {"size": style.SMALL, "color": style.TEXT},
    }  # fmt: skip
    return {"shapes": [line], "annotations": [words], "margin": {"l": 8, "r": 16, "t": 24, "b": 8}}


def _label(name: str, median_us: float, mark: str) -> str:
    return f"{html.escape(name)}<br><b>{duration_us(median_us)}</b>{mark}"


def _mark(row, end: float) -> str:
    if row.launch_bound:
        return ", launch-bound"
    if row.median_us > end:
        return ", bar cut"
    return f", p90 {duration_us(row.p90_us)} cut" if row.p90_us > ROOM * end else ""


def _row(name: str, role: str, timing: Timing, kernel: str) -> list:
    own = [name, role, timing.median_us, timing.p10_us, timing.p90_us, timing.n, timing.timer, timing.l2]
    return [*own, timing.launch_bound, timing.floor_us, kernel]


def _same_timer(ours: Timing | None, theirs: Timing) -> bool:
    return ours is None or (ours.timer == theirs.timer and ours.l2 == theirs.l2)
