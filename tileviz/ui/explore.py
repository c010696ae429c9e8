"""The top of Explore: the form in the sidebar, what the page is about, and the one button."""

import logging
import threading
from collections.abc import Callable
from pathlib import Path

import streamlit as st

from tileviz import kernels
from tileviz.compiler import toolchain
from tileviz.engine import client, requests
from tileviz.engine.options import Where
from tileviz.engine.requests import Request
from tileviz.errors import BadRequest, TilevizError
from tileviz.records import Estimate, JobView
from tileviz.ui import forms, heard, measuring, meters, places, runs, shown, state
from tileviz.ui.forms import Chosen
from tileviz.ui.stores import store
from tileviz.ui.trouble import plain

LOG = logging.getLogger("tileviz.ui")

BUTTON = "run"

WARM_UP_AFTER_S = 1.5
"""Importing TileLang keeps two cores busy for some seconds; the browser draws first."""

NO_GPU = "No GPU here: kernels run on the CPU target; CUDA code can be read, not run."


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


def form(measure: Callable = measuring.plainly) -> tuple[Chosen, Request | None, str]:
    """The sidebar; (what is chosen, the request it makes, why it cannot be run or "").

    `measure` is `measuring.draw` on a page that runs.
    """
    with st.sidebar, st.container(gap="xsmall", key="form"):
        kernel, chosen_place = forms.kernel_and_place()
        problem, wrong = forms.problem(kernel, chosen_place)
        config, wrong_knobs = forms.config(kernel, chosen_place, problem)
        how, wrong_how = measure(chosen_place)
        chosen = Chosen(kernel, chosen_place, problem, config, {**wrong, **wrong_knobs, **wrong_how}, how)
        request, why_not = request_of(chosen)
        if chosen.complete:
            state.remember(kernel, chosen_place, chosen.values)
        meters.draw(chosen, estimate(chosen), request.broken if request else ())
    return chosen, request, why_not


def request_of(chosen: Chosen) -> tuple[Request | None, str]:
    """(the request, why the button is disabled or "")."""
    if not chosen.complete or chosen.mistakes:
        return None, next(iter(chosen.mistakes.values()), "The form is not complete")
    place = chosen.place
    where = Where(None, place.device.id, places.devices()) if place.device else Where(place.target.name, None, places.devices())
    try:
        request = requests.resolve(
            chosen.kernel.name, chosen.problem, chosen.config, kind=place.kind, where=where, measuring=chosen.measuring.asked
        )
    except BadRequest as error:
        return None, error.message
    missing = toolchain.why_nothing_runs() if chosen.place.runs else ""
    return request, missing or request.unsupported or "; ".join(request.broken)


def estimate(chosen: Chosen) -> Estimate | None:
    if not chosen.complete:
        return None
    return chosen.kernel.rules(chosen.problem, chosen.config, chosen.place.target)


def job_of(request: Request | None, why_not: str) -> JobView | None:
    """The job of this view: a new one when the button was just pressed, else the one in the address.

    The button is drawn after this, as running: a press costs one run of the page, not two. The request is of this very run, so it holds
    what was typed last.
    """
    if st.session_state.get(BUTTON) and request is not None and not why_not:
        runs.start(request)
    return runs.attached()


def header(chosen: Chosen, why_not: str, job: JobView | None) -> None:
    """What this is, and the one button."""
    for note in state.notes():
        st.warning(plain(note))
    title, button = st.columns([4, 1], vertical_alignment="center")
    with title, st.container(gap="xsmall"):
        st.title(plain(f"{chosen.kernel.title} on {chosen.place.word}"), anchor=False)
        st.caption(plain(chosen.kernel.summary))
        if not places.has_gpu():
            st.caption(f":material/info: {NO_GPU}")
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
