"""The heatmap on the page: its choosers, the click, and the opened config's card. A fragment: a
click draws this part alone."""

import streamlit as st

from tileviz.ui import session
from tileviz.ui.charts import screen
from tileviz.ui.parts.trouble import guarded, plain
from tileviz.ui.sweeps import address, card
from tileviz.ui.sweeps.heatmap import (
    BEST,
    MEDIAN,
    NONE,
    Choice,
    axis_of,
    heatmap_figure,
    heatmap_frame,
    place_of,
)
from tileviz.ui.sweeps.map_words import best_words, caption, corner_words
from tileviz.ui.sweeps.table import RATES, SweepTable

MOST_BESIDE = 3
"""More choosers of other knobs than this are folded away: the picture stays on the screen."""

CHOOSER_PX = 150

STYLE = """<style>
.st-key-sweep_map_row > [data-testid="stLayoutWrapper"] > [data-testid="stHorizontalBlock"] {
  flex-wrap: wrap;
  > [data-testid="stColumn"]:first-child { flex: 9 1 480px; }
  > [data-testid="stColumn"]:last-child { flex: 5 1 310px; }
}
</style>"""
"""The card stands beside the map where both have room, else under it."""


def draw(table: SweepTable, problem: int) -> None:
    st.fragment(guarded(_draw), key="_sweep_map_part")(table, problem)


def _draw(table: SweepTable, problem: int) -> None:
    st.html(STYLE)
    choice = _choose(table, problem)
    with st.container(key="sweep_map_row"):
        left, right = st.columns([9, 5], gap="small")
        with left:
            if choice is None:
                st.info(
                    "No knob of this sweep has more than one value: there is nothing to draw a"
                    " heatmap of."
                )
            else:
                _map(table, choice)
            card.draw_facts(table, problem)
        with right:
            card.draw(table, problem)


def _map(table: SweepTable, choice: Choice) -> None:
    """The picture, and what is to be said of it."""
    frame = heatmap_frame(table, choice)
    screen.cells(
        heatmap_figure(frame, table, choice), key=session.SWEEP_MAP, alt="Heatmap of the sweep"
        " over two knobs",
        opened=_ring(table, choice, frame), on_select=picked, on_open=walked,
    )  # fmt: skip
    said = [
        best_words(table, choice),
        caption(table, choice, frame).rstrip("."),
        corner_words(table, choice).rstrip("."),
    ]
    st.caption(
        plain(". ".join(filter(None, said)) + ".")
        + " Click a cell, or go there by arrow keys, to open its config."
    )


def _ring(table: SweepTable, choice: Choice, frame) -> screen.Cell | None:
    """Around the cell of the config on the card: the address holds which that is, so a link brings
    it back."""
    index = card.opened(table, choice.problem)
    place = (
        place_of(table, choice, int(table.rows.at[index, "ordinal"])) if index is not None else None
    )
    axis = axis_of(table, choice, frame, place[2]) if place else ""
    return screen.Cell(place[0], place[1], axis) if place and axis else None


def _choose(table: SweepTable, problem: int) -> Choice | None:
    """What the choosers say; None when no knob varies."""
    varying = table.varying
    if not varying:
        return None
    axes = (
        varying
        if len(varying) > 1
        else [*varying, next((n for n in table.knobs if n not in varying), varying[0])]
    )
    with st.container(horizontal=True, gap="small", vertical_alignment="bottom"):
        favourites = table.favourites
        x = _select(
            "Columns", axes, session.MAP_X, next((n for n in favourites if n in axes), axes[0])
        )
        left = [n for n in axes if n != x] or axes
        y = _select(
            "Rows", left, session.MAP_Y, next((n for n in favourites if n in left), left[0])
        )
        by = _select(
            "Small multiples",
            [NONE, *(n for n in varying if n not in (x, y))],
            session.MAP_BY,
            NONE,
        )
        metrics = [
            name
            for name, column in RATES.items()
            if column in table.rows and table.rows[column].notna().any()
        ] or ["latency"]
        metric = st.selectbox("Show", metrics, key="_map_metric", width=CHOOSER_PX)
        reduce = st.selectbox(
            "Cell is the",
            [BEST, MEDIAN],
            key="_map_reduce",
            help="Of the configs that share a cell.",
            width=CHOOSER_PX,
        )
    others = [n for n in varying if n not in (x, y, by)]
    return Choice(x, y, by, problem, metric, reduce, _fixed(table, others, reduce))


def _fixed(table: SweepTable, others: list[str], reduce: str) -> dict[str, str]:
    """A chooser for each knob that is on no axis: reduced, or held at one of its values."""
    fixed: dict[str, str] = {}
    if not others:
        return fixed
    beside = len(others) <= MOST_BESIDE
    place = (
        st.container()
        if beside
        else st.expander("Hold other knobs at one value", icon=":material/lock:")
    )
    with place, st.container(horizontal=True, gap="small"):
        for name in others:
            value = st.selectbox(
                name,
                ["", *table.values[name]],
                key=f"_map_fix:{name}",
                width=CHOOSER_PX,
                format_func=lambda v: v or f"{reduce} of all",
            )
            if value:
                fixed[name] = value
    return fixed


def _select(label: str, options: list[str], key: str, default: str) -> str:
    """A chooser in the address; what another sweep or another axis left there falls back to the
    default."""
    if st.session_state.get(key) not in options:
        st.session_state.pop(key, None)
    return st.selectbox(
        label, options, index=options.index(default), key=key, bind="query-params", width=CHOOSER_PX
    )


@guarded
def picked() -> None:
    """A cell was clicked: the chart forgets, so it goes into the address at once. A second click
    gives no points and changes nothing."""
    open_points(st.session_state[session.SWEEP_MAP])


@guarded
def walked() -> None:
    """A key went to a cell."""
    ordinal = screen.walked_to(session.SWEEP_MAP)
    if ordinal is not None:
        address.open_config(ordinal)


def open_points(event) -> None:
    """Opens the config that a clicked point of any of our charts carries."""
    points = event["selection"]["points"]
    found = points[0].get("customdata") if points else None
    ordinal = found[0] if isinstance(found, (list, tuple)) else found
    if ordinal is not None:
        address.open_config(int(ordinal))
