"""What each knob does: best and median by its value, how much it matters, and how often its values fail."""

import html

import pandas as pd
import plotly.graph_objects as go

from tileviz.formats import duration_us, percent, scale_us
from tileviz.ui.charts import style
from tileviz.ui.sweeps.table import FAILED, MEASURED, NOT_RUN, PRUNED, SweepTable

COLUMNS = ["knob", "value", "configs", "measured", "failed", "pruned", "not_run", "best_us", "median_us"]

PANELS_IN_A_ROW = 4


def effects_frame(table: SweepTable, problem: int) -> pd.DataFrame:
    """A row for each value of each varying knob: how many configs have it, what became of them, and the best and the median time of
    those that were measured, in microseconds (NaN where none was)."""
    rows, out = table.of_problem(problem), []
    for knob in table.varying:
        groups = rows.groupby(table.knobs.loc[rows.index, knob])
        counts = groups["kind"].value_counts().unstack(fill_value=0)
        timed = rows[rows["timed"]]
        times = timed.groupby(table.knobs.loc[timed.index, knob])["median_us"].agg(["min", "median"])
        for value in table.values[knob]:
            kinds = counts.loc[value] if value in counts.index else pd.Series(dtype=int)
            of = {kind: int(kinds.get(kind, 0)) for kind in (MEASURED, FAILED, PRUNED, NOT_RUN)}
            best, median = times.loc[value] if value in times.index else (float("nan"), float("nan"))
            out.append([knob, value, int(kinds.sum()), *of.values(), best, median])
    return pd.DataFrame(out, columns=COLUMNS)


def share_frame(table: SweepTable, problem: int) -> pd.DataFrame:
    """What became of the configs of each value of each varying knob, counted within comparable ones: configs that agree in every other
    knob, where each value of this one was tried. `configs` is how many those are; of a knob that has none, all that were tried, and
    `comparable` is False. What was not run counts nowhere: a search that went round a corner says nothing of it."""
    rows, out = table.of_problem(problem), []
    tried = rows[rows["kind"] != NOT_RUN]
    for knob in table.varying:
        others = [name for name in table.knobs if name != knob]
        own = table.knobs.loc[tried.index, knob]
        keys = [table.knobs.loc[tried.index, name] for name in others]
        beside = own.groupby(keys).transform("nunique") if others else pd.Series(own.nunique(), index=own.index)
        alike = beside == len(table.values[knob])
        used = tried[alike] if alike.any() else tried
        for value in table.values[knob]:
            kinds = used.loc[own[used.index] == value, "kind"].value_counts()
            of = [int(kinds.get(kind, 0)) for kind in (MEASURED, FAILED, PRUNED)]
            out.append([knob, value, int(kinds.sum()), *of, bool(alike.any())])
    return pd.DataFrame(out, columns=["knob", "value", "configs", "measured", "failed", "pruned", "comparable"])


SHARE_HELP = "Of configs that agree in every other knob and were tried with every value of this one, so that values stand beside like."


def share_words(frame: pd.DataFrame) -> str:
    """Of how many configs the shares are, knob by knob."""
    alike = frame[frame["comparable"]].groupby("knob", sort=False)["configs"].sum()
    apart = frame[~frame["comparable"]]["knob"].unique()
    words = "Comparable configs: " + ", ".join(f"{knob} {count:,}" for knob, count in alike.items()) + "." if len(alike) else ""
    some = f" {', '.join(apart)}: no configs differ in it alone, so its shares are of all that were tried." if len(apart) else ""
    return (words + some).strip()


