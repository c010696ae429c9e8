"""The generated source in the code pane, with its instructions lit up, beside the other texts of
the artifact."""

import streamlit as st

from tileviz import lens, texts
from tileviz.kernels.asked import AskedKernel
from tileviz.lens.directives import hide
from tileviz.lens.opening import opening, program_row
from tileviz.records import Artifact
from tileviz.texts import Text
from tileviz.ui import links
from tileviz.ui.parts import script
from tileviz.ui.parts.codepane import Text as Shown
from tileviz.ui.parts.codepane import code_pane
from tileviz.ui.parts.trouble import plain

PROGRAM = "Tile program"
"""What the program is called beside texts that were made of it."""

MOST_HEIGHT = 560
"""Pixels of the pane; a short text takes less, and the reader may drag it to another height."""


def draw(artifact: Artifact, kernel: AskedKernel) -> None:
    """A chooser of texts and the pane. A text that could not be made says why."""
    found = texts_of(artifact, kernel)
    with st.container(
        horizontal=True, vertical_alignment="center", horizontal_alignment="distribute"
    ):
        st.header("Generated code", anchor=False)
        options = list(found)
        chosen = st.segmented_control(
            "Text",
            options,
            default=options[0],
            required=True,
            key="text",
            label_visibility="collapsed",
        )
        links.to_page("codeview", "Open in Code", ":material/code:")
    chosen = chosen if chosen in found else options[0]
    text, content = found[chosen]
    if content is None:
        st.info(plain(artifact.missing.get(text.name, f"This artifact has no {chosen}.")))
        return
    pane(
        content,
        text.language,
        key="code",
        title=chosen,
        file=f"{kernel.name}_{artifact.target}.{text.extension}",
    )


def pane(text: str, language: str, *, key: str, title: str, file: str) -> None:
    """The pane, with the spans of every instruction class where the language has any, open at the
    main loop or the tile program."""
    text = hide(text, language)
    classes, spans = lit(text, language)
    top = program_row(text) if language == "python" else opening(text, language)
    code_pane(
        Shown(text, language, title, file, classes, spans, top=top), key=key, height=MOST_HEIGHT
    )


def texts_of(artifact: Artifact, kernel: AskedKernel) -> dict[str, tuple[Text, str | None]]:
    """{title: (text, its content or None when it could not be made)} of every text with
    instructions, then the program."""
    read = [text for text in texts.of(artifact.source_language) if text.reader.classes]
    found = {text.title: (text, texts.content(artifact, text.name)) for text in read}
    known = {
        title: (text, content)
        for title, (text, content) in found.items()
        if content is not None or text.name in artifact.missing
    }
    return {**known, PROGRAM: (texts.named("program"), script.program_source(kernel))}


@st.cache_data(max_entries=64, show_spinner=False)
def lit(text: str, language: str) -> tuple[list[dict], list[tuple[int, int, int, int]]]:
    """(classes, spans) for the pane: which characters of which line are an instruction of which
    class."""
    if language not in lens.LANGUAGES:
        return [], []
    order = {cls.name: i for i, cls in enumerate(lens.CLASSES)}
    spans = [
        (line.number, hit.start, hit.end, order[hit.cls])
        for line in lens.listing(text, language).lines
        for hit in line.hits
    ]  # fmt: skip
    return [
        {"name": cls.name, "title": cls.title, "help": f"{cls.help} ({cls.source})"}
        for cls in lens.CLASSES
    ], spans
