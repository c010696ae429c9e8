"""Where the elements of a tile lie: a picture with one cell per element."""

import plotly.graph_objects as go

from tileviz.lens import layouts
from tileviz.lens.checks import DTYPE_BYTES
from tileviz.ui.charts import style
from tileviz.ui.charts.colour import SCALE

BANK, OFFSET = "Bank", "Offset"
THREAD, WARP, REGISTER = "Thread", "Warp", "Register"

PICTURES = {"shared": (BANK, OFFSET), "fragment": (THREAD, WARP, REGISTER)}
"""What the colour may mean, by the kind of layout."""

WARP_THREADS = 32

CYCLE = "Phase"
"""For banks and threads: values that come round again."""


def tile_figure(layout: dict, picture: str) -> go.Figure:
    """Rows down, columns across, element (0, 0) at the top left. `layout` is the JSON of `compiler.reading.Layout`."""
    values = cells_of(layout, picture)
    words = _hover(layout)
    rows, columns = layout["shape"]
    height = max(220, min(620, 60 + int(900 * rows / max(columns, 1))))
    heatmap = go.Heatmap(
        z=values,
        customdata=words,
        colorscale=SCALE if picture in (OFFSET, REGISTER) else CYCLE,
        colorbar=style.colour_bar(picture.lower()),
        hovertemplate="row %{y}, column %{x}<br>%{customdata}<extra></extra>",
    )
    down = {"title": {"text": "row"}, "autorange": "reversed", "constrain": "domain"}
    return go.Figure(heatmap, style.layout(height, {"title": {"text": "column"}, "constrain": "domain"}, down))


def cells_of(layout: dict, picture: str) -> list[list[int]]:
    """The number behind the colour of each cell."""
    cells = layout["cells"]
    if picture == BANK:
        return layouts.banks(cells, _bytes(layout["dtype"]))
    if picture == WARP:
        return [[owner // WARP_THREADS for owner in row] for row in cells]
    return layout["registers"] if picture == REGISTER else cells


def _hover(layout: dict) -> list[list[str]]:
    if layout["kind"] == "shared":
        size = _bytes(layout["dtype"])
        return [[f"offset {n:,}, bank {layouts.bank(n, size)}" for n in row] for row in layout["cells"]]
    pairs = zip(layout["cells"], layout["registers"], strict=True)
    return [[f"thread {owner}, register {register}" for owner, register in zip(*row, strict=True)] for row in pairs]


def _bytes(dtype: str) -> int:
    return 1 if dtype.startswith("float8") else DTYPE_BYTES.get(dtype, 4)
