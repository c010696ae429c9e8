"""What a run says to someone who does not see the page: its start, its end and what came out, read
aloud by the browser's own reader.

look.js takes the words to a place that stays, since a reader tells changes of a text and not that a
text was drawn anew; and it brings the keyboard back to the button that was pressed, which a browser
drops while the button is off.
"""

import html

import streamlit as st

from tileviz.formats import duration_us
from tileviz.records import JobView, Trial
from tileviz.ui.parts.stores import store


def draw(job: JobView | None) -> None:
    """Draws nothing that is seen."""
    trial = store().trial(job.trial) if job is not None and job.trial and not job.active else None
    with st.container(key="heard"):
        st.html(f'<span data-words="{html.escape(words(job, trial))}"></span>')


def words(job: JobView | None, trial: Trial | None) -> str:
    """`Running`, `Done: right, 6.00 ms`, `Done: compiled`, `The run was cancelled`; empty without a
    job."""
    if job is None:
        return ""
    if job.active:
        return "Running" if job.kind == "run" else "Compiling"
    if job.state != "done":
        return (
            "The run was cancelled"
            if job.state == "cancelled"
            else f"The run did not finish: {job.reason or 'no reason was given'}"
        )
    return f"Done: {_outcome(trial)}" if trial is not None else "Done"


def _outcome(trial: Trial) -> str:
    if trial.status != "ok":
        return trial.status.replace("_", " ")
    verdict = ["right"] if trial.verdict is not None and trial.verdict.ok else []
    return (
        ", ".join(
            [
                *verdict,
                *([duration_us(trial.timing.median_us)] if trial.timing and trial.timing.n else []),
            ]
        )
        or "compiled"
    )
