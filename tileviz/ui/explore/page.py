"""The top of Explore: what the link asks for, what the page is about, the one button, and the
engine started ahead."""

import logging
import threading
from collections.abc import Callable
from pathlib import Path

import streamlit as st

from tileviz.engine import client
from tileviz.errors import TilevizError
from tileviz.records import JobView, Trial
from tileviz.ui import links, session
from tileviz.ui.form import held
from tileviz.ui.form.forms import Chosen
from tileviz.ui.parts import heard, places
from tileviz.ui.parts.stores import store
from tileviz.ui.parts.trouble import plain

LOG = logging.getLogger("tileviz.ui")

WARM_UP_AFTER_S = 1.5
"""Importing TileLang keeps two cores busy for some seconds; the browser draws first."""


def read_address() -> None:
    """What the link asks for; a link to a trial alone loads that trial's knobs."""
    links.follow_trial(_words, keep=(session.FLOPS,))
    links.read_link()
    held.carry("explore")


def _words(trial: Trial) -> dict[str, str]:
    own = links.of_trial(trial, links.place_word(trial))
    return {**own, **links.measured_words(trial), session.TRIAL: trial.trial}


def header(chosen: Chosen, why_not: str, job: JobView | None) -> None:
    """What this is, and the one button."""
    for note in links.notes():
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
    label = "Running" if running else words
    button.button(
        label,
        key=session.RUN,
        type="primary",
        width="stretch",
        disabled=off,
        help=plain(why_not) or None,
    )
    if why_not:
        st.error(f"{words} is off: {plain(why_not)}.")


def warm_up() -> None:
    """Last on the page, once a session: starts the engine when the browser has drawn the page, so
    that the first run finds it ready."""
    if st.session_state.get(session.WARMED):
        return
    st.session_state[session.WARMED] = True
    starter = threading.Timer(WARM_UP_AFTER_S, _start_engine, (client.ensure_engine, store().home))
    starter.daemon = True
    starter.start()


def _start_engine(ensure: Callable, home: Path) -> None:
    try:
        ensure(home)
    except TilevizError as error:
        LOG.warning(
            "the engine was not started ahead: %s", error
        )  # the first run says so on the page
