"""The heatmap of a sweep: two knobs are its axes, the others are reduced or fixed.

Only what was measured has a number; what failed is drawn by its kind."""

import html
from dataclasses import dataclass, field

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from tileviz.formats import duration_us, percent, scale_us, significant
from tileviz.ui.charts import colour, style
from tileviz.ui.charts.colour import SCALE
from tileviz.ui.sweeps.table import FAILED, MEASURED, NOT_RUN, PRUNED, RATES, SHORT, UNTOLD, SweepTable, rated

BEST, MEDIAN = "best", "median"

NONE = "\u2013"
"""The knob of an axis that is not used."""

PANELS_IN_A_ROW = 2
MOST_PANELS = 8
MOST_LABELLED = (14, 24)
"""Columns and rows up to which a cell has its number in it."""

BETWEEN_PX = 58
"""Between two rows of panels: the ticks of one and the name of the next."""

NO_NUMBER = "no time"
"""In a cell of a config that ran right and has no number to show."""

NOT_RUN_COLOUR = "#5c6168"
UNTOLD_COLOUR = "#e8eaec"
KIND_COLOURS = {PRUNED: style.PRUNED_CELL, FAILED: style.FAILED, NOT_RUN: NOT_RUN_COLOUR, UNTOLD: UNTOLD_COLOUR}
STAR = "\u2605"
"""On the best."""

KIND_CODES = {kind: code for code, kind in enumerate(KIND_COLOURS)}

COLUMNS = ["x", "y", "by", "kind", "value", "share", "ordinal", "measured", "configs", "cell", "told"]


@dataclass(frozen=True)
class Choice:
    """What the heatmap shows."""

    x: str
    y: str
    by: str = NONE
    """The knob of the small multiples."""
    problem: int = 0
    metric: str = "latency"
    """A key of RATES."""
    reduce: str = BEST
    """`best` or `median`, over the configs that share a cell."""
    fixed: dict[str, str] = field(default_factory=dict)
    """Knobs that are held at one value, as words."""


def heatmap_frame(table: SweepTable, choice: Choice) -> pd.DataFrame:
    """A row for each cell in which any config was requested.

    `value` is in the metric's unit (latency: microseconds) and NaN where nothing was measured; `share` is the speed relative to the
    best cell of the problem, 0 to 1; `ordinal` is the config that a click opens: the one whose value is shown, or the first that failed.
    """
    rows = asked(table, choice)
    if rows.empty:
        return pd.DataFrame(columns=COLUMNS)
    column, best = RATES[choice.metric], table.best(choice.problem)
    timed = _in_order(rows[(rows["kind"] == MEASURED) & rows[column].notna()], best, choice.reduce)
    chosen = _chosen(timed, choice.reduce)
    failed = _failed(rows, set(chosen["cell_id"]))
    cells = pd.concat([chosen.assign(value=chosen[column]), failed.assign(value=np.nan)])
    groups = rows.groupby("cell_id")
    cells["measured"] = cells["cell_id"].map(timed.groupby("cell_id").size()).fillna(0).astype(int)
    cells["configs"] = cells["cell_id"].map(groups.size())
    cells["share"] = table.shares(choice.problem, cells["value"], column)
    cells.loc[cells["value"].isna(), "kind"] = cells["kind"].where(cells["kind"] != MEASURED, UNTOLD)
    divisor, unit = _unit(cells["value"], choice.metric)
    cells["cell"] = [_cell(row, divisor, best) for row in cells.itertuples()]
    unmeasured = rows[rows["cell_id"].isin(failed["cell_id"])]
    cells["kinds"] = cells["cell_id"].map(unmeasured.groupby("cell_id")["status"].agg(_kinds))
    cells["told"] = [_told(table, choice, row, best) for row in cells.itertuples()]
    frame = cells[COLUMNS].reset_index(drop=True)
    frame.attrs["unit"] = unit
    return frame


