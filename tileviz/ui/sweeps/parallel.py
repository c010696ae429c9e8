"""Parallel coordinates: each line a config, each axis a knob, the last one the time."""

import html

import pandas as pd
import plotly.graph_objects as go

from tileviz.formats import scale_us
from tileviz.ui.charts import style
from tileviz.ui.charts.colour import SCALE
from tileviz.ui.sweeps.table import SweepTable

MOST = 2000
"""Lines that are drawn: more are a wall of colour, and slow."""


def parallel_frame(table: SweepTable, problem: int, most: int = MOST) -> pd.DataFrame:
    """The fastest timed configs, a column for each varying knob (as words) and `us`."""
    rows = table.timed(problem).head(most)[::-1]  # the fastest are drawn last, over the others
    return table.knobs.loc[rows.index, table.varying].assign(us=rows["median_us"])


def parallel_figure(frame: pd.DataFrame, table: SweepTable) -> go.Figure:
    divisor, unit = scale_us(float(frame["us"].median()) if len(frame) else 0.0)
    dimensions = []
    for knob in frame.columns.drop("us"):
        values = table.values[knob]
        places = {value: i for i, value in enumerate(values)}
        dimensions.append(
            {
                "label": html.escape(knob), "values": frame[knob].map(places).tolist(),
                "tickvals": list(range(len(values))),
                "ticktext": [html.escape(v) for v in values], "range": [-0.2, len(values) - 0.8],
            }
        )  # fmt: skip
    us = (frame["us"] / divisor).tolist()
    dimensions.append({"label": f"latency, {unit}", "values": us})
    speed = (
        (frame["us"].iloc[-1] / frame["us"]).clip(upper=1).tolist() if len(frame) else []
    )  # the best is drawn last
    words = {"size": style.SMALL, "color": style.TEXT}
    line = {
        "color": speed, "colorscale": SCALE, "showscale": True, "cmin": min(speed, default=0),
        "cmax": 1,
        "colorbar": style.SPEED_BAR,
    }  # fmt: skip
    data = [
        {
            "type": "parcoords", "dimensions": dimensions, "line": line,
            "unselected": {"line": {"opacity": 0.06}},
            "labelfont": {"size": style.NAME, "color": style.TEXT}, "tickfont": words,
            "rangefont": words,
        }
    ]  # fmt: skip
    return go.Figure(
        {"data": data, "layout": {"height": 400, "margin": {"l": 56, "r": 8, "t": 44, "b": 24}}}
    )
