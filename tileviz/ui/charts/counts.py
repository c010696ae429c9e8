"""How often each class of instruction occurs in the texts of an artifact."""

from collections.abc import Mapping

import pandas as pd
import plotly.graph_objects as go

from tileviz.lens.classes import CLASSES
from tileviz.ui.charts import style

COLUMNS = ["text", "class", "title", "count"]

COLOURS = (style.OURS, style.BEST_BASELINE, style.OTHER_BASELINE)


def counts_frame(counts: Mapping[str, Mapping[str, int]]) -> pd.DataFrame:
    """A row for each text and each class that occurs in any of them, in the order of CLASSES."""
    occurs = [each for each in CLASSES if any(found.get(each.name) for found in counts.values())]
    rows = [[text, each.name, each.title, found.get(each.name, 0)] for text, found in counts.items() for each in occurs]
    return pd.DataFrame(rows, columns=COLUMNS)


def counts_figure(frame: pd.DataFrame) -> go.Figure:
    """Horizontal bars, a group for each class, a colour for each text."""
    texts = list(frame["text"].unique())
    bars = [
        go.Bar(
            x=part["count"].iloc[::-1],
            y=part["title"].iloc[::-1],
            name=text,
            orientation="h",
            marker={"color": COLOURS[place % len(COLOURS)]},
            hovertemplate=f"%{{y}}: %{{x:,}} in {text}<extra></extra>",
        )
        for place, text in enumerate(texts)
        for part in [frame[frame["text"] == text]]
    ]
    x = {"title": {"text": "written so often"}}
    height = 80 + (12 + 14 * len(texts)) * frame["title"].nunique()
    shown = {"showlegend": len(texts) > 1, "legend": style.legend(), "barmode": "group"}
    return go.Figure(bars, style.layout(height, x, {"type": "category"}, **shown))
