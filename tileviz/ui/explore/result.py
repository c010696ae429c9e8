"""The result on Explore: the running job, then what was measured for these knobs, or what a run
would do.

Imports pandas and plotly, so it is imported after the form is on the screen.
"""

import streamlit as st

from tileviz.engine.requests import Request
from tileviz.formats import age, assignments
from tileviz.kernels.asked import AskedKernel
from tileviz.records import JobView, Trial
from tileviz.ui.explore import error_map, evidence, traffic
from tileviz.ui.form import measuring, recorded
from tileviz.ui.form.forms import Chosen
from tileviz.ui.parts import code, flop_count, headline, resources, runs, script, shown
from tileviz.ui.parts.shown import Shown
from tileviz.ui.parts.trouble import plain

WHAT_THIS_IS = (
    "tileviz shows what a GPU kernel written in TileLang becomes. Pick a kernel, a"
    " problem and knobs on the left."
)


def draw(chosen: Chosen, request: Request | None, job: JobView | None) -> None:
    """The running job, then the result for these knobs, or what a run would do."""
    running = job is not None and job.active
    if running:
        runs.progress(job)
    found = shown.choose(request, job, chosen.kernel.name)
    if job is not None and not running:
        _ended_badly(job, found)
    if found.is_empty:
        if running:
            _program(chosen.kernel)
        else:
            _nothing_yet(chosen, request)
        return
    if found.trial is not None and found.trial.recorded and found.is_current and not running:
        recorded.draw_stamp(found.trial, chosen, request)
    else:
        _stamp(found, request, running)
    with st.container(key="current" if found.is_current else "stale"):
        _draw_result(
            chosen,
            request,
            found,
            running and job.trial == (found.trial.trial if found.trial else None),
        )


def _draw_result(chosen: Chosen, request: Request | None, found: Shown, running: bool) -> None:
    trial, kernel = found.trial, chosen.kernel
    if trial is not None:
        draw_numbers(trial, running)
        if not running:
            recorded.draw_beside(chosen, request, trial)
        traffic.draw(flop_count.counted(trial), running)
    if found.artifact is not None:
        resources.draw(found.artifact)
        code.draw(found.artifact, kernel)
    elif running:
        _program(kernel)


def draw_numbers(trial: Trial, running: bool) -> None:
    """The top row, where errors lie, and the baselines."""
    headline.status(trial)
    row = st.container()
    flop_count.conventions(trial)
    flop_count.control_under(trial)
    trial = flop_count.counted(trial)
    if trial.verdict is not None or trial.timing is not None or running:
        with row:
            headline.row(trial, running)
    error_map.draw(trial)
    evidence.draw(trial, running)


def _stamp(found: Shown, request: Request | None, running: bool) -> None:
    """Which knobs and how old."""
    trial = found.trial
    if trial is None:
        return
    if not found.is_current:
        st.warning(
            f"**{plain(found.stamp)}**: not for the knobs on the left. Run measures those.",
            icon=":material/history:",
        )
        return
    if running:
        return
    otherwise = (
        measuring.differences(request, trial) if request is not None and trial.timing else ""
    )
    if otherwise:
        words = (
            f"Measured {age(trial.created)} with {otherwise}; the form says otherwise. Run"
            " measures that."
        )
        st.warning(plain(words), icon=":material/history:")
        return
    did = "measured" if trial.timing else "made"
    again = "Run measures again" if trial.device else "Compile makes it again"
    words = f"{did} {age(trial.created)}; {again}"
    if request is not None and trial.config != request.config:
        words += f". Same generated code as {assignments(trial.config)}"
    st.caption(plain(words))


def _ended_badly(job: JobView, found: Shown) -> None:
    """A job that was stopped or broke, unless its trial says so itself."""
    if job.state == "cancelled" and (found.trial is None or found.trial.status != "cancelled"):
        earlier = found.trial is not None and found.trial.trial != job.trial
        st.info(
            "Cancelled: the last run. This is the result before it."
            if earlier
            else "Cancelled. What was measured before is kept."
        )
    if job.state != "failed":
        return
    st.error(f"The run did not finish: {plain(job.reason or 'no reason was given')}.")


def _nothing_yet(chosen: Chosen, request: Request | None) -> None:
    """The first screen of a newcomer: what this is, a recorded result, and the program that Run
    would take through it."""
    st.markdown(f"{WHAT_THIS_IS} {what_it_does(chosen)}")
    recorded.draw_whole(chosen, request, lambda trial: draw_numbers(trial, running=False))
    _program(chosen.kernel)


def _program(kernel: AskedKernel) -> None:
    title = f"{kernel.name}: the tile program"
    code.pane(
        script.program_source(kernel),
        "python",
        key="program",
        title=title,
        file=f"{kernel.name}.py",
    )


def what_it_does(chosen: Chosen) -> str:
    """What a click on the button would do here, as Markdown."""
    where = plain(chosen.place.word)
    if not chosen.place.runs:
        return (
            f"**Compile** generates code for {where} from the tile program below: CUDA, PTX and"
            " SASS, with resources and counts."
        )
    names = " and ".join(
        b.title for b in chosen.kernel.baselines if b.kind in ("any", chosen.place.target.kind)
    )
    return (
        f"**Run** compiles the tile program below for {where}, checks its output against a float64"
        " reference and times it;"
        f" then it times {plain(names)} with the same inputs."
    )
