"""Watches jobs of the Code page that are not the page's own: another architecture, the ladder, a
reading of the lowering."""

import streamlit as st

from tileviz.engine import client
from tileviz.records import JobView
from tileviz.ui import session
from tileviz.ui.parts import runs
from tileviz.ui.parts.stores import store
from tileviz.ui.parts.trouble import guarded, plain

TICK_S = 0.5

MOST_NAMED = 7


def keep(name: str, jobs: list[str]) -> None:
    """Remembers the jobs that one part of the page started."""
    st.session_state[session.jobs_of(name)] = jobs


def adopt(name: str, kind: str, keys: set[str]) -> None:
    """Takes up jobs at these keys that are at work already: started before a reload, or by another
    session."""
    known = st.session_state.setdefault(session.jobs_of(name), [])
    for job in store().jobs(active=True, limit=50):
        request = runs.request_of(job) if job.kind == kind and job.id not in known else None
        if request is not None and request.key in keys:
            known.append(job.id)


def active(name: str) -> list[JobView]:
    """Those of them that are still at work."""
    found = (client.watch(store(), job) for job in st.session_state.get(session.jobs_of(name), ()))
    return [job for job in found if job is not None and job.active]


def failures(name: str) -> list[str]:
    """Why jobs of this part ended without a result."""
    found = (store().job(job) for job in st.session_state.get(session.jobs_of(name), ()))
    return [job.reason for job in found if job is not None and job.state == "failed"]


def draw(name: str) -> bool:
    """Draws what runs and runs the page again whenever one of the jobs ends. False when none is at
    work."""
    running = active(name)
    if not running:
        return False
    st.fragment(guarded(_tick), run_every=TICK_S, key=f"_waiting_{name}")(name, len(running))
    return True


def _tick(name: str, drawn: int) -> None:
    running = active(name)
    if len(running) != drawn:
        st.rerun()
    total = len(st.session_state.get(session.jobs_of(name), ()))
    if total > 1:
        st.progress(
            (total - len(running)) / total,
            text=plain(progress_words(total - len(running), total, running)),
        )
    with st.container(horizontal=True, vertical_alignment="center"):
        if total == 1:
            st.caption(f":material/pending: {plain(words(running))}")
        st.button(
            "Cancel", key=f"_cancel_{name}", icon=":material/stop:", on_click=_cancel, args=(name,)
        )


def progress_words(done: int, total: int, running: list[JobView]) -> str:
    """`3 of 9 compiled; waiting for sm_90a: compile, 1.2 s; sm_100a: queued, 0.3 s`"""
    return f"{done} of {total} compiled; waiting for {words(running)}"


def words(running: list[JobView]) -> str:
    """`sm_75: compile, 1.2 s; sm_80: queued, 0.3 s`"""
    shown = [
        f"{job.request.get('target', '')}: {runs.headline(job)}" for job in running[:MOST_NAMED]
    ]
    more = len(running) - len(shown)
    return "; ".join(shown) + (f" and {more} more" if more else "")


@guarded
def _cancel(name: str) -> None:
    for job in active(name):
        client.cancel(store(), job.id)
