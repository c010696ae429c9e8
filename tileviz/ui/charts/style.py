"""What a colour means, the same on every chart and in both themes, and how large a chart's words
are."""

import html
import math
from collections.abc import Sequence

from streamlit.elements.lib.streamlit_plotly_theme import BG_COLOR, GRAY_90

OURS = "#4a8cdb"
BEST_BASELINE = "#c67800"
OTHER_BASELINE = "#848990"
FAILED = "#be2f38"
PRUNED = "#9319f2"

COLOURS = {
    "ours": OURS,
    "best baseline": BEST_BASELINE,
    "other baseline": OTHER_BASELINE,
    "failed": FAILED,
    "pruned": PRUNED,
}
"""Each has 3:1 or more on the pages of both themes, and any two can be told apart without red,
green or blue cones (tested). Words are never in these: no one colour has 4.5:1 on white and on
black."""

PRUNED_CELL = "#a66fcb"
"""A whole cell of PRUNED would shout."""

TEXT = GRAY_90
"""The place of the theme's text colour in a figure: Streamlit puts the colour of the theme there,
which changes in the browser."""

GROUND = BG_COLOR
"""The same for the page's own colour."""

ERROR_BAR = TEXT

SMALL, NAME = 12, 13
"""Pixels of ticks and notes, and of names of axes."""

CONFIG = {"displaylogo": False, "modeBarButtonsToRemove": ["select2d", "lasso2d", "autoScale2d"]}
"""For `st.plotly_chart(config=)`."""


def layout(height: int, x: dict, y: dict, **more) -> dict:
    """Small margins, no legend; backgrounds are the theme's. Given to the figure when it is made:
    updating one later is slow."""
    return {
        "height": height,
        "font": {"size": SMALL, "color": TEXT},
        "margin": {"l": 8, "r": 16, "t": 8, "b": 8},
        "showlegend": False,
        "hovermode": "closest",
        "dragmode": False,
        "xaxis": axis({"automargin": True, **x}),
        "yaxis": axis({"automargin": True, **y}),
        **more,
    }


def axis(own: dict) -> dict:
    """An axis whose words can be read: ticks of SMALL, its name of NAME, both in the theme's text
    colour."""
    told = {"tickfont": {"size": SMALL, "color": TEXT}, **own}
    if "title" in own:
        told["title"] = {"standoff": 10, **own["title"], "font": {"size": NAME, "color": TEXT}}
    return told


def legend(**more) -> dict:
    """In a row above the picture."""
    return {
        "orientation": "h",
        "y": 1.0,
        "yanchor": "bottom",
        "x": 0,
        "font": {"size": SMALL, "color": TEXT},
        **more,
    }


def colour_bar(title: str, side: str = "top", **more) -> dict:
    """Beside a picture; with its title at the `side` `right` the bar takes less room across."""
    words = {"size": SMALL, "color": TEXT}
    return {
        "title": {"text": title, "side": side, "font": words},
        "tickfont": words,
        "thickness": 10,
        "outlinewidth": 0,
        **more,
    }


SPEED_BAR = colour_bar("speed,<br>% of best", tickformat=".0%")

MOST_TICKS = 9


def log_ticks(values: Sequence[float]) -> dict:
    """Ticks of a logarithmic axis over these values: whole numbers such as 100, 200, 500, never the
    bare 2 and 5 of plotly. Between two powers of ten as many as MOST_TICKS allows."""
    known = [v for v in values if v > 0 and math.isfinite(v)]
    if not known:
        return {"type": "log"}
    low, high = min(known) / 1.05, max(known) * 1.05
    ticks = _round_numbers(low, high)
    return {"type": "log", "tickvals": ticks, "ticktext": [f"{tick:,.10g}" for tick in ticks]}


def _round_numbers(low: float, high: float) -> list[float]:
    """At most MOST_TICKS of them from low to high, even in a logarithm; where both are near each
    other, at equal steps."""
    powers = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    if high > 3 * low:
        for steps in ((1, 1.5, 2, 3, 4, 5, 7), (1, 2, 5), (1, 3), (1,)):
            ticks = [
                step * 10.0**power
                for power in powers
                for step in steps
                if low <= step * 10.0**power <= high
            ]
            if len(ticks) <= MOST_TICKS:
                return ticks
        return ticks[:: -(-len(ticks) // MOST_TICKS)]
    step = 10.0 ** math.floor(math.log10(high - low))
    step *= next(more for more in (1, 2, 5) if (high - low) / (more * step) <= MOST_TICKS - 2)
    return [n * step for n in range(math.ceil(low / step), math.floor(high / step) + 1)]


def size_ticks(sizes: Sequence[float]) -> dict:
    """Ticks of a logarithmic axis of sizes, at sizes that were measured: 128, 1k, 16k. Of those
    that would touch some stay away."""
    there = sorted({size for size in sizes if size > 0})
    apart = math.log2(there[-1] / there[0]) / MOST_TICKS if there else 0
    ticks: list[float] = []
    for size in there:
        if not ticks or math.log2(size / ticks[-1]) >= apart:
            ticks.append(size)
    return {"type": "log", "tickvals": ticks, "ticktext": [size_word(tick) for tick in ticks]}


def size_word(size: float) -> str:
    """`16k` for 16,384: a k is 1,024, an M 1,048,576; what is no multiple of them is written
    out."""
    for unit, name in ((1 << 20, "M"), (1 << 10, "k")):
        if size >= unit and size % unit == 0:
            return f"{size // unit:,.0f}{name}"
    return f"{size:,.15g}"


def line_labels(
    lines: Sequence[tuple[float, str, str]], end: float
) -> tuple[list[dict], list[dict], int]:
    """Shapes and annotations of vertical lines at (x, name, colour), and the pixels that the names
    need above the picture. Each name has a row of its own to which its line goes up, in an order in
    which no line goes through a name that stands beside one. `end` is the axis' right end; a line
    beyond it is a name with an arrow."""
    left = sorted(
        line for line in lines if line[0] > end / 2
    )  # their names stand left of them, the first lowest
    right = sorted((line for line in lines if line[0] <= end / 2), reverse=True)
    shapes, notes = [], []
    for row, (x, name, colour) in enumerate([*left, *right]):
        middle = ROW_PX * row + ROW_PX // 2
        side = "right" if x > end / 2 else "left"
        told = {
            "text": html.escape(name) + (" \u2192" if x > end else ""),
            "font": {"size": SMALL, "color": TEXT},
            "bgcolor": GROUND,
        }
        at = {
            "x": min(x, end),
            "y": 1,
            "yref": "paper",
            "yshift": middle,
            "xshift": 4 if side == "left" else -4,
        }
        notes.append(
            {**told, **at, "xanchor": side, "yanchor": "middle", "showarrow": False, "borderpad": 1}
        )
        if x <= end:
            look = {
                "type": "line",
                "x0": x,
                "x1": x,
                "yref": "paper",
                "line": {"color": colour, "width": 2, "dash": "dash"},
            }
            up = {"ysizemode": "pixel", "yanchor": 1, "y0": 0, "y1": middle + ROW_PX // 2}
            shapes += [{**look, "y0": 0, "y1": 1}, {**look, **up}]
    shapes.sort(key=lambda shape: -shape["x0"])  # the fastest lies on top
    return shapes, notes, ROW_PX * len(lines) + 8


ROOM = 1.03
"""An axis goes on behind its end by this factor."""

ROW_PX = 18
"""Of a line of small words."""
