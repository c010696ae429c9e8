"""Two panes side by side over the texts of one artifact: a click on a line lights its lines in the other."""

import time
from collections.abc import Callable, Sequence

import streamlit as st

from tileviz import lens
from tileviz import texts as registry
from tileviz.kernels.asked import AskedKernel
from tileviz.lens.taxonomy import instruction
from tileviz.records import Artifact, JobView
from tileviz.ui import session
from tileviz.ui.codeview import texts
from tileviz.ui.codeview.texts import View
from tileviz.ui.parts import code
from tileviz.ui.parts.codepane import Click, Text, code_pane
from tileviz.ui.parts.stores import store
from tileviz.ui.parts.trouble import guarded, plain

HEIGHT = 640

MACHINE = frozenset(text.language for text in registry.texts() if text.made == "compiled")
"""Languages whose instructions are told of one by one."""

SIDES = (session.LEFT, session.RIGHT)


TICK_S, HOLD_S, LOOK_S = 0.25, 0.18, 0.02
"""While it is being compiled: how often the rest of an artifact is asked for, how long one look lasts, and its steps."""


FIRST_S = 1.0
"""Most seconds that the rest of the page waits for the panes."""


def draw(artifact: Artifact, kernel: AskedKernel, growing: bool = False) -> None:
    """Both panes, in a fragment of their own: choosing a text or clicking a line leaves the rest of the page alone.

    `growing`: the artifact is still being made. The panes then show the rest of it as soon as it is there, before the page runs again:
    a browser paints a fragment sooner than a page.
    """
    st.session_state[session.PANES_DRAWN] = False
    st.session_state[session.PANES_GROW] = artifact.key if growing else ""
    st.fragment(guarded(_draw), run_every=TICK_S if growing else None, key="_panes")(artifact, kernel, growing)


def show_it_first(job: JobView) -> bool:
    """True for a moment when the job has just ended and the panes have not shown its code yet."""
    growing = bool(job.artifact) and st.session_state.get(session.PANES_GROW) == job.artifact
    return growing and job.state == "done" and job.ended is not None and time.time() - job.ended < FIRST_S


def whole(artifact: Artifact, hold_s: float) -> Artifact:
    """The finished artifact as soon as it is stored, else after `hold_s` the one that there is."""
    end = time.monotonic() + hold_s
    while (found := store().artifact(artifact.key, complete=True)) is None and time.monotonic() < end:
        time.sleep(LOOK_S)
    return found or artifact


def _draw(artifact: Artifact, kernel: AskedKernel, growing: bool = False) -> None:
    if growing:  # while the page itself runs, nothing waits
        artifact = whole(artifact, HOLD_S if st.session_state.get(session.PANES_DRAWN) else 0.0)
        if artifact.ptx is not None:
            st.session_state[session.PANES_GROW] = ""
    st.session_state[session.PANES_DRAWN] = True
    clicks = []
    for side, column in zip(SIDES, st.columns(2, gap="small"), strict=True):
        with column:
            clicks.append(_side(side, artifact, kernel))
    _keep_last(clicks)


def _keep_last(clicks: Sequence[Click | None]) -> None:
    """Writes the line that was clicked last into the address, once: a pane tells its last click at every run."""
    last = max(filter(None, clicks), key=lambda click: click.at_ms, default=None)
    if last is not None and last.at_ms > st.session_state.get(session.CLICKED_MS, 0.0):
        st.session_state[session.CLICKED_MS] = last.at_ms
        session.link({session.AT: f"{last.title}:{last.line}"})


def _side(side: str, artifact: Artifact, kernel: AskedKernel) -> Click | None:
    options = texts.titles(artifact)
    default = texts.PROGRAM.title if side == session.LEFT else texts.source_title(artifact)
    chosen = st.segmented_control(
        f"Text on the {side}", options, default=default, required=True, key=side, bind="query-params", label_visibility="collapsed"
    )
    chosen = chosen if chosen in options else default
    view = texts.view(artifact, kernel, chosen)
    if view.text is None:
        with st.container(border=True, height=HEIGHT):
            st.markdown(f"**{chosen}**")
            st.info(plain(view.missing))
        return None
    file, step = texts.file_name(artifact, kernel, chosen), next_text(side, texts.there(artifact), chosen)
    return pane(view, view.text, key=f"pane_{side}", file=file, line=asked_line(chosen), on_step=step)


def next_text(side: str, titles: Sequence[str], shown: str) -> Callable[[int], None]:
    """What a step of the pane does: the chooser over it goes on to the next text, and around the end."""

    @guarded
    def step(by: int) -> None:
        st.session_state[side] = titles[(titles.index(shown) + by) % len(titles)]

    return step


def pane(
    view: View, content: str, *, key: str, file: str, line: int | None = None, on_step: Callable[[int], None] | None = None
) -> Click | None:
    """One view, whose text is `content`, in a pane, with every instruction class lit. Gives the last click on a line."""
    classes, spans = code.lit(content, view.language) if view.language in lens.LANGUAGES else ([], [])
    text = Text(
        content, view.language, view.title, file, classes, spans, view.links, view.numbers, note=view.note, top=view.top,
        tips=tips(content, view.language),
    )  # fmt: skip
    return code_pane(text, key=key, line=line, linked=True, height=HEIGHT, group="code", on_step=on_step)


@st.cache_data(max_entries=64, show_spinner=False)
def tips(text: str, language: str) -> dict[str, str]:
    """What each instruction of PTX or SASS is and does, by its spelling."""
    if language not in MACHINE:
        return {}
    spellings = {line.text[hit.start : hit.end] for line in lens.listing(text, language).lines for hit in line.hits}
    found = ((spelling, instruction(spelling)) for spelling in spellings)
    return {spelling: f"{row.name}, since {row.since}: {row.help} ({row.source})" for spelling, row in found if row}


def asked_line(title: str) -> int | None:
    """The line that the address asks for in this text: `at=SASS:120`."""
    where, _, number = session.linked(session.AT).partition(":")
    return int(number) if where == title and number.isdigit() and 0 < int(number) < 10_000_000 else None
