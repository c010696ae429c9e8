"""What a colour means, the same on every chart and in both themes."""

OURS = "#3d7be0"
BEST_BASELINE = "#e08a1e"
OTHER_BASELINE = "#8d98a5"
FAILED = "#d64545"
PRUNED = "#a58bc9"

COLOURS = {"ours": OURS, "best baseline": BEST_BASELINE, "other baseline": OTHER_BASELINE, "failed": FAILED, "pruned": PRUNED}

ERROR_BAR = "#5d6773"

CONFIG = {"displaylogo": False, "modeBarButtonsToRemove": ["select2d", "lasso2d", "autoScale2d"]}
"""For `st.plotly_chart(config=)`."""


def layout(height: int, x: dict, y: dict, **more) -> dict:
    """Small margins, no legend; backgrounds are the theme's. Given to the figure when it is made: updating one later is slow."""
    return {
        "height": height,
        "margin": {"l": 8, "r": 16, "t": 8, "b": 8},
        "showlegend": False,
        "hovermode": "closest",
        "dragmode": False,
        "xaxis": {"automargin": True, **x},
        "yaxis": {"automargin": True, **y},
        **more,
    }
