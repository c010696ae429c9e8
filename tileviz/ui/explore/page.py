"""The top of Explore: what the link asks for, what the page is about, the one button, and the engine started ahead."""

import logging
import threading
from collections.abc import Callable
from pathlib import Path

import streamlit as st

from tileviz import kernels
from tileviz.engine import client
from tileviz.errors import TilevizError
from tileviz.records import JobView
from tileviz.ui.form import state
from tileviz.ui.form.forms import Chosen
from tileviz.ui.form.sidebar import BUTTON
from tileviz.ui.parts import heard, places, shown
from tileviz.ui.parts.stores import store
from tileviz.ui.parts.trouble import plain

LOG = logging.getLogger("tileviz.ui")

WARM_UP_AFTER_S = 1.5
"""Importing TileLang keeps two cores busy for some seconds; the browser draws first."""


def read_address() -> None:
    """What the link asks for, checked once a session; a link to a trial alone loads that trial's knobs."""
    if not st.session_state.get("_link_read"):
        trial = shown.linked_trial()
        if trial is not None and trial.kernel in kernels.names():
            config = kernels.kernel(trial.kernel).whole(trial.config)
            values = state.words_of({**trial.problem, **config, **state.measured_words(trial)})
            values |= {name: st.query_params[name] for name in ("flops",) if name in st.query_params}
            st.query_params.from_dict({"kernel": trial.kernel, "target": state.place_word(trial), **values, "trial": trial.trial})
            st.rerun()
    state.read_link()
    state.carry("explore")


def header(chosen: Chosen, why_not: str, job: JobView | None) -> None:
    """What this is, and the one button."""
    for note in state.notes():
        st.warning(plain(note))
    title, button = st.columns([4, 1], vertical_alignment="center")
    with title, st.container(gap="xsmall"):
        st.title(plain(f"{chosen.kernel.title} on {chosen.place.word}"), anchor=False)
        st.caption(plain(chosen.kernel.summary))
        if not places.has_gpu():
            st.caption(f":material/info: {places.NO_GPU}")
    heard.draw(job)
    running = job is not None and job.active
    words = "Run" if chosen.place.runs else "Compile"
    off = bool(why_not) or running
    button.button("Running" if running else words, key=BUTTON, type="primary", width="stretch", disabled=off, help=plain(why_not) or None)
    if why_not:
        st.error(f"{words} is off: {plain(why_not)}.")


def warm_up() -> None:
    """Last on the page, once a session: starts the engine when the browser has drawn the page, so that the first run finds it ready."""
    if st.session_state.get("_warmed"):
        return
    st.session_state["_warmed"] = True
    starter = threading.Timer(WARM_UP_AFTER_S, _start_engine, (client.ensure_engine, store().home))
    starter.daemon = True
    starter.start()


def _start_engine(ensure: Callable, home: Path) -> None:
    try:
        ensure(home)
    except TilevizError as error:
        LOG.warning("the engine was not started ahead: %s", error)  # the first run says so on the page
