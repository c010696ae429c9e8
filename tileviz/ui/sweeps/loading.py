"""Reads a sweep's table once for every state of it, and not at every click."""

import json
from dataclasses import replace

import streamlit as st

from tileviz.engine.sweeps import results
from tileviz.store import exchange
from tileviz.store.sweeps import SweepView
from tileviz.ui import session
from tileviz.ui.parts.stores import store
from tileviz.ui.sweeps.table import SweepTable, table_of


def table(view: SweepView) -> SweepTable:
    """The sweep's table. While it runs, that of the last refresh: charts stand still under the hand
    until there is a new best."""
    version = json.dumps([view.state, view.counts, view.ended, view.tied], sort_keys=True)
    if view.active:
        held, fresh = (
            st.session_state.get(session.SWEEP_HELD, ("", "")),
            st.session_state.pop(session.SWEEP_FRESH, False),
        )
        version = version if fresh or held[0] != view.id else held[1]
        st.session_state[session.SWEEP_HELD] = (view.id, version)
    drawn = _table(str(store().home), view.id, version)
    return replace(
        drawn, view=replace(view, bests=drawn.view.bests, tied=drawn.view.tied)
    )  # the best of what is drawn


def why_unreadable(view: SweepView) -> str:
    """Why an imported sweep cannot be drawn: earlier versions took files unchecked. Empty for one
    that can, and for our own."""
    return _why(str(store().home), view.id) if view.request.get("imported") else ""


@st.cache_resource(max_entries=200, show_spinner=False)
def _why(_home: str, sweep: str) -> str:
    return exchange.why_unreadable(
        results.there(store(), sweep).request, store().sweep_columns(sweep)
    )


def refresh() -> None:
    """The next run of the page reads the table anew."""
    st.session_state[session.SWEEP_FRESH] = True


@st.cache_resource(max_entries=6, show_spinner=False)
def _table(_home: str, sweep: str, version: str) -> SweepTable:
    return table_of(results.there(store(), sweep), store().sweep_columns(sweep))
