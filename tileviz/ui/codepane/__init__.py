"""The code pane: a virtualised viewer with search, a legend of instruction classes and a map of highlighted lines."""

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import streamlit as st

_HERE = Path(__file__).parent
_PANE = st.components.v2.component(
    "tileviz_code_pane",
    html=(_HERE / "codepane.html").read_text(),
    css=(_HERE / "codepane.css").read_text(),
    js=(_HERE / "codepane.js").read_text(),
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
    """The browser's clock: clicks in several panes can reach the server as one change, and this tells which was the last."""


MARKS = {"removed": 1, "added": 2, "changed": 3, "filler": 4}
"""How a row is tinted: of a difference, or one that only keeps two panes aligned."""


def code_pane(
    text: str,
    *,
    key: str,
    language: str,
    title: str,
    file: str,
    classes: Sequence[dict] = (),
    spans: Sequence[Span] = (),
    line: int | None = None,
    linked: bool = False,
    height: int = 520,
    group: str = "",
    links: Sequence[int] = (),
    numbers: Sequence[int] = (),
    marks: Sequence[int] = (),
    together: bool = False,
    note: str = "",
    top: int | None = None,
    tips: dict[str, str] | None = None,
) -> Click | None:
    """Draws the pane and gives the last click on a line where `linked`, else None.

    `language` is `cuda`, `c`, `ptx`, `sass` or `python`. A class is {"name", "title", "help"}. The text goes to the browser once; in a
    linked pane a later jump to another `line` does not send it again.
    Panes of one `group` light up each other's lines that share a key; `links` is row, key, row, key, ... with rows from 1. `numbers` are
    shown instead of rows counted from 1, 0 for none; lines are told and asked for by them. `marks` is row, mark, ...: see MARKS.
    `together` scrolls the panes of a group as one; `top` is the line that a new text opens at.
    `tips` tells more of an instruction than its class does: {spelling: sentence}.
    """
    more = [list(links), list(numbers), list(marks)]
    sha = hashlib.sha256(json.dumps([language, title, list(classes), list(spans), text, more]).encode()).hexdigest()[:20]
    have = (st.session_state.get(key) or {}).get("have") if linked else None
    known = have == sha
    result = _PANE(
        key=key,
        data={
            "sha": sha,
            "have": have,
            "text": None if known else text,
            "spans": None if known else [list(span) for span in spans],
            "links": None if known else more[0],
            "numbers": None if known else more[1],
            "marks": None if known else more[2],
            "group": group,
            "together": together,
            "note": note,
            "top": top,
            "tips": tips or {},
            "classes": list(classes),
            "language": language,
            "title": title,
            "file": file,
            "line": line,
            "linked": linked,
            "height": height,
        },
        on_click_change=lambda: None,
        on_have_change=lambda: None,
    )
    return click_of(result.click) if linked else None


def click_of(told: Any) -> Click | None:
    """What the browser told of a click; None when it told none."""
    try:
        return Click(str(told["title"]), int(told["line"]), float(told["at_ms"]))
    except (TypeError, KeyError, ValueError):
        return None
