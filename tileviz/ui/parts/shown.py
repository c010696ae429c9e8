"""Chooses the result that a page shows for the form as it stands, and tells whether it is for these
knobs."""

from dataclasses import dataclass

import streamlit as st

from tileviz import kernels
from tileviz.engine.requests import Request
from tileviz.formats import assignments
from tileviz.records import Artifact, JobView, Trial
from tileviz.ui import session
from tileviz.ui.parts.stores import artifact, recorded, store


@dataclass(frozen=True)
class Shown:
    """A result with its place in time: never under knobs that it is not for."""

    trial: Trial | None = None
    artifact: Artifact | None = None
    is_current: bool = True
    """False: the form says something else by now, and the result is dimmed."""
    stamp: str = ""
    """What it is for, when it is not for the form: `for block_M=64 M=512`."""

    @property
    def is_empty(self) -> bool:
        return self.trial is None and self.artifact is None


def choose(request: Request | None, job: JobView | None, kernel: str) -> Shown:
    """The result for this request: of the running or last job, of the link, the newest stored one, or the recorded one; else the last
    one, dimmed."""
    if job is not None and job.active and not job.trial and job.artifact and request is not None and job.artifact == request.key:
        return Shown(artifact=artifact(job.artifact))
    found = [t for t in _candidates(request, job) if t is not None and t.kernel == kernel]
    if not found:
        return Shown()
    current = next((t for t in found if _is_for(t, request)), None)
    trial = current or found[0]
    st.session_state[session.LAST_TRIAL] = trial.trial
    stamp = "" if current else stamp_of(trial, request)
    return Shown(trial, artifact(trial.artifact), current is not None, stamp)


def stamp_of(trial: Trial, request: Request | None) -> str:
    """What a result is for, where that differs from the form: the differing values, or what else differs."""
    if request is None:
        return f"for {assignments(trial.config)}"
    theirs = {**trial.problem, **trial.config}
    ours = {**request.problem, **request.config}
    changed = {name: value for name, value in theirs.items() if ours.get(name) != value}
    since = kernels.kernel(trial.kernel).whole({}) if trial.kernel in kernels.names() else {}
    dropped = [name for name, value in ours.items() if name not in theirs and (name not in since or since[name] != value)]
    words = assignments(changed)
    if dropped:
        words = " ".join(filter(None, [words, *(f"without {name}" for name in dropped)]))
    if trial.target != request.target:
        words = f"{words} on {trial.target}".strip()
    elif trial.device != request.device:
        words = f"{words} on {trial.device or 'no device, compiled only'}".strip()
    return f"for {words}" if words else "made with another version of the kernel file, TileLang or the toolkit"


def show_trial(trial: str) -> None:
    """The page shows this result."""
    session.unlink(session.JOB)
    session.link({session.TRIAL: trial})


def show_job(job: str) -> None:
    """The page watches this job, and then shows what came of it."""
    session.unlink(session.TRIAL)
    session.link({session.JOB: job})
    st.session_state[session.LAST_JOB] = job


def forget() -> None:
    """Neither a result nor a job of before."""
    session.unlink(session.TRIAL, session.JOB)
    st.session_state.pop(session.LAST_TRIAL, None)


def _candidates(request: Request | None, job: JobView | None):
    own = store().trial(job.trial) if job is not None and job.trial else None
    stopped = own is not None and own.status == "cancelled" and job is not None and not job.active
    if not stopped:
        yield own
    linked = session.linked(session.TRIAL)
    if linked:
        yield store().trial(linked)
    if request is not None:
        yield store().latest(request.key, request.device)
        yield _recorded(request)
    if stopped:
        yield own  # only where these knobs have no finished result
    last = st.session_state.get(session.LAST_TRIAL)
    if last:
        yield store().trial(last)


def _recorded(request: Request) -> Trial | None:
    there = recorded()
    return there.same(request.kernel, request.problem, request.config, request.target) if there is not None else None


def _is_for(trial: Trial, request: Request | None) -> bool:
    """A recorded result is for these knobs whatever was installed where it was measured."""
    if request is None:
        return False
    if trial.recorded:
        same = _recorded(request)
        return same is not None and same.trial == trial.trial
    return trial.key == request.key and trial.device == request.device