def heatmap_figure(frame: pd.DataFrame, table: SweepTable, choice: Choice) -> go.Figure:
    """Panels of cells, coloured by speed relative to the best; pruned, failed and not run in colours of their own. An invisible scatter
    lies over the cells: a heatmap itself gives no clicks."""
    xs, ys = table.values[choice.x], table.values[choice.y]
    shown = _drawn(table, choice, frame)
    wide = 1 if len(shown) == 1 else PANELS_IN_A_ROW
    deep = -(-len(shown) // wide)
    low = float(frame["share"].min()) if frame["share"].notna().any() else 0.0
    figure = {"data": [], "layout": _layout(len(shown), deep, len(ys))}
    numbers = len(xs) <= MOST_LABELLED[0] // wide and len(ys) <= MOST_LABELLED[1]
    for place, by in enumerate(shown):
        cells = frame if by is None else frame[frame["by"] == by]
        suffix = _suffix(place)
        axes = {"xaxis": f"x{suffix}", "yaxis": f"y{suffix}"}
        figure["data"] += _panel(cells, xs, ys, axes, low, numbers, first=place == 0)
        _axes(figure["layout"], place, len(shown), choice, xs, ys, by, (wide, deep))
    return go.Figure(figure)


def place_of(table: SweepTable, choice: Choice, ordinal: int) -> tuple[str, str, str] | None:
    """The words of (columns, rows, panel) of the cell that a config lies in, whichever config stands for it; None where it is in none."""
    index = table.index_of(ordinal)
    rows = asked(table, choice)
    if index is None or index not in rows.index:
        return None
    x, y, by = rows.loc[index, ["x", "y", "by"]]
    return x, y, by


def axis_of(table: SweepTable, choice: Choice, frame: pd.DataFrame, by: str) -> str:
    """plotly's name of the horizontal axis of a panel: `x`, `x2`; empty where it is not drawn."""
    drawn = _drawn(table, choice, frame)
    wanted = by if choice.by != NONE else None
    return "x" + _suffix(drawn.index(wanted)) if wanted in drawn else ""


def asked(table: SweepTable, choice: Choice) -> pd.DataFrame:
    """The rows of the table that the picture is of, with the words of their cell and its number."""
    keep = table.rows["problem_index"] == choice.problem
    for name, value in choice.fixed.items():
        keep &= table.knobs[name] == value
    rows = table.rows[keep].copy()
    for column, knob in (("x", choice.x), ("y", choice.y), ("by", choice.by)):
        rows[column] = table.knobs.loc[rows.index, knob] if knob != NONE else ""
    rows["cell_id"] = rows.groupby(["x", "y", "by"], sort=False).ngroup()
    return rows


def _in_order(timed: pd.DataFrame, best: int | None, reduce: str) -> pd.DataFrame:
    """Fastest first. Where the best stands for a cell, the one that is named the best stands for its own, and a launch for none that has
    another."""
    if reduce != BEST:
        return timed.sort_values("median_us", kind="stable")
    order = timed.assign(other=timed.index != best).sort_values(["launch_bound", "other", "median_us"], kind="stable")
    return timed.loc[order.index]


def _chosen(timed: pd.DataFrame, reduce: str) -> pd.DataFrame:
    """The config that stands for each cell: the first of the sorted ones, or the middle one (the faster of two)."""
    groups = timed.groupby("cell_id", sort=False)["ordinal"]
    place = groups.cumcount()
    wanted = 0 if reduce == BEST else (groups.transform("size") - 1) // 2
    return timed[place == wanted]


def _failed(rows: pd.DataFrame, measured: set[int]) -> pd.DataFrame:
    """For each cell without a measured config, the first config of its most frequent status; what was run counts before what was not."""
    rest = rows[~rows["cell_id"].isin(measured)]
    if rest.empty:
        return rest
    counts = rest.groupby(["cell_id", "status"], sort=False).agg(n=("ordinal", "size"), ordinal=("ordinal", "min")).reset_index()
    counts["waits"] = counts["status"].isin(["not_run", "cancelled"])
    counts = counts.sort_values(["waits", "n", "ordinal"], ascending=[True, False, True], kind="stable")
    firsts = counts.drop_duplicates("cell_id")["ordinal"]
    return rest[rest["ordinal"].isin(firsts)]


def _unit(values: pd.Series, metric: str) -> tuple[float, str]:
    if metric != "latency":
        return 1.0, metric
    return scale_us(float(values.median())) if values.notna().any() else (1.0, "\u00b5s")


def _cell(row, divisor: float, best: int | None) -> str:
    if row.kind == MEASURED:
        return f"{STAR} {significant(row.value / divisor)}" if row.Index == best else significant(row.value / divisor)
    return NO_NUMBER if row.kind == UNTOLD else SHORT.get(row.status, row.status)


def _told(table: SweepTable, choice: Choice, row, best: int | None) -> str:
    """What the line under the map says of a cell, plain text: what it is, then what else there is to know."""
    names = [(choice.x, row.x), (choice.y, row.y), *([(choice.by, row.by)] if choice.by != NONE else [])]
    head = " ".join(f"{name}={value}" for name, value in names)
    others = [name for name in table.varying if name not in dict(names)]
    rest = " ".join(f"{name}={table.knobs.at[row.Index, name]}" for name in others)
    if row.kind == MEASURED:
        spread = f" ({duration_us(row.p10_us)} to {duration_us(row.p90_us)})" if row.p10_us == row.p10_us else ""
        told = duration_us(row.median_us) if row.median_us == row.median_us else rated(row.tflops, row.gbps)
        count = f"{choice.reduce} of {row.measured:,} measured of {row.configs:,} configs" if row.configs > 1 else "one config"
        return f"{head}: {told}{spread}, {_standing(table, choice, row, best)}\n{', '.join(filter(None, [rest, count]))}"
    return f"{head}: {row.kinds}\n{row.reason or ''}"


def _kinds(statuses: pd.Series) -> str:
    """`12 of 12 pruned`; `8 of 12 pruned, 4 compile failed`."""
    (first, most), *others = ((str(status), count) for status, count in statuses.value_counts().items())
    return f"{most:,} of {len(statuses):,} {_plain(first)}" + "".join(f", {count:,} {_plain(status)}" for status, count in others)


def _plain(status: str) -> str:
    return status.replace("_", " ")


def _standing(table: SweepTable, choice: Choice, row, best: int | None) -> str:
    if row.launch_bound:
        return "launch-bound: not ranked"
    if row.Index == best:
        return "the best"
    if best is None and row.median_us == row.median_us:
        return "no best"
    return "tied with the best" if row.trial in table.tied(choice.problem) else f"{percent(row.share, 0)} of the best speed"


def panels(table: SweepTable, choice: Choice) -> list[str | None]:
    """The values that have a panel: the first MOST_PANELS, the best one's among them."""
    if choice.by == NONE:
        return [None]
    values, best = table.values[choice.by], table.best(choice.problem)
    first = values[:MOST_PANELS]
    own = table.knobs.at[best, choice.by] if best is not None else first[0]
    return [*first] if own in first else [*first[:-1], own]


def _drawn(table: SweepTable, choice: Choice, frame: pd.DataFrame) -> list[str | None]:
    """The panels that have a cell."""
    return [by for by in panels(table, choice) if by is None or (frame["by"] == by).any()]


def _suffix(place: int) -> str:
    return "" if place == 0 else str(place + 1)


def _panel(cells: pd.DataFrame, xs: list, ys: list, axes: dict, low: float, numbers: bool, first: bool) -> list[dict]:
    column, row = cells["x"].map({x: i for i, x in enumerate(xs)}), cells["y"].map({y: i for i, y in enumerate(ys)})
    at = (row.to_numpy(), column.to_numpy())
    shares, kinds = np.full((len(ys), len(xs)), np.nan), np.full((len(ys), len(xs)), np.nan)
    shares[at] = cells["share"]
    kinds[at] = cells["kind"].map(KIND_CODES).astype(float)
    floor = min(low, 0.9)
    common = {"type": "heatmap", "x": xs, "y": ys, "hoverinfo": "skip", "xgap": 1, "ygap": 1, **axes}
    bar = {**style.SPEED_BAR, "len": 0.9}
    steps = [[(i + end) / len(KIND_COLOURS), own] for i, own in enumerate(KIND_COLOURS.values()) for end in (0, 1)]
    points = {"type": "scatter", "x": cells["x"].tolist(), "y": cells["y"].tolist(), **axes}
    words = {
        "mode": "text",
        "text": cells["cell"].tolist(),
        "hoverinfo": "skip",
        "textfont": {"size": style.SMALL, "color": [cell_ink(*each, floor) for each in zip(cells["kind"], cells["share"], strict=True)]},
        "selected": {"textfont": {"color": colour.WHITE}},  # a colour here is what keeps the others from fading; no number is ever selected
    }
    clicks = {
        "mode": "markers",
        "customdata": cells["ordinal"].tolist(),
        "text": cells["told"].tolist(),
        "hoverinfo": "none",  # what a label would say stands in the line under the map: it hides no neighbour there
        "marker": {"symbol": "square", "size": 9, "opacity": 0},
        "selected": {"marker": {"opacity": 0}},
        "unselected": {"marker": {"opacity": 0}},
    }
    return [
        {**common, "z": shares, "zmin": floor, "zmax": 1, "colorscale": SCALE, "showscale": first, "colorbar": bar},
        {**common, "z": kinds, "zmin": 0, "zmax": len(KIND_COLOURS) - 1, "colorscale": steps, "showscale": False},
        *([{**points, **words}] if numbers else []),
        {**points, **clicks},
    ]


def cell_ink(kind: str, share: float, floor: float) -> str:
    """Black or white, whichever reads better on the colour of the cell: 4.5:1 or more on all of them."""
    return colour.ink(colour.at_share((share - floor) / (1 - floor)) if kind == MEASURED else colour.rgb(KIND_COLOURS[kind]))


def _layout(panels: int, deep: int, rows: int) -> dict:
    """Rows tall enough for their words, a picture that fills its place, and never a wall."""
    each = 330 if panels == 1 else 220
    height = deep * min(560, 90 + max(34 * rows, each - 90))
    return style.layout(height, {}, {}, hoverdistance=300, margin={"l": 8, "r": 8, "t": 28 if panels > 1 else 8, "b": 8})


def _axes(layout: dict, place: int, panels: int, choice: Choice, xs: list, ys: list, by: str | None, size: tuple[int, int]) -> None:
    """The axes of a panel in its part of the figure, `size` panels wide and deep; names stand at the left and at the bottom only."""
    wide, deep = size
    across, down, suffix = place % wide, place // wide, _suffix(place)
    gap_x, gap_y = 0.04, BETWEEN_PX / layout["height"]
    width, height = (1 - gap_x * (wide - 1)) / wide, (1 - gap_y * (deep - 1)) / deep
    left, top = across * (width + gap_x), 1 - down * (height + gap_y)
    kept = {"type": "category", "automargin": True, "showgrid": False, "zeroline": False, "categoryorder": "array"}
    x = {**kept, "categoryarray": xs, "domain": [left, min(1.0, left + width)], "anchor": f"y{suffix}"}
    y = {**kept, "categoryarray": ys, "domain": [max(0.0, top - height), top], "anchor": f"x{suffix}", "showticklabels": across == 0}
    layout[f"xaxis{suffix}"] = style.axis({**x, **({"title": {"text": html.escape(choice.x)}} if place + wide >= panels else {})})
    layout[f"yaxis{suffix}"] = style.axis({**y, **({"title": {"text": html.escape(choice.y)}} if across == 0 else {})})
    if by is not None:
        words = f"{html.escape(choice.by)}={html.escape(by)}"
        at = {"x": left + width / 2, "y": top, "xref": "paper", "yref": "paper", "xanchor": "center", "yanchor": "bottom"}
        layout.setdefault("annotations", []).append({"text": words, "showarrow": False, **at})
