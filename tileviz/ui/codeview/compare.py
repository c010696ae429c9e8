"""The Diff tab: the same text of two configs, or of one config on two architectures, changed counts first."""

from dataclasses import dataclass

import pandas as pd
import streamlit as st

from tileviz import lens
from tileviz.compiler import targets
from tileviz.engine import client, ladder
from tileviz.engine.requests import Request
from tileviz.errors import TilevizError
from tileviz.formats import assignments
from tileviz.kernels.asked import AskedKernel
from tileviz.lens import diff as difference
from tileviz.records import Artifact, Trial
from tileviz.ui import session
from tileviz.ui.codeview import recent, rows, texts
from tileviz.ui.codeview.panes import next_text
from tileviz.ui.parts import code, resources, waiting
from tileviz.ui.parts.codepane import Text, code_pane
from tileviz.ui.parts.stores import store
from tileviz.ui.parts.trouble import guarded, plain

NAME = "other"
"""Of the jobs that compile the other side."""

ALL, CHANGED = "All lines", "Changed lines"

MOST_CHANGES = 12

HEIGHT = 640


@dataclass(frozen=True)
class Other:
    """What is compared with: B."""

    label: str
    artifact: Artifact | None
    request: Request | None = None
    """Of another architecture: what compiles it."""
    reason: str = ""


def choose(request: Request) -> str:
    """The chooser of B; its word is a trial's id or a target, and stands in the address as `b`."""
    options = ["", *(name for name in targets.TARGETS if name not in ("cpu", request.target)), *(t.trial for t in _trials(request))]
    linked = session.linked(session.OTHER)
    if linked and linked not in options and store().trial(linked):
        options.append(linked)
    labels = {t.trial: _label(t, request) for t in (*_trials(request), store().trial(linked)) if t is not None}
    return st.selectbox(
        "Compare with (B)", options, index=options.index(linked) if linked in options else 0, key=session.OTHER_CHOSEN, on_change=_chosen,
        format_func=lambda word: labels.get(word) or _target_label(word),
        help="The same config on another architecture, or a compiled config of this kernel; the Diff tab shows both.",
    )  # fmt: skip


@guarded
def _chosen() -> None:
    """The address holds the word itself; a bound chooser would put its label there."""
    word = st.session_state[session.OTHER_CHOSEN]
    if word:
        session.link({session.OTHER: word})
    else:
        session.unlink(session.OTHER)


def other(word: str, request: Request) -> Other | None:
    """What the chooser's word means; None when nothing is chosen."""
    if not word:
        return None
    trial = store().trial(word)
    if trial is not None:
        artifact = store().artifact(trial.artifact) if trial.artifact else None
        return Other(f"{assignments(_differing(trial, request)) or 'the same knobs'} on {trial.target}", artifact, reason=trial.reason)
    try:
        elsewhere, own = ladder.elsewhere(request.kernel, request.problem, request.config, targets.target(word).name)
    except TilevizError as error:
        return Other(word, None, reason=error.message)
    reason = elsewhere.unsupported or "; ".join(elsewhere.broken)
    latest = store().latest(elsewhere.key)
    if latest is not None and latest.status not in ("ok", "cancelled", "pruned"):
        reason = reason or latest.reason
    config = f"the kernel's own config for {elsewhere.target}" if own else f"the same config on {elsewhere.target}"
    return Other(config, store().artifact(elsewhere.key, complete=True), elsewhere, reason)


def draw(artifact: Artifact, kernel: AskedKernel, request: Request, against: Other | None) -> None:
    """The tab."""
    if against is None:
        st.info("Choose what to compare with at the top of the page: another architecture, or another compiled config of this kernel.")
        return
    if against.artifact is None:
        _missing(against)
        return
    st.caption(plain(f"A: {assignments(request.config)} on {request.target}. B: {against.label}."))
    st.fragment(guarded(_draw), key="_diff")(artifact, against.artifact, kernel)


def _missing(against: Other) -> None:
    if waiting.draw(NAME):
        return
    if against.reason:
        st.warning(plain(f"B, {against.label}, has no code: {against.reason}"))
    elif against.request is None:
        st.warning("The compiled code of this trial is no longer stored; compile it again.")
    elif st.button(f"Compile B: {plain(against.label)}", key="compile_b"):
        waiting.keep(NAME, [client.submit(store(), against.request)])
        st.rerun()


