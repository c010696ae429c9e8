"""The sidebar of Explore and Code: the form from top to bottom, the request that it makes, and the
job that a press starts."""

from collections.abc import Callable

import streamlit as st

from tileviz.compiler import toolchain
from tileviz.engine import requests
from tileviz.engine.options import Where
from tileviz.engine.requests import Request
from tileviz.errors import BadRequest
from tileviz.records import Estimate, JobView
from tileviz.ui import session
from tileviz.ui.form import forms, held, measuring, meters
from tileviz.ui.form.forms import Chosen
from tileviz.ui.parts import places, runs


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
            held.remember(kernel, chosen_place, chosen.values)
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
    if chosen.problem is None or chosen.config is None:
        return None
    return chosen.kernel.rules(chosen.problem, chosen.config, chosen.place.target)


def job_of(request: Request | None, why_not: str) -> JobView | None:
    """The job of this view: a new one when the button was just pressed, else the one in the address.

    The button is drawn after this, as running: a press costs one run of the page, not two. The request is of this very run, so it holds
    what was typed last.
    """
    if st.session_state.get(session.RUN) and request is not None and not why_not:
        runs.start(request)
    return runs.attached()
