"""Every sample that a latency stands for, in the order it was taken."""

import pandas as pd
import plotly.graph_objects as go

from tileviz.formats import scale_us
from tileviz.records import Timing
from tileviz.ui.charts import style

GL_FROM = 1000
"""More points than this are drawn by WebGL."""


def samples_frame(timing: Timing) -> pd.DataFrame:
    """A row for each launch: its number from 1 and its time in microseconds."""
    return pd.DataFrame({"launch": range(1, timing.n + 1), "us": timing.samples_us})


def samples_figure(frame: pd.DataFrame) -> go.Figure:
    """A strip of points over the launches, with the median and the band from p10 to p90."""
    divisor, unit = scale_us(float(frame["us"].max()) if len(frame) else 0.0)
    values = frame["us"] / divisor
    low, middle, high = (float(values.quantile(q)) for q in (0.1, 0.5, 0.9))
    points = go.Scattergl if len(frame) > GL_FROM else go.Scatter
    strip = points(
        x=frame["launch"],
        y=values,
        mode="markers",
        marker={"size": 5, "opacity": 0.65, "color": style.OURS},
        hovertemplate=f"launch %{{x}}: %{{y:.4g}} {unit}<extra></extra>",
    )
    across = {"type": "rect", "xref": "paper", "x0": 0, "x1": 1}
    band = {**across, "y0": low, "y1": high, "fillcolor": style.OURS, "opacity": 0.14, "line": {"width": 0}}
    median = {**across, "type": "line", "y0": middle, "y1": middle, "line": {"color": style.OURS, "width": 1.5}}
    axes = {"title": {"text": "launch"}}, {"title": {"text": f"latency, {unit}"}}
    return go.Figure(strip, style.layout(252, *axes, shapes=[band, median]))
