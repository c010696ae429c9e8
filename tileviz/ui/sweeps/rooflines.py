"""The roofline with every config a point: rate against arithmetic intensity, under the ceilings of the device."""

import html
from typing import Any

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from tileviz.bench.ceilings import Ceilings
from tileviz.bench.peaks import Peaks, mode_of
from tileviz.formats import duration_us
from tileviz.records import Cost
from tileviz.ui.charts import style
from tileviz.ui.sweeps.progress import GL_FROM
from tileviz.ui.sweeps.table import SweepTable

SPREAD = 0.06
"""Configs of one problem have the same intensity; they are drawn this far left and right of it, as a share, to be told apart."""


def roofline_frame(table: SweepTable, costs: dict[int, Cost]) -> pd.DataFrame:
    """A row for each timed config with code of its own, of every problem: `intensity` in model FLOPs a byte, `tflops`, `us`, `ordinal`,
    `problem`, `best`. Problems without FLOPs are left out."""
    parts = []
    for number, cost in costs.items():
        rows = table.timed(number)
        if not cost.flops or not cost.bytes or rows.empty:
            continue
        parts.append(
            pd.DataFrame(
                {
                    "intensity": cost.flops / cost.bytes, "tflops": cost.flops / rows["median_us"] / 1e6, "us": rows["median_us"],
                    "ordinal": rows["ordinal"], "problem": number, "best": rows.index == table.best(number),
                }
            )
        )  # fmt: skip
    return pd.concat(parts) if parts else pd.DataFrame(columns=["intensity", "tflops", "us", "ordinal", "problem", "best"])


def roofline_figure(frame: pd.DataFrame, peaks: Peaks | None, ceilings: Ceilings | None, math_mode: str) -> go.Figure:
    """Log axes. The datasheet's ceilings are full lines, the measured ones dashed; without any, points alone."""
    jitter = 1 + SPREAD * (np.random.default_rng(0).random(len(frame)) - 0.5) * 2
    points: dict[str, Any] = {
        "type": "scattergl" if len(frame) > GL_FROM else "scatter", "mode": "markers", "x": (frame["intensity"] * jitter).to_numpy(),
        "y": frame["tflops"].to_numpy(), "customdata": frame["ordinal"].to_numpy(), "text": [duration_us(us) for us in frame["us"]],
        "marker": {
            "size": np.where(frame["best"], 11, 5), "color": np.where(frame["best"], style.OURS, style.OTHER_BASELINE),
        },
        "hovertemplate": "config %{customdata}: %{text}, %{y:.4g} TFLOPS<extra></extra>", "name": "a config",
    }  # fmt: skip
    lines = []
    span = (float(frame["intensity"].min()) / 8, float(frame["intensity"].max()) * 8)
    if peaks is not None:
        lines.append(_roof(span, peaks.tbps, peaks.tflops.get(peaks.mode(math_mode)), "solid", f"datasheet ({peaks.source})"))
    if ceilings is not None:
        rate = ceilings.tflops.get(mode_of(ceilings.tflops, math_mode))
        lines.append(_roof(span, ceilings.copy_tbps, rate, "dash", f"measured here on {ceilings.day}"))
    x = {"title": {"text": "FLOPs a byte (model: each input read once, each output written once)"}}
    drawn = [*lines, points]
    x |= style.log_ticks([v for trace in drawn for v in trace["x"]])
    y = {"title": {"text": "TFLOPS"}, **style.log_ticks([v for trace in drawn for v in trace["y"]])}
    return go.Figure({"data": drawn, "layout": style.layout(400, x, y, showlegend=True, legend=style.legend())})


def _roof(span: tuple[float, float], tbps: float, tflops: float | None, dash: str, name: str) -> dict[str, Any]:
    """min(bandwidth times intensity, arithmetic) over the span; TB/s times FLOPs a byte are TFLOPS."""
    low, high = span
    xs = [low, high] if tflops is None or not low < tflops / tbps < high else [low, tflops / tbps, high]
    ys = [min(x * tbps, tflops) if tflops is not None else x * tbps for x in xs]
    return {
        "type": "scatter", "mode": "lines", "x": xs, "y": ys, "name": html.escape(name), "hoverinfo": "name",
        "line": {"color": style.BEST_BASELINE, "width": 2, "dash": dash},
    }  # fmt: skip


def rate_figure(frame: pd.DataFrame, peaks: Peaks | None, ceilings: Ceilings | None) -> go.Figure:
    """For kernels that the field counts no FLOPs for: GB/s of every config, fastest first, under the bandwidth. Columns `gbps`, `us`,
    `ordinal`."""
    rows = frame.sort_values("gbps", ascending=False, kind="stable")
    points = {
        "type": "scattergl" if len(rows) > GL_FROM else "scatter", "mode": "markers", "x": list(range(1, len(rows) + 1)),
        "y": rows["gbps"].to_numpy(), "customdata": rows["ordinal"].to_numpy(), "text": [duration_us(us) for us in rows["us"]],
        "marker": {"size": 6, "color": style.OURS},
        "hovertemplate": "config %{customdata}: %{text}, %{y:.4g} GB/s<extra></extra>",
    }  # fmt: skip
    shapes = []
    for found, dash in ((peaks.tbps if peaks else None, "solid"), (ceilings.copy_tbps if ceilings else None, "dash")):
        if found:
            line = {"color": style.BEST_BASELINE, "dash": dash, "width": 2}
            shapes.append({"type": "line", "xref": "paper", "x0": 0, "x1": 1, "y0": found * 1e3, "y1": found * 1e3, "line": line})
    y = {"title": {"text": "GB/s (model bytes)"}, "rangemode": "tozero"}
    return go.Figure({"data": [points], "layout": style.layout(360, {"title": {"text": "config, fastest first"}}, y, shapes=shapes)})
