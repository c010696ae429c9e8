"""A figure for where no Streamlit draws it, such as a notebook: the places of the theme's colours
are filled in."""

import base64
from typing import Any

import numpy as np
import plotly.graph_objects as go

from tileviz.ui.charts import style

TEXT, GROUND = "#1d2733", "#ffffff"
"""Of the light theme, as .streamlit/config.toml has them."""

TEMPLATE = "plotly_white"


def alone(figure: go.Figure) -> go.Figure:
    """The same figure in the light theme's colours; the one given stays as it is."""
    return go.Figure(_filled(figure.to_dict())).update_layout(template=TEMPLATE)


def _filled(value: Any) -> Any:
    """Any part of a figure; arrays, which Plotly packs, are arrays again."""
    if isinstance(value, dict) and "bdata" in value:
        flat = np.frombuffer(base64.b64decode(value["bdata"]), value["dtype"])
        return (
            flat.reshape([int(n) for n in value["shape"].split(",")]) if "shape" in value else flat
        )
    if isinstance(value, dict):
        return {name: _filled(part) for name, part in value.items()}
    if isinstance(value, list | tuple):
        return [_filled(part) for part in value]
    return (
        {style.TEXT: TEXT, style.GROUND: GROUND}.get(value, value)
        if isinstance(value, str)
        else value
    )
