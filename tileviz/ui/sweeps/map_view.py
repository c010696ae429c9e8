"""The heatmap on the page: its choosers, the click, and the opened config's card. A fragment: a click draws this part alone."""

import streamlit as st

from tileviz.ui.charts import style
from tileviz.ui.sweeps import address, card
from tileviz.ui.sweeps.heatmap import BEST, MEDIAN, NONE, Choice, caption, heatmap_figure, heatmap_frame
from tileviz.ui.sweeps.table import RATES, SweepTable
from tileviz.ui.trouble import guarded, plain

CHART = "sweep_map"

PLAIN = {**style.CONFIG, "displayModeBar": False}
"""A tool bar would lie over the top row."""

MOST_BESIDE = 3
"""More choosers of other knobs than this are folded away: the picture stays on the screen."""


def draw(table: SweepTable, problem: int) -> None:
    st.fragment(guarded(_draw), key="_sweep_map_part")(table, problem)


def _draw(table: SweepTable, problem: int) -> None:
    left, right = st.columns([9, 5], gap="small")
    with left:
        choice = _choose(table, problem)
        if choice is None:
            st.info("No knob of this sweep has more than one value: there is nothing to draw a heatmap of.")
        else:
            frame = heatmap_frame(table, choice)
            st.plotly_chart(
                heatmap_figure(frame, table, choice), key=CHART, on_select=picked, selection_mode="points", config=PLAIN,
                alt="Heatmap of the sweep over two knobs",
            )  # fmt: skip
            st.caption(plain(caption(table, choice, frame)) + " Click a cell to open its config.")
    with right:
        card.draw(table, problem)


def _choose(table: SweepTable, problem: int) -> Choice | None:
    """What the choosers say; None when no knob varies."""
    varying = table.varying
    if not varying:
        return None
    axes = varying if len(varying) > 1 else [*varying, next((n for n in table.knobs if n not in varying), varying[0])]
    first, second, third, fourth, fifth = st.columns([3, 3, 3, 3, 2.6], gap="xsmall")
    favourites = table.favourites
    x = _select(first, "Columns", axes, "map_x", next((n for n in favourites if n in axes), axes[0]))
    left = [n for n in axes if n != x] or axes
    y = _select(second, "Rows", left, "map_y", next((n for n in favourites if n in left), left[0]))
    by = _select(third, "Small multiples", [NONE, *(n for n in varying if n not in (x, y))], "map_by", NONE)
    metrics = [name for name, column in RATES.items() if column in table.rows and table.rows[column].notna().any()] or ["latency"]
    metric = fourth.selectbox("Show", metrics, key="_map_metric")
    reduce = fifth.selectbox("Cell is the", [BEST, MEDIAN], key="_map_reduce", help="Of the configs that share a cell.")
    others = [n for n in varying if n not in (x, y, by)]
    return Choice(x, y, by, problem, metric, reduce, _fixed(table, others, reduce))


def _fixed(table: SweepTable, others: list[str], reduce: str) -> dict[str, str]:
    """A chooser for each knob that is on no axis: reduced, or held at one of its values."""
    fixed: dict[str, str] = {}
    if not others:
        return fixed
    beside = len(others) <= MOST_BESIDE
    place = st.container() if beside else st.expander("Hold other knobs at one value", icon=":material/lock:")
    with place, st.container(horizontal=True, gap="small"):
        for name in others:
            value = st.selectbox(
                name, ["", *table.values[name]], key=f"_map_fix:{name}", width=118, format_func=lambda v: v or f"{reduce} of all"
            )
            if value:
                fixed[name] = value
    return fixed


def _select(column, label: str, options: list[str], key: str, default: str) -> str:
    """A chooser in the address; what another sweep or another axis left there falls back to the default."""
    if st.session_state.get(key) not in options:
        st.session_state.pop(key, None)
    return column.selectbox(label, options, index=options.index(default), key=key, bind="query-params")


@guarded
def picked() -> None:
    """A cell was clicked: the chart forgets, so it goes into the address at once. A second click gives no points and changes nothing."""
    open_points(st.session_state[CHART])


def open_points(event) -> None:
    """Opens the config that a clicked point of any of our charts carries."""
    points = event["selection"]["points"]
    found = points[0].get("customdata") if points else None
    ordinal = found[0] if isinstance(found, (list, tuple)) else found
    if ordinal is not None:
        address.open_config(int(ordinal))
