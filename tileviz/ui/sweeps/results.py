"""What a sweep found: the heatmap with the opened config beside it, and the other views in tabs of
which only the open one is drawn."""

import streamlit as st

from tileviz.formats import assignments
from tileviz.ui import session
from tileviz.ui.parts import flop_count
from tileviz.ui.parts.places import CPU_CAVEAT
from tileviz.ui.parts.trouble import plain
from tileviz.ui.sweeps import map_view, take, views
from tileviz.ui.sweeps.table import SweepTable

TABS = {
    "Table": views.draw_top, "Progress": views.draw_progress, "Knobs": views.draw_effects,
    "Parallel": views.draw_parallel,
    "Resources": views.draw_against, "Shapes": views.draw_shapes, "Roofline": views.draw_roofline,
    "Failures": views.draw_failures,
    "Take it along": take.draw,
}  # fmt: skip


def draw(table: SweepTable) -> None:
    if table.rows.empty:
        st.info("This sweep has no configs.")
        return
    problem = _problem(table)
    table = flop_count.table(table)
    for sentence in flop_count.sentences(table.view.kernel, table.problems[problem]):
        st.caption(plain(sentence))
    map_view.draw(table, problem)
    if table.view.target == "cpu":
        st.caption(CPU_CAVEAT)
    names = list(TABS)
    tabs = st.tabs(
        names, key=session.VIEW, bind="query-params", on_change="rerun", default=names[0]
    )
    for tab, drawer in zip(tabs, TABS.values(), strict=True):
        if tab.open:
            with tab:
                drawer(table, problem)


def _problem(table: SweepTable) -> int:
    """Which of the sweep's problems the pictures are of."""
    if len(table.problems) == 1:
        return 0
    own = [
        {
            name: value
            for name, value in p.items()
            if len({str(q.get(name)) for q in table.problems}) > 1
        }
        for p in table.problems
    ]
    return st.selectbox(
        "Problem", range(len(own)),
        format_func=lambda number: plain(assignments(own[number] or table.problems[number])),
        key="sweep_problem", width=360,
    )  # fmt: skip
