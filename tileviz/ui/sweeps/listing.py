"""The list of sweeps: a row opens one."""

import json
import logging

import pandas as pd
import streamlit as st

from tileviz.formats import age, assignments, duration_us
from tileviz.store.sweeps import Pace, SweepView
from tileviz.ui import session
from tileviz.ui.parts.cells import kept_as_text
from tileviz.ui.parts.stores import recorded, store
from tileviz.ui.parts.trouble import guarded
from tileviz.ui.sweeps import address

MOST = 50

LOG = logging.getLogger("tileviz.ui")

UNREADABLE = (LookupError, AttributeError, TypeError, ValueError, ArithmeticError)
"""What reading a request or a result raises that an earlier version took from a file unchecked: a key that is missing, a value of another
kind, a number that is none. A failure of the store is none of these: the page says it once."""


def draw(shown: SweepView | None) -> None:
    """Every stored sweep, newest first, then the recorded ones."""
    own, there = store().sweeps(limit=MOST), recorded()
    views = [*own, *(there.sweeps(limit=MOST) if there is not None else ())]
    if not views:
        return
    title = f"All sweeps ({title_words(own, len(views) - len(own))})"
    with st.expander(title, icon=":material/list:", expanded=shown is None):
        st.session_state[session.SWEEPS_LISTED] = [view.id for view in views]
        st.dataframe(
            sweeps_frame(views, shown.id if shown else ""), hide_index=True, width="stretch", height=min(38 + 35 * len(views), 248),
            key=session.SWEEP_LIST, on_select=_picked, selection_mode="single-row", alt="All sweeps", column_config=_RIGHT,
        )  # fmt: skip


def title_words(own: list[SweepView], recorded: int) -> str:
    """`3, 1 at work, and 10 recorded`."""
    running = sum(view.active for view in own)
    words = f"{len(own):,}{'+' if len(own) == MOST else ''} of this machine{f', {running} at work' if running else ''}"
    return f"{words}, {recorded:,} recorded" if recorded else words


def sweeps_frame(views: list[SweepView], shown: str = "", now: float | None = None) -> pd.DataFrame:
    """A row for each sweep, as text. One that cannot be read says so, and the others are drawn."""
    return kept_as_text(pd.DataFrame([_row_or_why(view, shown, now) for view in views]).fillna("-"))


def _row_or_why(view: SweepView, shown: str, now: float | None) -> dict[str, str]:
    try:
        return _row(view, shown, now)
    except UNREADABLE:
        LOG.exception("sweep %s cannot be drawn", view.id)
        return {"": "\u25cf" if view.id == shown else "", "kernel": str(view.kernel), "state": "cannot be drawn", "sweep": view.id}


def _row(view: SweepView, shown: str, now: float | None) -> dict[str, str]:
    problems, pace = view.request["problems"], pace_of(view)
    best = duration_us(next(iter(view.bests.values())).median_us) if view.bests else "-"
    return {
        "": "\u25cf" if view.id == shown else "",
        "started": age(view.created, now),
        "state": "recorded" if view.recorded else "imported" if view.request.get("imported") else view.state,
        "kernel": view.kernel,
        "on": view.device or view.target,
        "problem": assignments(problems[0]) if len(problems) == 1 else f"{len(problems):,} problems",
        "configs": f"{pace.done:,} of {pace.total:,}",
        "ok": f"{pace.counts.get('ok', 0):,}",
        "best": best if len(problems) == 1 else f"{len(view.bests)} bests",
        "by": view.request.get("strategy") or "-",
        "sweep": view.id,
    }


def pace_of(view: SweepView) -> Pace:
    """How far a sweep is. That of one that has ended is read once: the list is drawn at every click, and sweeps may have many configs."""
    if view.active:
        return store().sweep_pace(view.id)
    return _pace(str(store().home), view.id, json.dumps([view.state, view.ended, view.counts], sort_keys=True))


@st.cache_resource(max_entries=4 * MOST, show_spinner=False)
def _pace(_home: str, sweep: str, version: str) -> Pace:
    return store().sweep_pace(sweep)


@guarded
def _picked() -> None:
    rows = st.session_state[session.SWEEP_LIST].selection.rows
    listed = st.session_state.get(session.SWEEPS_LISTED, [])
    view = store().sweep(listed[rows[0]]) if rows and rows[0] < len(listed) else None
    if view is not None:
        address.open_sweep(view)


_RIGHT = {name: st.column_config.TextColumn(name, alignment="right") for name in ("configs", "ok", "best")}
_RIGHT[""] = st.column_config.TextColumn("", width=24)