def effects_figure(frame: pd.DataFrame) -> go.Figure:
    """A panel a knob: best and median time by value, the same scale in all of them."""
    knobs = list(frame["knob"].unique())
    wide = min(PANELS_IN_A_ROW, max(1, len(knobs)))
    deep = -(-len(knobs) // wide)
    divisor, unit = scale_us(float(frame["best_us"].median()) if frame["best_us"].notna().any() else 0.0)
    figure = {"data": [], "layout": style.layout(220 * deep + 20, {}, {}, showlegend=True, margin={"l": 8, "r": 8, "t": 30, "b": 8})}
    figure["layout"]["legend"] = style.legend(title={"text": ""})
    ticks = style.log_ticks([v / divisor for column in ("best_us", "median_us") for v in frame[column]])
    for place, knob in enumerate(knobs):
        own, suffix = frame[frame["knob"] == knob], "" if place == 0 else str(place + 1)
        axes = {"xaxis": f"x{suffix}", "yaxis": f"y{suffix}"}
        for column, name, colour, dash in (("best_us", "best", style.OURS, "solid"), ("median_us", "median", style.OTHER_BASELINE, "dot")):
            figure["data"].append(
                {
                    "type": "scatter", "mode": "lines+markers", "x": own["value"].tolist(),
                    "y": (own[column] / divisor).tolist(),
                    "name": name, "showlegend": place == 0, "legendgroup": name,
                    "line": {"color": colour, "dash": dash, "width": 2}, **axes,
                    "text": [f"{duration_us(us)} ({n} measured)" for us, n in zip(own[column], own["measured"], strict=True)],
                    "hovertemplate": f"{html.escape(knob)}=%{{x}}<br>{name} %{{text}}<extra></extra>",
                }
            )  # fmt: skip
        _place(figure["layout"], place, suffix, knob, {"title": {"text": f"latency, {unit}"}, **ticks}, wide, deep)
    return go.Figure(figure)


def failure_figure(frame: pd.DataFrame) -> go.Figure:
    """A bar for each value of each knob: the share of its configs that were measured, failed, or broke a rule."""
    names = [f"{html.escape(knob)}={html.escape(value)}" for knob, value in zip(frame["knob"], frame["value"], strict=True)]
    parts = (("measured", "measured", style.OURS), ("failed", "failed", style.FAILED), ("pruned", "pruned", style.PRUNED))
    data = [
        {
            "type": "bar", "orientation": "h", "y": names, "x": (frame[column] / frame["configs"]).fillna(0).tolist(), "name": name,
            "marker": {"color": colour}, "customdata": frame[[column, "configs"]].to_numpy().tolist(),
            "hovertemplate": f"%{{y}}: %{{customdata[0]}} of %{{customdata[1]}} configs {name}<extra></extra>",
        }
        for column, name, colour in parts
    ]  # fmt: skip
    y = {"type": "category", "autorange": "reversed"}
    x = {"tickformat": ".0%", "range": [0, 1], "title": {"text": "share of the comparable configs with this value"}}
    layout = style.layout(80 + 20 * len(frame), x, y, barmode="stack", showlegend=True, legend=style.legend())
    return go.Figure({"data": data, "layout": layout})


def importance_figure(shares: dict[str, float]) -> go.Figure:
    """A bar a knob, the most important on top."""
    names = list(shares)
    bars = {
        "type": "bar", "orientation": "h", "y": [html.escape(n) for n in names], "x": [shares[n] for n in names],
        "marker": {"color": style.OURS}, "text": [percent(shares[n]) for n in names], "textposition": "auto", "hoverinfo": "skip",
    }  # fmt: skip
    y = {"type": "category", "autorange": "reversed"}
    x = {"tickformat": ".0%", "title": {"text": "share of the variation among the fast configs"}}
    return go.Figure({"data": [bars], "layout": style.layout(90 + 28 * len(names), x, y)})


def _place(layout: dict, place: int, suffix: str, knob: str, scale: dict, wide: int, deep: int) -> None:
    """One panel's axes; only the first of a row tells its `scale`."""
    across, down = place % wide, place // wide
    gap_x, gap_y = 0.03, 0.28 / deep
    width, height = (1 - gap_x * (wide - 1)) / wide, (1 - gap_y * (deep - 1)) / deep
    left, top = across * (width + gap_x), 1 - down * (height + gap_y)
    x = {"type": "category", "title": {"text": html.escape(knob)}, "domain": [left, min(1.0, left + width)], "anchor": f"y{suffix}"}
    y = {"domain": [max(0.0, top - height), top], "anchor": f"x{suffix}", "automargin": True, **scale}
    y |= {"matches": "y"} if place else {}
    y |= {} if across == 0 else {"showticklabels": False, "title": {"text": ""}}
    layout[f"xaxis{suffix}"], layout[f"yaxis{suffix}"] = style.axis({"automargin": True, **x}), style.axis(y)
