"""Where in an output the errors lie: one cell per block, coloured by its share of wrong elements, or
else by its worst error as a share of the bound."""

import math

import pandas as pd
import plotly.graph_objects as go

from tileviz.formats import significant
from tileviz.measured import ErrorMap
from tileviz.ui.charts import style

COLUMNS = ["row", "column", "rows", "columns", "elements", "wrong", "worst"]

LITTLE = 1e-6
"""Share of wrong elements from which a block is red: one of a million must be seen."""

WRONG_SCALE = ((0.0, "rgba(141,152,165,0.22)"), (LITTLE, "#e9a0a0"), (1.0, "#b02020"))
RIGHT_SCALE = ((0.0, "rgba(141,152,165,0.12)"), (1.0, style.OURS))


def errors_frame(found: ErrorMap) -> pd.DataFrame:
    """A row for each block: where it is, its elements by index, how many there are, how many of them are wrong, its worst error over the
    bound. A vector is one row of blocks."""
    down, across = matrix_shape(found.shape)
    vector = len(found.shape) < 2
    cells = []
    for i, errors in enumerate(found.worst):
        top, bottom = i * found.block[0], min((i + 1) * found.block[0], down) - 1
        for j, worst in enumerate(errors):
            left, right = j * found.block[1], min((j + 1) * found.block[1], across) - 1
            place = (0, i, "", f"elements {top:,}-{bottom:,}") if vector else (i, j, _rows(top, bottom, found.shape), f"{left:,}-{right:,}")
            elements = (bottom - top + 1) * (right - left + 1)
            cells.append((*place, elements, found.wrong[i][j] if found.wrong else 0, worst))
    return pd.DataFrame(cells, columns=COLUMNS)


def errors_figure(frame: pd.DataFrame) -> go.Figure:
    """Rows of the output down, columns across, the first element at the top left."""
    wrong = bool((frame["wrong"] > 0).any())
    values = frame["wrong"] / frame["elements"] if wrong else frame["worst"]
    down, across = int(frame["row"].max()) + 1, int(frame["column"].max()) + 1
    heat = go.Heatmap(
        z=values.to_numpy().reshape(down, across),
        customdata=[[_words(cell) for cell in row.itertuples(index=False)] for _, row in frame.groupby("row")],
        hovertemplate="%{customdata}<extra></extra>",
        colorscale=WRONG_SCALE if wrong else RIGHT_SCALE,
        zmin=0,
        zmax=1 if wrong else max(float(frame["worst"].max()), LITTLE),
        xgap=1,
        ygap=1,
        colorbar=style.colour_bar("wrong" if wrong else "error / bound", side="right", tickformat=".0%" if wrong else ""),
    )
    bare = {"showticklabels": False, "showgrid": False, "zeroline": False, "fixedrange": True, "ticks": ""}
    names = ("", "elements") if (frame["rows"] == "").all() else ("rows", "columns")
    x, y = ({**bare, "title": {"text": name, "standoff": 4}} for name in (names[1], names[0]))
    return go.Figure(heat, style.layout(max(96, min(300, 60 + 16 * down)), x, {**y, "autorange": "reversed"}))


def matrix_shape(shape: tuple[int, ...]) -> tuple[int, int]:
    """(rows, columns) of an output as a matrix: a vector is one column."""
    if len(shape) < 2:
        return math.prod(shape), 1
    return math.prod(shape[:-1]), shape[-1]


def _rows(top: int, bottom: int, shape: tuple[int, ...]) -> str:
    """`128-255`; of more than two dimensions by index: `(0, 3, 128)-(0, 3, 255)`."""
    if len(shape) == 2:
        return f"{top:,}-{bottom:,}"
    return "-".join(f"({', '.join(map(str, _index(row, shape[:-1])))})" for row in (top, bottom))


def _index(flat: int, shape: tuple[int, ...]) -> tuple[int, ...]:
    out = []
    for size in reversed(shape):
        flat, at = divmod(flat, size)
        out.append(at)
    return tuple(reversed(out))


def _words(cell) -> str:
    where = f"rows {cell.rows}, columns {cell.columns}" if cell.rows else cell.columns
    far = f"worst error {significant(cell.worst, 2)} of its bound" if math.isfinite(cell.worst) else "NaN or infinity in it"
    return f"{where}<br>{f'{cell.wrong:,} of {cell.elements:,} wrong' if cell.wrong else 'all right'}, {far}"
