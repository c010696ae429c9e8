"""Run, watch, cancel: from the click to the result, without ever holding the page."""

import time
from collections.abc import Callable

import streamlit as st

from tileviz.engine import client
from tileviz.engine.requests import Request, request_from_json
from tileviz.errors import BadRequest
from tileviz.formats import assignments, seconds
from tileviz.records import JobView
from tileviz.ui import links, session
from tileviz.ui.parts import shown
from tileviz.ui.parts.stores import store
from tileviz.ui.parts.trouble import guarded, plain

FIRST_WAIT_S = 1.0
"""How long the page itself waits after a click before it starts to watch: many answers are there by then."""

TICK_S = 0.5

PHASES = {
    "run": ("lower", "compile", "inputs and reference", "check", "time"),
    "compile": ("lower", "compile", "disassemble"),
    "profile": ("profile",),
}

TITLES = {
    "lower": "lower the tile program",
    "compile": "compile",
    "disassemble": "disassemble",
    "wait for the device": "wait for the device: another session is measuring",
    "check": "check against the reference",
    "time": "time",
    "profile": "profile one launch with Nsight Compute",
    "ceilings": "measure copy bandwidth and matrix rates",
}


def start(request: Request) -> str:
    """Submits a request and gives the job's id, after a short wait for the first thing there is to show."""
    job = client.submit(store(), request)
    links.drop_notes()
    shown.show_job(job)
    end = time.monotonic() + FIRST_WAIT_S
    while time.monotonic() < end and not _has_news(store().job(job)):
        time.sleep(0.02)
    return job


def _has_news(job: JobView | None) -> bool:
    """True also of a job that is gone: there is nothing to wait for."""
    return job is None or not job.active or job.artifact is not None or job.trial is not None


def attached() -> JobView | None:
    """The job of this view: the one in the address, so that a reload finds it again."""
    job = session.linked(session.JOB) or st.session_state.get(session.LAST_JOB)
    return store().job(job) if job else None


def request_of(job: JobView) -> Request | None:
    try:
        return request_from_json(job.request)
    except (TypeError, BadRequest):
        return None


def progress(job: JobView, tick_s: float = TICK_S, later: Callable[[JobView], bool] = lambda job: False) -> None:
    """Draws an active job and keeps drawing it; when there is something new to show, the whole page runs again.

    `later` holds that back: a part of the page shows the news by itself first, sooner than the page can.
    """
    st.fragment(guarded(_tick), run_every=tick_s, key="_progress")(job.id, signature(job), later)


def signature(job: JobView | None) -> tuple:
    """Changes when the page has more to show: the source, the verdict and time, each baseline, the end."""
    if job is None:
        return ()
    ending = job.kind == "compile" and job.active  # its trial is written just before it ends: one run of the page for both
    trial = store().trial(job.trial) if job.trial and not ending else None
    return (
        job.state if not job.active else "active",
        job.artifact,
        trial.trial if trial else None,
        trial.status if trial else None,
        len(trial.baselines) if trial else 0,
    )


def _tick(job_id: str, drawn: tuple, later: Callable[[JobView], bool] = lambda job: False) -> None:
    job = client.watch(store(), job_id)
    if job is None or (signature(job) != drawn and not later(job)):
        st.rerun()
    _draw(job)


def _draw(job: JobView) -> None:
    with st.container(border=True, key="progress"):
        with st.container(horizontal=True, vertical_alignment="center", horizontal_alignment="distribute"):
            st.markdown(f"**{headline(job)}**")
            st.button("Cancel", key="_cancel", icon=":material/stop:", on_click=_cancel, args=(job.id,), disabled=job.state == "cancelling")
        st.caption(f"{plain(job.request.get('kernel', ''))} for {plain(assignments(job.request.get('config', {})))}")
        with st.container(horizontal=True, gap="small"):
            for name, look in steps(job):
                st.badge(plain(name), **look)


def headline(job: JobView, now: float | None = None) -> str:
    """What happens now, with its seconds."""
    now = time.time() if now is None else now
    if job.state == "cancelling":
        return "cancelling: what runs is being stopped"
    if job.state == "queued":
        waited = seconds(now - job.created)
        if job.queue_position:
            before = f"{job.queue_position} job{'s' if job.queue_position > 1 else ''} before it"
            return f"queued, {waited}: {before}; another session is measuring"
        return f"queued, {waited}: the engine is starting"
    if not job.phase:
        return f"starting, {seconds(now - (job.started or job.created))}"
    name = TITLES.get(job.phase, job.phase)
    return plain(f"{name}, {seconds(now - (job.phase_started or now))}")


def steps(job: JobView) -> list[tuple[str, dict]]:
    """(words, how the badge looks) for what is done, what runs and what is still to come."""
    done = [
        (f"{name} {seconds(took)}", {"color": "green", "icon": ":material/check:"})
        for name, took in job.phases.items()
        if name != job.phase
    ]
    now = [(job.phase, {"color": "blue", "icon": ":material/pending:"})] if job.phase else []
    known = {*job.phases, job.phase}
    later = [(name, {"color": "gray"}) for name in PHASES.get(job.kind, ()) if name not in known and _is_ahead(name, job)]
    return done + now + later


def _is_ahead(name: str, job: JobView) -> bool:
    """False for a phase that was skipped: a stored artifact needs no compiling."""
    order = PHASES.get(job.kind, ())
    reached = [order.index(p) for p in (*job.phases, job.phase) if p in order]
    return order.index(name) > max(reached, default=-1) and not job.phase.startswith("baseline")


@guarded
def _cancel(job: str) -> None:
    client.cancel(store(), job)
