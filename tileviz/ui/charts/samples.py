"""Every sample that a latency stands for, in the order it was taken."""

import pandas as pd
import plotly.graph_objects as go

from tileviz.formats import duration_us, scale_us
from tileviz.measured import Timing
from tileviz.ui.charts import style

GL_FROM = 1000
"""More points than this are drawn by WebGL."""


CLIP_QUANTILE, CLIP_ROOM, CLIP_FROM = 0.98, 1.1, 1.5
"""The axis ends at this quantile times this room, where the slowest launch lies beyond that end this many times: one outlier would
press all others into a line."""


def samples_frame(timing: Timing) -> pd.DataFrame:
    """A row for each launch: its number from 1 and its time in microseconds."""
    return pd.DataFrame({"launch": range(1, timing.n + 1), "us": timing.samples_us})


def axis_top(frame: pd.DataFrame) -> float | None:
    """Microseconds where the axis is cut; None when every sample fits."""
    if not len(frame):
        return None
    top = CLIP_ROOM * float(frame["us"].quantile(CLIP_QUANTILE, interpolation="lower"))
    return top if float(frame["us"].max()) > CLIP_FROM * top else None


def above_axis(frame: pd.DataFrame) -> str:
    """`3 of 200 above the axis, highest 150 ms`; empty when every sample fits."""
    top = axis_top(frame)
    if top is None:
        return ""
    return f"{int((frame['us'] > top).sum()):,} of {len(frame):,} above the axis, highest {duration_us(float(frame['us'].max()))}"


def samples_figure(frame: pd.DataFrame) -> go.Figure:
    """A strip of points over the launches, with the median and the band from p10 to p90; a triangle at the top for each point above the
    axis."""
    top = axis_top(frame)
    divisor, unit = scale_us(top or (float(frame["us"].max()) if len(frame) else 0.0))
    values = frame["us"] / divisor
    low, middle, high = (float(values.quantile(q)) for q in (0.1, 0.5, 0.9))
    points = go.Scattergl if len(frame) > GL_FROM else go.Scatter
    strip = points(
        x=frame["launch"],
        y=values,
        mode="markers",
        marker={"size": 5, "color": style.OURS},
        hovertemplate=f"launch %{{x}}: %{{y:.4g}} {unit}<extra></extra>",
    )
    across = {"type": "rect", "xref": "paper", "x0": 0, "x1": 1}
    band = {**across, "y0": low, "y1": high, "fillcolor": style.OURS, "opacity": 0.14, "line": {"width": 0}}
    median = {**across, "type": "line", "y0": middle, "y1": middle, "line": {"color": style.OURS, "width": 1.5}}
    x, y = {"title": {"text": "launch"}}, {"title": {"text": f"latency, {unit}"}}
    if top is None:
        return go.Figure(strip, style.layout(252, x, y, shapes=[band, median]))
    end, bottom = top / divisor, float(values.min())
    cut = {**y, "range": [bottom - 0.05 * (end - bottom), end]}
    return go.Figure([strip, _above(frame[frame["us"] > top], end)], style.layout(252, x, cut, shapes=[band, median]))


def _above(frame: pd.DataFrame, end: float) -> go.Scatter:
    return go.Scatter(
        x=frame["launch"],
        y=[end] * len(frame),
        mode="markers",
        marker={"size": 9, "symbol": "triangle-up", "color": style.FAILED},
        cliponaxis=False,
        customdata=[duration_us(us) for us in frame["us"]],
        hovertemplate="launch %{x}: %{customdata}, above the axis<extra></extra>",
    )
