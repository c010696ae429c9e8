"""The code pane: a virtualised viewer with search, a legend of instruction classes and a map of highlighted lines."""

import hashlib
import json
from collections.abc import Sequence
from pathlib import Path

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
) -> int | None:
    """Draws the pane and gives the line last clicked where `linked`, else None.

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
        on_line_change=lambda: None,
        on_have_change=lambda: None,
    )
    return result.line if linked else None
