"""The best configs in order: bars with error bars, and a table that says how each differs from the best."""

import html
from collections.abc import Hashable, Mapping
from typing import Any

import pandas as pd
import plotly.graph_objects as go

from tileviz.formats import duration_us, percent, scale_us, significant
from tileviz.measured import BaselineResult
from tileviz.ui.charts import style
from tileviz.ui.sweeps.table import SweepTable, differing, rated

BARS = 15

LINES_AT = 1.5
"""A baseline's line may take the axis to this many times the longest bar: a slow one would press all bars into a corner."""


def top_frame(table: SweepTable, problem: int, most: int) -> pd.DataFrame:
    """The fastest timed configs with code of their own, the best first, those tied with it next, launch-bound ones last; numbers in
    microseconds. `ratio` is NaN where none is named the best."""
    rows, best, tied = table.timed(problem), table.best(problem), table.tied(problem)
    if rows.empty:
        return pd.DataFrame(columns=["ordinal", "us", "p10_us", "p90_us", "ratio", "tied", "launch_bound", "differs", "index"])
    order = pd.DataFrame({"other": rows.index != best, "apart": ~rows["trial"].isin(tied)}, index=rows.index)
    order = order.assign(launch=rows["launch_bound"], us=rows["median_us"])
    own = rows.loc[order.sort_values(["launch", "other", "apart", "us"], kind="stable").index[:most]]
    against = rows.at[best, "median_us"] if best is not None else float("nan")
    return pd.DataFrame(
        {
            "ordinal": own["ordinal"].to_numpy(), "us": own["median_us"].to_numpy(), "p10_us": own["p10_us"].to_numpy(),
            "p90_us": own["p90_us"].to_numpy(), "ratio": own["median_us"].to_numpy() / against,
            "tied": own["trial"].isin(tied).to_numpy(), "launch_bound": own["launch_bound"].to_numpy(),
            "differs": [difference(table.configs[i], table.configs[best]) if best is not None else "" for i in own.index],
            "index": list(own.index),
        }
    )  # fmt: skip


def top_table(frame: pd.DataFrame, table: SweepTable) -> pd.DataFrame:
    """The same as text cells."""
    rows = []
    for place, row in enumerate(frame.to_dict("records"), start=1):
        known = table.rows.loc[row["index"]]
        rows.append(
            {
                "#": f"{place}{' =' if row['tied'] else ''}",
                "config": f"{row['ordinal']}",
                "latency": duration_us(row["us"]),
                "p10 to p90": f"{duration_us(row['p10_us'])} to {duration_us(row['p90_us'])}",
                "of best": _of_best(row),
                "rate": rated(known.get("tflops"), known.get("gbps")),
                "ceiling": percent(known.get("roofline"), 0),
                "registers": significant(known.get("registers")),
                "shared, B": f"{known['shared_bytes']:,.0f}",
                "differs from the best in": row["differs"],
            }
        )
    shown = pd.DataFrame(rows)
    empty = [name for name in ("rate", "ceiling", "registers") if len(shown) and (shown[name] == "-").all()]
    nothing_shared = ["shared, B"] if len(shown) and (shown["shared, B"] == "0").all() else []
    return shown.drop(columns=[*empty, *nothing_shared])


def top_figure(frame: pd.DataFrame, baselines: list[BaselineResult]) -> go.Figure:
    """Bars of the median with whiskers from p10 to p90; a line for each baseline that has a time."""
    rows = frame.head(BARS)
    timed = [(b.title, b.timing.median_us) for b in baselines if b.status == "ok" and b.timing is not None and b.timing.n]
    divisor, unit = scale_us(float(rows["p90_us"].max()) if len(rows) else 0.0)
    names = [f"config {ordinal}" for ordinal in rows["ordinal"]]
    bars = {
        "type": "bar", "orientation": "h", "x": (rows["us"] / divisor).tolist(), "y": names, "customdata": rows["ordinal"].tolist(),
        "text": [html.escape(d) for d in rows["differs"]], "textposition": "none",
        "marker": {"color": [style.OURS if i == 0 or tied else style.OTHER_BASELINE for i, tied in enumerate(rows["tied"])]},
        "error_x": {
            "type": "data", "symmetric": False, "array": ((rows["p90_us"] - rows["us"]) / divisor).tolist(), "thickness": 1.5, "width": 4,
            "arrayminus": ((rows["us"] - rows["p10_us"]) / divisor).tolist(), "color": style.ERROR_BAR,
        },
        "hovertemplate": f"%{{y}}: %{{x:.4g}} {unit}<br>%{{text}}<extra></extra>",
    }  # fmt: skip
    fastest = min((us for _, us in timed), default=None)
    lines = [
        (us / divisor, f"{title} {duration_us(us)}", style.BEST_BASELINE if us == fastest else style.OTHER_BASELINE) for title, us in timed
    ]
    longest = float(rows["p90_us"].max()) / divisor if len(rows) else 1.0
    end = max(longest, *(x for x, *_ in lines if x <= LINES_AT * longest), 0.0)
    shapes, notes, above = style.line_labels(lines, end)
    y = {"type": "category", "autorange": "reversed"}
    margin = {"l": 8, "r": 16, "t": above, "b": 8}
    x = {"title": {"text": f"latency, {unit} (median; whiskers p10 to p90)"}, "range": [0, style.ROOM * end]}
    height = 66 + above + 26 * len(rows)
    return go.Figure({"data": [bars], "layout": style.layout(height, x, y, shapes=shapes, annotations=notes, margin=margin)})


def _of_best(row: Mapping[Hashable, Any]) -> str:
    """Its time over the best's; those that are tied with it have no ratio."""
    if row["launch_bound"]:
        return "launch-bound"
    if row["tied"]:
        return "tied"
    return f"{significant(row['ratio'])}\u00d7" if row["ratio"] == row["ratio"] else "-"


def difference(config: dict, best: dict) -> str:
    """`block_M 64 for 128, threads 128 for 256`; `the best itself`."""
    return ", ".join(f"{name} {ours} for {theirs}" for name, (ours, theirs) in differing(config, best).items()) or "the best itself"
