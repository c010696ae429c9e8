"""The bottom of Explore: how to repeat the result, and the last runs of this kernel."""

import pandas as pd
import streamlit as st

from tileviz.engine.requests import Request
from tileviz.formats import assignments, duration_us, short_age, significant
from tileviz.records import Trial
from tileviz.ui import links, session
from tileviz.ui.form import held, measuring
from tileviz.ui.form.forms import Chosen
from tileviz.ui.parts import deleting, script
from tileviz.ui.parts.stores import store
from tileviz.ui.parts.trouble import guarded, plain

LAST = 10


def draw(chosen: Chosen, request: Request | None) -> None:
    if request is not None:
        _copies(chosen, request)
    _last_runs(chosen.kernel.name)


def _copies(chosen: Chosen, request: Request) -> None:
    """Three tabs; only the open one is drawn, since colouring a script takes a browser longer than the rest of the page."""
    st.header("Repeat it", anchor=False)
    target = chosen.place.target
    as_command, as_python, as_link = st.tabs(["Command", "Python", "Link"], on_change="rerun", key="_repeat")
    if as_command.open:
        command = script.command(chosen.kernel, request.kind, request.problem, request.config, target, request.device)
        command = " ".join([command, *measuring.options(request)])
        as_command.code(command, language=None, wrap_lines=True)
    if as_python.open:
        as_python.caption("The tile program with these knobs, as a script that needs TileLang and PyTorch and nothing of tileviz.")
        text = script.script(chosen.kernel, request.problem, request.config, target, request.device)
        as_python.code(text, language="python", height=360)
    if as_link.open:
        as_link.code(link(chosen, request), language=None, wrap_lines=True)


def link(chosen: Chosen, request: Request) -> str:
    """The whole address of this view."""
    base = (st.context.url or "http://localhost:8501/").split("?")[0]
    return base + links.link_to(chosen.kernel, chosen.place, {**request.problem, **request.config}, **chosen.measuring.changed)


def _last_runs(kernel: str) -> None:
    trials = store().trials(kernel, limit=LAST, sweeps=False)
    if not trials:
        deleting.note()
        return
    st.header(f"Last runs of {plain(kernel)}", anchor=False, help="Click a row to load its knobs and show it; then it can be deleted.")
    listed = st.session_state[session.RUNS_LISTED] = [t.trial for t in trials]
    picked = st.dataframe(
        runs_frame(trials), hide_index=True, width="stretch", key=session.LAST_RUNS, on_select=_picked, selection_mode="single-row",
        alt="Last runs of this kernel", column_config=_COLUMNS,
    ).selection.rows  # fmt: skip
    common = shared([{**t.problem, **t.config} for t in trials])
    if common:
        st.caption(plain(f"The same in every row: {assignments(common)}." if len(trials) > 1 else f"With {assignments(common)}."))
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        if picked and picked[0] < len(listed):
            deleting.button(f"Delete run {listed[picked[0]]}", [listed[picked[0]]], "_run_delete")
        deleting.note()


def runs_frame(trials: list[Trial], now: float | None = None) -> pd.DataFrame:
    """A row for each trial, newest first; text cells, since a value may be missing. Of knobs and sizes those that are not
    the same in every row."""
    rows, config, problem = [], shared([t.config for t in trials]), shared([t.problem for t in trials])
    for trial in trials:
        rows.append(
            {
                "when": short_age(trial.created, now),
                "on": trial.device or trial.target,
                "status": "compiled" if trial.status == "ok" and trial.device is None else trial.status.replace("_", " "),
                "latency": duration_us(trial.timing.median_us) if trial.timing and trial.timing.n else "-",
                "error": significant(trial.verdict.rel_error, 2) if trial.verdict else "-",
                "knobs that differ": _differing(trial.config, config),
                "sizes that differ": _differing(trial.problem, problem),
                "trial": trial.trial,
            }
        )
    return pd.DataFrame(rows)


def shared(found: list[dict]) -> dict:
    """What is the same in all of them."""
    first, *others = found
    return {name: value for name, value in first.items() if all(name in other and other[name] == value for other in others)}


def _differing(values: dict, common: dict) -> str:
    return assignments({name: value for name, value in values.items() if name not in common}) or "-"


@guarded
def _picked() -> None:
    """A row of the last runs was chosen."""
    rows = st.session_state[session.LAST_RUNS].selection.rows
    listed = st.session_state.get(session.RUNS_LISTED, [])
    if rows and rows[0] < len(listed):
        open_trial(listed[rows[0]])


def open_trial(trial_id: str) -> None:
    """Loads a stored trial into the form and shows it."""
    trial = store().trial(trial_id)
    if trial is None:
        return
    st.session_state.pop(session.LAST_JOB, None)
    held.load_trial(trial)


_COLUMNS = {
    **{name: st.column_config.TextColumn(name, width=pixels) for name, pixels in (("when", 84), ("on", 70), ("status", 104))},
    **{name: st.column_config.TextColumn(name, width=78, alignment="right") for name in ("latency", "error")},
    "knobs that differ": st.column_config.TextColumn("knobs that differ", width=240),
    "sizes that differ": st.column_config.TextColumn("sizes that differ", width=160),
}
"""Widths in pixels: all but the trial's name fit in a window of 1280; a wider one gives the rest to that."""