def _draw(left: Artifact, right: Artifact, kernel: AskedKernel) -> None:
    options = [title for title in texts.titles(left) if title != texts.PROGRAM.title and title in texts.titles(right)]
    if not options:
        st.info("A is code for the CPU and B is code for a GPU: they have no text in common.")
        return
    with st.container(horizontal=True, vertical_alignment="center"):
        title = st.segmented_control(
            "Text", options, default=options[-1], required=True, key=session.DIFF_TEXT, label_visibility="collapsed"
        )
        shown = st.selectbox(
            "Show", [ALL, CHANGED, *(cls.title for cls in lens.CLASSES)], key="diff_show", label_visibility="collapsed", width=220
        )
    views = [texts.view(artifact, kernel, title if title in options else options[-1]) for artifact in (left, right)]
    ours, theirs = (view.text for view in views)
    if ours is None or theirs is None:
        name, view = ("A", views[0]) if ours is None else ("B", views[1])
        st.info(plain(f"{name}: {view.missing}"))
        return
    _summary(left, right, found(ours, theirs, views[0].language))
    columns = aligned(ours, theirs, views[0].language, shown)
    classes = code.lit("", views[0].language)[0] if views[0].language in lens.LANGUAGES else []
    both = [title for title in options if all(title in texts.there(each) for each in (left, right))]
    step = next_text(session.DIFF_TEXT, both, views[0].title)
    for name, place, side, view, artifact in zip("AB", st.columns(2, gap="small"), columns, views, (left, right), strict=True):
        heading, file = f"{name}: {view.title} for {artifact.target}", texts.file_name(artifact, kernel, view.title)
        top = view.top if name == "A" else None  # B goes where A goes
        with place:
            text = Text(side.text, view.language, heading, file, classes, side.spans, numbers=side.numbers, marks=side.marks, top=top)
            code_pane(text, key=f"diff_{name}", height=HEIGHT, group="diff", together=True, on_step=step)


def _summary(left: Artifact, right: Artifact, between: difference.Diff) -> None:
    """Changed counts, then resources that differ."""
    words = [change.words for change in between.changes[:MOST_CHANGES]]
    more = len(between.changes) - len(words)
    if words:
        st.markdown(f"**{plain(', '.join(words))}**" + (f" and {more} more" if more > 0 else ""), help="From A to B; static counts.")
    elif between.is_same:
        st.success("The same code, up to the names of registers and labels.")
    frame = resource_frame(left, right)
    if not frame.empty:
        st.dataframe(frame, hide_index=True, width="content", key="diff_resources", alt="Resources that differ")


@st.cache_data(max_entries=16, show_spinner=False)
def found(left: str, right: str, language: str) -> difference.Diff:
    return difference.diff(left, right, language)


@st.cache_data(max_entries=16, show_spinner=False)
def aligned(left: str, right: str, language: str, shown: str) -> tuple[rows.Column, rows.Column]:
    """Both columns, filtered alike."""
    known = rows.beside(found(left, right, language).rows)
    spans = [code.lit(text, language)[1] if language in lens.LANGUAGES else [] for text in (left, right)]
    at = next((number for number, cls in enumerate(lens.CLASSES) if cls.title == shown), None)
    wanted = rows.around_changes(known) if shown == CHANGED else [True] * len(known)
    if at is not None:
        wanted = rows.of_class(known, *spans, at)
    kept = rows.kept(known, wanted)
    return rows.column(kept, left, spans[0], "left"), rows.column(kept, right, spans[1], "right")


def resource_frame(left: Artifact, right: Artifact) -> pd.DataFrame:
    """Resources that are not the same on both sides."""
    ours, theirs = (dict(resources.resources_frame(a).itertuples(index=False)) for a in (left, right))
    names = [name for name in {**ours, **theirs} if ours.get(name) != theirs.get(name)]
    return pd.DataFrame(
        [{"resource": name, "A": ours.get(name, "-"), "B": theirs.get(name, "-")} for name in names], columns=["resource", "A", "B"]
    )


def _trials(request: Request) -> list[Trial]:
    """Compiled configs of this kernel other than A, newest first."""
    return [trial for trial in recent.compiled(request.kernel) if trial.key != request.key and trial.target != "cpu"]


def _differing(trial: Trial, request: Request) -> dict:
    ours = {**request.problem, **request.config}
    return {name: value for name, value in {**trial.problem, **trial.config}.items() if ours.get(name) != value}


def _label(trial: Trial, request: Request) -> str:
    """How a trial differs from A, and its age."""
    words = assignments(_differing(trial, request)) or "the same knobs"
    where = "" if trial.target == request.target else f" on {trial.target}"
    return f"{words}{where}, {recent.when(trial)}"


def _target_label(word: str) -> str:
    return f"this config on {word}" if word else "nothing"
