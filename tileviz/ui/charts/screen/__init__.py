"""A chart on the page, which can fill the window.

A chart of cells also has a line about the cell under the pointer, a ring around the open cell, and
arrow keys from cell to cell."""

from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path

import plotly.graph_objects as go
import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from tileviz.ui.charts import colour, style
from tileviz.ui.parts import fullscreen

_HERE = Path(__file__).parent
_TOOLS = st.components.v2.component(
    "tileviz_chart_screen",
    html=(_HERE / "screen.html").read_text(),
    css=fullscreen.CSS + (_HERE / "screen.css").read_text(),
    js="\n".join([fullscreen.JS, (_HERE / "screen.js").read_text()]),
    isolate_styles=False,  # the chart that is styled lies outside of it
)

BAR_PX, LINE_PX = 34, 86
"""Height of the tools alone, and of them with the line of a cell."""

FADING = ("bar", "scatter", "scattergl")
"""Kinds of traces of which plotly fades all that was not clicked; here a click fades nothing."""

RING = (colour.BLACK, colour.WHITE)
"""Of the cell that is open: on any colour one of the two is seen."""

TEXT_PX = style.SMALL
"""What full screen brings to the size that was chosen: everything of a chart grows with its small words."""


@dataclass(frozen=True)
class Cell:
    """Where a cell lies."""

    x: str
    y: str
    axis: str
    """plotly's name of the horizontal axis of its panel: `x`, `x2`."""


def chart(figure: go.Figure, *, key: str, alt: str, on_select: Callable[[], None] | None = None) -> None:
    """Draws a chart that can fill the window. `on_select` is called when a point was clicked, which fades nothing."""
    with _box(figure, key, BAR_PX):
        _plot(figure, key, alt, style.CONFIG, on_select)
        _TOOLS(key=_tools(key), data={"chart": key, "cells": False, "text": TEXT_PX})


def cells(
    figure: go.Figure,
    *,
    key: str,
    alt: str,
    opened: Cell | None,
    on_select: Callable[[], None],
    on_open: Callable[[], None],
) -> None:
    """The same for a chart of cells: its last trace in each panel holds a cell a point, with the text of its line in `text` and what opens
    it in `customdata`. `on_select` is called for a click, `on_open` for a key: `walked_to` then gives the number."""
    with _box(figure, key, LINE_PX):
        _plot(figure, key, alt, {**style.CONFIG, "displayModeBar": False}, on_select)
        own = {"opened": asdict(opened) if opened else None, "ring": list(RING)}
        data = {"chart": key, "cells": True, "text": TEXT_PX, **own}
        _TOOLS(key=_tools(key), data=data, on_open_change=on_open)


def walked_to(key: str) -> int | None:
    """The number of the cell that a key went to. In the callback."""
    told = (st.session_state.get(_tools(key)) or {}).get("open")
    return int(told) if isinstance(told, (int, float)) and not isinstance(told, bool) else None


def _plot(figure: go.Figure, key: str, alt: str, config: dict, on_select: Callable[[], None] | None) -> None:
    if on_select is None:
        st.plotly_chart(figure, key=key, config=config, alt=alt, height="stretch")
        return
    for trace in figure.select_traces(selector=lambda trace: trace.type in FADING and trace.unselected.marker.opacity is None):
        trace.unselected.marker.opacity = 1
    st.plotly_chart(figure, key=key, config=config, alt=alt, height="stretch", on_select=on_select, selection_mode="points")


def _box(figure: go.Figure, key: str, below: int) -> DeltaGenerator:
    """Two containers: the outer one fills the window, the inner one is enlarged in it."""
    outer = st.container(key=f"screen_{key}", gap=None)
    return outer.container(key=f"page_{key}", height=int(figure.layout.height) + below, border=False, gap=None)


def _tools(key: str) -> str:
    return f"_tools_{key}"
