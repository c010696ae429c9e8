"""The SM clock while ours and the baselines were timed: a thin line each, with what held it back."""

import html

import pandas as pd
import plotly.graph_objects as go

from tileviz.measured import Timing, fastest_baseline
from tileviz.records import Trial
from tileviz.ui.charts import style

COLUMNS = ["name", "role", "at", "mhz", "limit"]

CAPPED = "power cap"
"""The steady state of a heavy kernel; any other limit flags a value."""

ROOM_MHZ = 30.0
"""Least height of the axis above and below, so that a steady clock looks steady."""


def clocks_frame(trial: Trial) -> pd.DataFrame:
    """A row for each reading of ours and of each baseline that has some: `at` is its place in its own timing, 0 to 1; `limit` is empty or
    names what held the clock back."""
    best = fastest_baseline(trial.baselines)
    series = [("this config", "ours", trial.timing)]
    series += [(b.title, "best baseline" if b is best else "other baseline", b.timing) for b in trial.baselines]
    rows = [(name, role, *reading) for name, role, timing in series if timing is not None for reading in _readings(timing)]
    return pd.DataFrame(rows, columns=COLUMNS)


def clocks_figure(frame: pd.DataFrame) -> go.Figure:
    """Ours on top of the others; a mark on each reading that was held back, red unless it was the power cap alone."""
    data = []
    for name in reversed(list(frame["name"].unique())):
        rows = frame[frame["name"] == name]
        role = rows["role"].iloc[0]
        limited = rows["limit"] != ""
        data.append(
            go.Scatter(
                x=rows["at"],
                y=rows["mhz"],
                mode="lines+markers",
                line={"color": style.COLOURS[role], "width": 2 if role == "ours" else 1},
                marker={
                    "size": [6 if limit else 0.1 for limit in limited],
                    "color": [style.OTHER_BASELINE if limit == CAPPED else style.FAILED for limit in rows["limit"]],
                },
                customdata=[
                    f"{html.escape(name)}: {mhz:,.0f} MHz{f', {html.escape(limit)}' if limit else ''}"
                    for mhz, limit in zip(rows["mhz"], rows["limit"], strict=True)
                ],
                hovertemplate="%{customdata}<extra></extra>",
            )
        )
    low, high = float(frame["mhz"].min()), float(frame["mhz"].max())
    room = max(ROOM_MHZ, 0.1 * (high - low))
    x = {"showticklabels": False, "showgrid": False, "zeroline": False, "title": {"text": "start to end of each timing", "standoff": 2}}
    return go.Figure(data, style.layout(120, x, {"title": {"text": "SM, MHz"}, "range": [low - room, high + room], "nticks": 3}))


def _readings(timing: Timing) -> list[tuple[float, float, str]]:
    limits = {at: words for first, last, words in timing.clock_limits for at in range(first, last + 1)}
    end = max(1, len(timing.sm_clocks_mhz) - 1)
    return [(at / end, mhz, limits.get(at, "")) for at, mhz in enumerate(timing.sm_clocks_mhz)]
