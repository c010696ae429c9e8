"""A sweep over several problems: the best of each against its size, beside the baselines."""

import html
from typing import Any

import pandas as pd
import plotly.graph_objects as go

from tileviz.formats import assignments, duration_us, scale_us
from tileviz.records import Trial
from tileviz.ui.charts import style
from tileviz.ui.sweeps.table import SweepTable

OURS = "best config"

COLUMNS = ["problem", "name", "ours", "us", "p10_us", "p90_us", "tflops", "gbps", "told"]

MARKS = ("circle", "square", "diamond", "cross", "x", "triangle-up", "star")


def sizes(table: SweepTable) -> list[str]:
    """Fields with a number in every problem, in which the problems differ: what may be the
    horizontal axis."""
    numeric = [
        name for name in table.problems[0] if all(_is_number(p.get(name)) for p in table.problems)
    ]
    return [name for name in numeric if len({p[name] for p in table.problems}) > 1]


def _is_number(value: object) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def shapes_frame(table: SweepTable, trials: dict[int, Trial]) -> pd.DataFrame:
    """A row for the best config of each problem and for each of its baselines that has a time.
    `trials`: the best trial by problem; its FLOPs are those of the problem, so a baseline's rate
    follows from its time."""
    rows = []
    for number in range(len(table.problems)):
        index = table.best(number)
        if index is None:
            continue
        best = table.rows.loc[index]
        rows.append(
            _row(
                number,
                OURS,
                True,
                best,
                best["median_us"],
                (best["p10_us"], best["p90_us"]),
                assignments(table.configs[index]),
            )
        )
        trial = trials.get(number)
        for baseline in trial.baselines if trial else ():
            timing = baseline.timing
            if baseline.status == "ok" and timing is not None and timing.n:
                spread = (timing.p10_us, timing.p90_us)
                rows.append(
                    _row(
                        number,
                        baseline.title,
                        False,
                        best,
                        timing.median_us,
                        spread,
                        baseline.math_mode,
                    )
                )
    return pd.DataFrame(rows, columns=COLUMNS)


def shapes_figure(frame: pd.DataFrame, table: SweepTable, size: str, metric: str) -> go.Figure:
    """`metric`: `us`, `tflops` or `gbps`. Both axes logarithmic; other sizes that differ make
    points above each other."""
    divisor, title = 1.0, {"tflops": "TFLOPS", "gbps": "GB/s"}.get(metric, "")
    if metric == "us":
        divisor, unit = scale_us(float(frame["us"].median()) if len(frame) else 0.0)
        title = f"latency, {unit}"
    data = []
    fastest = frame[~frame["ours"]].groupby("name")["us"].median().sort_values().index.tolist()
    for place, (name, rows) in enumerate(frame.groupby("name", sort=False)):
        rows = rows.assign(x=[table.problems[n][size] for n in rows["problem"]]).sort_values(
            "x", kind="stable"
        )
        colour = (
            style.OURS
            if name == OURS
            else style.BEST_BASELINE
            if fastest and name == fastest[0]
            else style.OTHER_BASELINE
        )
        data.append(
            {
                "type": "scatter", "mode": "lines+markers", "name": html.escape(str(name)),
                "x": rows["x"].tolist(),
                "y": (rows[metric] / divisor).tolist(), "line": {"color": colour, "width": 2},
                "text": [html.escape(t) for t in rows["told"]],
                "marker": {"symbol": MARKS[place % len(MARKS)], "size": 8},
                "hovertemplate": f"{html.escape(str(name))},"
                f" {html.escape(size)}=%{{x:,}}<br>%{{text}}<extra></extra>",
            }
        )  # fmt: skip
    x = {
        "title": {"text": html.escape(size)},
        **style.size_ticks([p[size] for p in table.problems]),
    }
    y = {"title": {"text": title}, **style.log_ticks((frame[metric] / divisor).tolist())}
    layout = style.layout(400, x, y, showlegend=True, legend=style.legend())
    return go.Figure({"data": data, "layout": layout})


def _row(
    number: int, name: str, ours: bool, best: pd.Series, us: float, spread: tuple, words: str
) -> list[Any]:
    """Rates scale with the inverse of the time: the work is the problem's."""
    rates = [
        best[rate] * best["median_us"] / us if pd.notna(best.get(rate)) else float("nan")
        for rate in ("tflops", "gbps")
    ]
    return [
        number,
        name,
        ours,
        us,
        *spread,
        *rates,
        f"{duration_us(us)}, {words}" if words else duration_us(us),
    ]
