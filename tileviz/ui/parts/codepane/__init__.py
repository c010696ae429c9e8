"""The code pane: a virtualised viewer with search, a legend of instruction classes, a map of
highlighted lines, and full screen."""

import functools
import hashlib
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import streamlit as st

from tileviz.ui.parts import fullscreen

_HERE = Path(__file__).parent
_SCRIPTS = ("syntax.js", "view.js", "ways.js", "codepane.js")
_PANE = st.components.v2.component(
    "tileviz_code_pane",
    html=(_HERE / "codepane.html").read_text(),
    css=fullscreen.CSS + (_HERE / "codepane.css").read_text(),
    js="\n".join([fullscreen.JS, *((_HERE / name).read_text() for name in _SCRIPTS)]),
)

Span = tuple[int, int, int, int]
"""(line from 1, first column from 0, column after the last, index into the classes)."""


@dataclass(frozen=True)
class Click:
    """The last click on a line of a pane."""

    title: str
    """Of the text that was clicked in; the pane may show another by now."""
    line: int
    """In the text's own numbers."""
    at_ms: float
    """The browser's clock: clicks in several panes can reach the server as one change, and this
    tells which was the last."""


MARKS = {"removed": 1, "added": 2, "changed": 3, "filler": 4}
"""How a row is tinted: of a difference, or one that only keeps two panes aligned."""


@dataclass(frozen=True)
class Text:
    """What a pane shows. It goes to the browser once; in a linked pane a later jump to another line
    does not send it again."""

    text: str
    language: str
    """`cuda`, `c`, `ptx`, `sass`, `python` or `ir`."""
    title: str
    file: str
    """Name of the download."""
    classes: Sequence[dict] = ()
    """{"name", "title", "help"} each."""
    spans: Sequence[Span] = ()
    links: Sequence[int] = ()
    """row, key, row, key, ...; rows from 1. Panes of one group light up each other's lines that
    share a key."""
    numbers: Sequence[int] = ()
    """Shown instead of rows counted from 1, 0 for none; lines are told and asked for by them."""
    marks: Sequence[int] = ()
    """row, mark, row, mark, ...: see MARKS."""
    note: str = ""
    top: int | None = None
    """The line that it opens at."""
    tips: Mapping[str, str] = field(default_factory=dict)
    """Tells more of an instruction than its class does: {spelling: sentence}."""

    def sent(self, known: bool) -> dict:
        """What the browser is told of it; `known`: without what it has already."""
        light = {name: getattr(self, name) for name in ("language", "title", "file", "note", "top")}
        heavy = {
            name: None if known else [*getattr(self, name)]
            for name in ("spans", "links", "numbers", "marks")
        }
        return {
            **light,
            **heavy,
            "text": None if known else self.text,
            "classes": [*self.classes],
            "tips": dict(self.tips),
        }

    @property
    def sha(self) -> str:
        bulky = [
            [*each] for each in (self.classes, self.spans, self.links, self.numbers, self.marks)
        ]
        return hashlib.sha256(
            json.dumps([self.language, self.title, bulky, self.text]).encode()
        ).hexdigest()[:20]


def code_pane(
    text: Text,
    *,
    key: str,
    line: int | None = None,
    linked: bool = False,
    height: int = 520,
    group: str = "",
    together: bool = False,
    on_step: Callable[[int], None] | None = None,
) -> Click | None:
    """Draws the pane and gives the last click on a line where `linked`, else None.

    Panes of one `group` are linked, of one height, and full screen together; `together` scrolls
    them as one. A pane without a group is no higher than its text. `on_step` is called with 1 or -1
    when the reader asks for the next or the previous text.
    """
    sha = text.sha
    have = (st.session_state.get(key) or {}).get("have") if linked else None
    result = _PANE(
        key=key,
        data={
            "sha": sha, "have": have, **text.sent(have == sha), "line": line, "linked": linked,
            "height": height, "place": key,
            "group": group, "together": together, "steps": on_step is not None,
        },
        on_click_change=lambda: None,
        on_have_change=lambda: None,
        on_step_change=functools.partial(_step, key, on_step),
    )  # fmt: skip
    return click_of(result.click) if linked else None


def _step(key: str, on_step: Callable[[int], None] | None) -> None:
    by = (st.session_state.get(key) or {}).get("step")
    if on_step is not None and by in (1, -1):
        on_step(by)


def click_of(told: Any) -> Click | None:
    """What the browser told of a click; None when it told none."""
    try:
        return Click(str(told["title"]), int(told["line"]), float(told["at_ms"]))
    except (TypeError, KeyError, ValueError):
        return None
