"""The best time so far, drawn over seconds and over trials."""

import pandas as pd
import plotly.graph_objects as go

from tileviz.formats import duration_us, scale_us
from tileviz.ui.charts import style
from tileviz.ui.sweeps.table import NOT_RUN, SweepTable

GL_FROM = 1000
"""More points than this are drawn by WebGL."""

COLUMNS = ["trial", "seconds", "us", "best_us", "kind", "ordinal"]


def progress_frame(table: SweepTable, problem: int) -> pd.DataFrame:
    """A row for each config that was tried, in the order in which they ended: its number from 1, seconds since the sweep started, its
    median and the fastest so far in microseconds (NaN where there is none). A launch-bound one is not ranked. The config that is named the
    best may be another one of those that are tied."""
    rows = table.of_problem(problem)
    rows = rows[rows["leader"] & rows["ended"].notna() & (rows["kind"] != NOT_RUN)].sort_values("ended", kind="stable")
    if rows.empty:
        return pd.DataFrame(columns=COLUMNS)
    us = rows["median_us"].where(rows["timed"]).astype(float)
    ranked = us.where(~rows["launch_bound"])
    began = min(table.view.started or rows["ended"].iloc[0], rows["ended"].iloc[0])
    return pd.DataFrame(
        {
            "trial": range(1, len(rows) + 1), "seconds": (rows["ended"] - began).to_numpy(), "us": us.to_numpy(),
            "best_us": ranked.cummin().ffill().to_numpy(), "kind": rows["kind"].to_numpy(), "ordinal": rows["ordinal"].to_numpy(),
        }
    )  # fmt: skip


def progress_figure(frame: pd.DataFrame, against: str) -> go.Figure:
    """Every config a point, those without a time as crosses at the top, the fastest so far as steps. `against`: `seconds` or `trial`."""
    divisor, unit = scale_us(float(frame["us"].median()) if frame["us"].notna().any() else 0.0)
    timed, failed = frame[frame["us"].notna()], frame[frame["us"].isna()]
    kind = "scattergl" if len(frame) > GL_FROM else "scatter"
    told = [duration_us(us) for us in timed["us"]]
    top = float(timed["us"].max() / divisor) if len(timed) else 1.0
    data = [
        {
            "type": kind, "mode": "markers", "x": timed[against], "y": timed["us"] / divisor, "customdata": timed["ordinal"], "text": told,
            "marker": {"size": 5, "color": style.OTHER_BASELINE}, "name": "a config",
            "hovertemplate": "config %{customdata}: %{text}<extra></extra>",
        },
        {
            "type": kind, "mode": "markers", "x": failed[against], "y": [top] * len(failed), "customdata": failed["ordinal"],
            "text": failed["kind"], "marker": {"size": 6, "symbol": "x", "color": style.FAILED}, "name": "without a time",
            "hovertemplate": "config %{customdata}: %{text}<extra></extra>",
        },
        {
            "type": kind, "mode": "lines", "x": frame[against], "y": frame["best_us"] / divisor, "name": "fastest so far",
            "line": {"shape": "hv", "color": style.OURS, "width": 2.5}, "hoverinfo": "skip",
        },
    ]  # fmt: skip
    y = {"title": {"text": f"latency, {unit}"}, **style.log_ticks((timed["us"] / divisor).tolist())}
    title = "seconds since the sweep started" if against == "seconds" else "configs tried"
    return go.Figure({"data": data, "layout": style.layout(320, {"title": {"text": title}}, y)})
