"""Latency against what a config takes: registers, spills, shared memory, occupancy, or how often an
instruction class is written."""

import html

import pandas as pd
import plotly.graph_objects as go

from tileviz import lens
from tileviz.formats import assignments, duration_us, scale_us
from tileviz.ui.charts import style
from tileviz.ui.charts.colour import SCALE
from tileviz.ui.parts.resources import TEXT_NAMES
from tileviz.ui.sweeps.progress import GL_FROM
from tileviz.ui.sweeps.table import SweepTable

MEASURES = {
    "registers a thread": "registers", "spills and stack, B": "spill_bytes",
    "shared memory, B": "shared_bytes", "occupancy": "occupancy",
    "blocks an SM": "blocks_per_sm", "threads launched": "threads_launched",
    "tiles on the stack, B": "stack_bytes",
    "compile time, s": "compile_s",
}  # fmt: skip
"""A measure's title and its column."""

MOST_TOLD = 2000
"""Points up to which each tells its whole config on hover; beyond that its number and time."""


def measures(table: SweepTable) -> list[str]:
    """What there is to set latency against, in this sweep: resources, then counts as
    `SASS: Tensor core`."""
    found = [
        title
        for title, column in MEASURES.items()
        if column in table.rows and _says(table.rows[column])
    ]
    present = {
        (text, name)
        for counts in table.counted
        if counts
        for text, own in counts.items()
        for name, n in own.items()
        if n
    }
    for text, title in TEXT_NAMES.items():
        found += [f"{title}: {cls.title}" for cls in lens.CLASSES if (text, cls.name) in present]
    return found


def against_frame(table: SweepTable, problem: int, measure: str) -> pd.DataFrame:
    """`x` (the measure), `us`, `share` of the best speed, and `ordinal` of each timed config with
    code of its own."""
    rows = table.timed(problem)
    if measure in MEASURES:
        x = pd.to_numeric(rows[MEASURES[measure]], errors="coerce")
    else:
        text, name = _class_of(measure)
        x = pd.Series(
            [(table.counted[i] or {}).get(text, {}).get(name, 0) for i in rows.index],
            index=rows.index,
            dtype=float,
        )
    frame = pd.DataFrame(
        {
            "x": x,
            "us": rows["median_us"],
            "share": table.shares(problem, rows["median_us"]),
            "ordinal": rows["ordinal"],
        }
    )
    return frame[frame["x"].notna()]


def against_figure(frame: pd.DataFrame, table: SweepTable, measure: str) -> go.Figure:
    """A point a config; the colour is its speed relative to the best. WebGL from a thousand points
    on."""
    divisor, unit = scale_us(float(frame["us"].median()) if len(frame) else 0.0)
    text = [duration_us(us) for us in frame["us"]]
    if len(frame) <= MOST_TOLD:
        text = [
            f"{t}<br>{html.escape(assignments(table.configs[i]))}"
            for t, i in zip(text, frame.index, strict=True)
        ]
    marker = {
        "size": 7 if len(frame) <= GL_FROM else 5,
        "line": {
            "width": 0.6,
            "color": style.TEXT,
        },  # the bright end of the scale has no contrast with a white page
        "color": frame["share"].to_numpy(),
        "colorscale": SCALE,
        "cmax": 1,
    }
    marker |= {"colorbar": style.SPEED_BAR, "showscale": True}
    points = {
        "type": "scattergl" if len(frame) > GL_FROM else "scatter", "mode": "markers",
        "x": frame["x"].to_numpy(),
        "y": (frame["us"] / divisor).to_numpy(), "customdata": frame["ordinal"].to_numpy(),
        "text": text, "marker": marker,
        "hovertemplate": f"config %{{customdata}}: %{{text}}<br>{html.escape(measure)}:"
        f" %{{x}}<extra></extra>",
    }  # fmt: skip
    y = {"title": {"text": f"latency, {unit}"}, **style.log_ticks((frame["us"] / divisor).tolist())}
    return go.Figure(
        {
            "data": [points],
            "layout": style.layout(400, {"title": {"text": html.escape(measure)}}, y),
        }
    )


def _says(column: pd.Series) -> bool:
    """True for a column with more than one known value."""
    return pd.to_numeric(column, errors="coerce").nunique() > 1


def _class_of(measure: str) -> tuple[str, str]:
    title, _, cls = measure.partition(": ")
    return next(k for k, v in TEXT_NAMES.items() if v == title), next(
        c.name for c in lens.CLASSES if c.title == cls
    )
