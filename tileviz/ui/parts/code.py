"""The generated source in the code pane, with its instructions lit up, beside the other texts of the artifact."""

import streamlit as st

from tileviz import lens
from tileviz.kernels.asked import AskedKernel
from tileviz.lens.directives import hide
from tileviz.lens.opening import opening, program_row
from tileviz.records import Artifact
from tileviz.ui.parts import script
from tileviz.ui.parts.codepane import Text, code_pane
from tileviz.ui.parts.trouble import plain

SOURCE_TITLES = {"cuda": "CUDA", "c": "C"}
FILES = {"CUDA": "cu", "C": "c", "PTX": "ptx", "SASS": "sass", "Tile program": "py"}
PROGRAM = "Tile program"

MOST_HEIGHT = 560
"""Pixels of the pane; a short text takes less, and the reader may drag it to another height."""


def draw(artifact: Artifact, kernel: AskedKernel) -> None:
    """A chooser of texts and the pane. A text that could not be made says why."""
    texts = texts_of(artifact, kernel)
    with st.container(horizontal=True, vertical_alignment="center", horizontal_alignment="distribute"):
        st.header("Generated code", anchor=False)
        options = list(texts)
        chosen = st.segmented_control("Text", options, default=options[0], required=True, key="text", label_visibility="collapsed")
        st.page_link("pages/codeview.py", label="Open in Code", icon=":material/code:")
    chosen = chosen if chosen in texts else options[0]
    text, language = texts[chosen]
    if text is None:
        st.info(plain(artifact.missing.get(chosen.lower(), f"This artifact has no {chosen}.")))
        return
    pane(text, language, key="code", title=chosen, file=f"{kernel.name}_{artifact.target}.{FILES[chosen]}")


def pane(text: str, language: str, *, key: str, title: str, file: str) -> None:
    """The pane, with the spans of every instruction class where the language has any, open at the main loop or the tile program."""
    text = hide(text, language)
    classes, spans = lit(text, language)
    top = program_row(text) if language == "python" else opening(text, language)
    code_pane(Text(text, language, title, file, classes, spans, top=top), key=key, height=MOST_HEIGHT)


def texts_of(artifact: Artifact, kernel: AskedKernel) -> dict[str, tuple[str | None, str]]:
    """{title: (text or None when it could not be made, language)}, the source first."""
    language = artifact.source_language
    found = {SOURCE_TITLES[language]: (artifact.source, language)}
    for title, text in (("PTX", artifact.ptx), ("SASS", artifact.sass)):
        if text is not None or title.lower() in artifact.missing:
            found[title] = (text, title.lower())
    found[PROGRAM] = (script.program_source(kernel), "python")
    return found


@st.cache_data(max_entries=64, show_spinner=False)
def lit(text: str, language: str) -> tuple[list[dict], list[tuple[int, int, int, int]]]:
    """(classes, spans) for the pane: which characters of which line are an instruction of which class."""
    if language == "python":
        return [], []
    order = {cls.name: i for i, cls in enumerate(lens.CLASSES)}
    spans = [
        (line.number, hit.start, hit.end, order[hit.cls])
        for line in lens.listing(text, language).lines
        for hit in line.hits
    ]  # fmt: skip
    return [{"name": cls.name, "title": cls.title, "help": f"{cls.help} ({cls.source})"} for cls in lens.CLASSES], spans
