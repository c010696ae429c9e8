"""Bars of the bytes that a chain of launches moves through each level of memory, beside those of one
fused launch: a model, not a measurement."""

import html

import pandas as pd
import plotly.graph_objects as go

from tileviz.formats import size_bytes
from tileviz.records import MEMORY_LEVELS, Chain
from tileviz.ui.charts import style

TITLES = {"dram": "DRAM", "l2": "L2", "shared": "shared memory", "registers": "registers"}

COLUMNS = ["chain", "title", "role", "level", "step", "bytes", "formula"]

ROOM = 1.45
"""Length of an axis in longest bars, so that a total fits behind one."""

GAP = 0.025


def traffic_frame(chains: tuple[Chain, ...]) -> pd.DataFrame:
    """A row for each chain, level and step; bytes with the formula that gives them. A step that leaves a level alone has no row."""
    rows = [
        (chain.name, chain.title, "ours" if chain.ours else "other baseline", level, step.name, moved.bytes, moved.formula)
        for chain in chains
        for step in chain.steps
        for level, moved in step.moved.items()
    ]  # fmt: skip
    return pd.DataFrame(rows, columns=COLUMNS)


def traffic_figure(frame: pd.DataFrame) -> go.Figure:
    """A column of bars for each level, a bar for each chain, a piece of it for each step; formulas on hover."""
    levels = [level for level in MEMORY_LEVELS if (frame["level"] == level).any()]
    width = (1 - GAP * (len(levels) - 1)) / max(1, len(levels))
    data, axes, titles = [], {}, []
    for number, level in enumerate(levels):
        start, axis = number * (width + GAP), "" if number == 0 else str(number + 1)
        part = frame[frame["level"] == level]
        totals = part.groupby("title", sort=False)["bytes"].sum()
        data += [_piece(part[part["step"] == step], axis) for step in part["step"].unique()]
        data.append(_totals(totals, axis))
        hidden = {"showticklabels": False, "showgrid": False, "zeroline": False, "fixedrange": True}
        axes[f"xaxis{axis}"] = {"domain": [start, start + width], "range": [0, ROOM * float(totals.max())], "anchor": f"y{axis}", **hidden}
        axes[f"yaxis{axis}"] = _names(frame, axis, shown=number == 0)
        titles.append({"text": f"<b>{TITLES[level]}</b>", "x": start, **_ABOVE})
    base = style.layout(70 + 44 * frame["chain"].nunique(), axes.pop("xaxis", {}), axes.pop("yaxis", {}))
    base["margin"] = {"l": 8, "r": 8, "t": 28, "b": 8}
    return go.Figure(data, {**base, **axes, "barmode": "stack", "bargap": 0.35, "annotations": titles})


_ABOVE = {"y": 1, "xref": "paper", "yref": "paper", "xanchor": "left", "yanchor": "bottom", "showarrow": False}


def _piece(part: pd.DataFrame, axis: str) -> go.Bar:
    pieces = zip(part["bytes"], part["step"], part["formula"], strict=True)
    told = [[size_bytes(moved), html.escape(step), html.escape(formula)] for moved, step, formula in pieces]
    return go.Bar(
        x=part["bytes"], y=[html.escape(title) for title in part["title"]], orientation="h", xaxis=f"x{axis}", yaxis=f"y{axis}",
        marker={"color": [style.COLOURS[role] for role in part["role"]], "line": {"color": "rgba(255,255,255,0.75)", "width": 1}},
        customdata=told, hovertemplate="%{customdata[1]}: %{customdata[0]}<br>= %{customdata[2]}<extra></extra>",
    )  # fmt: skip


def _totals(totals: pd.Series, axis: str) -> go.Scatter:
    return go.Scatter(
        x=totals.values, y=[html.escape(title) for title in totals.index], mode="text", text=[f" {size_bytes(v)}" for v in totals],
        textposition="middle right", hoverinfo="skip", xaxis=f"x{axis}", yaxis=f"y{axis}", cliponaxis=False,
        textfont={"size": style.SMALL, "color": style.TEXT},
    )  # fmt: skip


def _names(frame: pd.DataFrame, axis: str, shown: bool) -> dict:
    order = [html.escape(title) for title in frame["title"].unique()][::-1]
    return style.axis({
        "type": "category", "categoryorder": "array", "categoryarray": order, "anchor": f"x{axis}", "showticklabels": shown,
        "fixedrange": True, "range": [-0.5, len(order) - 0.5],
    })  # fmt: skip
