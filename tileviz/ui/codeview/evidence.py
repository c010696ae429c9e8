"""What the code is made of: the checks, counts by class and by shape, loops, and what a block
executes."""

import pandas as pd
import streamlit as st

from tileviz import lens, texts
from tileviz.engine.code_checks import code_of, in_order
from tileviz.engine.requests import Request
from tileviz.kernels.asked import AskedKernel
from tileviz.lens.checks import Check, Code, checks
from tileviz.lens.executed import executed_estimates, opcodes
from tileviz.lens.loops import loops
from tileviz.lens.taxonomy import TAXONOMY
from tileviz.records import Artifact
from tileviz.ui.parts.cells import with_commas
from tileviz.ui.parts.trouble import plain

MARKS = {
    "good": ":green[:material/check_circle:]",
    "bad": ":red[:material/error:]",
    "plain": ":gray[:material/remove:]",
}

STATIC = "Static counts: how often an instruction is written, not how often it is executed."


@st.cache_data(max_entries=64, show_spinner=False)
def checked(code: Code) -> tuple[Check, ...]:
    return checks(code)


def draw_checks(artifact: Artifact, request: Request, kernel: AskedKernel) -> None:
    """One line a check, what is bad first."""
    if artifact.source_language == "c":
        st.caption(
            "The CPU target's C is one serial loop nest: there are no GPU instructions to check."
        )
    found = in_order(checked(code_of(artifact, request.problem, request.config, kernel)))
    for column, part in zip(
        st.columns(2, gap="medium"),
        (found[: (len(found) + 1) // 2], found[(len(found) + 1) // 2 :]),
        strict=True,
    ):
        with column, st.container(gap=None):
            for check in part:
                _line(check)


def _line(check: Check) -> None:
    words = f"**{plain(check.title)}** {check.words}: {plain(check.reason)}"
    st.markdown(f":small[{MARKS[check.tone]} {f':red[{words}]' if check.tone == 'bad' else words}]")


def draw_classes(artifact: Artifact) -> None:
    """Counts by class, a column for each text."""
    st.header("Counts by class", anchor=False, help=STATIC)
    frame = class_frame(artifact)
    if frame.empty:
        st.caption("None of the classes occurs in this text.")
    else:
        st.dataframe(
            with_commas(frame),
            hide_index=True,
            width="stretch",
            key="class_counts",
            alt="Static counts by class and text",
        )


def draw_taxonomy() -> None:
    """The instructions worth knowing, with their spelling in each text."""
    with st.expander("What the instructions are, and how each text spells them"):
        st.dataframe(
            taxonomy_frame(),
            hide_index=True,
            width="stretch",
            alt="Instructions by class with an example in each text",
        )


def taxonomy_frame() -> pd.DataFrame:
    titles = {cls.name: cls.title for cls in lens.CLASSES}
    return pd.DataFrame(
        [
            {
                "instruction": r.name,
                "what it does": r.help,
                "source": r.source,
                "since": r.since,
                "SASS": r.sass,
                "PTX": r.ptx,
                "CUDA": r.cuda,
                "class": titles[r.cls],
            }
            for r in TAXONOMY
        ]
    )


def draw_shapes(artifact: Artifact, request: Request, kernel: AskedKernel) -> None:
    """Counts by opcode, the executed estimate, and loops."""
    st.header("Tensor cores, copies and matrix loads by shape", anchor=False, help=STATIC)
    frame = shape_frame(artifact)
    if frame.empty:
        st.caption("None in this text.")
    else:
        st.dataframe(
            with_commas(frame),
            hide_index=True,
            width="stretch",
            key="shape_counts",
            alt="Static counts by opcode",
        )
    for words in executed_words(artifact, request, kernel):
        st.caption(plain(words))
    _draw_loops(artifact)


def _draw_loops(artifact: Artifact) -> None:
    if not artifact.sass:
        return
    frame = loop_frame(artifact.sass)
    st.subheader(
        "Loops in the SASS",
        anchor=False,
        help="Found by backward branches; loops that only wait for a barrier are left out. Counts"
        " are of one pass through the body.",
    )
    if frame.empty:
        st.caption("None: every loop is unrolled, or there was none.")
    else:
        st.dataframe(
            with_commas(frame),
            hide_index=True,
            width="stretch",
            key="loop_counts",
            alt="Loops of the SASS with static counts",
        )


@st.cache_data(max_entries=64, show_spinner=False)
def _listing(text: str, language: str) -> lens.Listing:
    return lens.listing(text, language)


def class_frame(artifact: Artifact) -> pd.DataFrame:
    """A row for each class that occurs in any text."""
    named = {name: texts.named(name, artifact.source_language).title for name in texts.counted()}
    found = {named[name]: counts for name, counts in artifact.instructions.items() if name in named}
    rows = []
    for cls in lens.CLASSES:
        values = {text: counts.get(cls.name, 0) for text, counts in found.items()}
        if any(values.values()):
            rows.append(
                {"class": cls.title, **values, "what it is": cls.help, "source": cls.source}
            )
    return pd.DataFrame(rows, columns=["class", *found, "what it is", "source"])


def shape_frame(artifact: Artifact) -> pd.DataFrame:
    """Opcodes of the classes that a tile is fed and multiplied with, from the text nearest to the
    machine."""
    known = (
        (texts.named(name, artifact.source_language), texts.content(artifact, name))
        for name in reversed(texts.counted())
    )
    language, text = next((text.language, content) for text, content in known if content)
    read = _listing(text, language)
    rows = [
        {"opcode": name, "written": count, "class": cls.title}
        for cls in lens.CLASSES
        if cls.name in ("tensor_core", "async_copy", "matrix_load_store", "register_realloc")
        for name, count in opcodes(read, cls.name).items()
    ]
    return pd.DataFrame(rows, columns=["opcode", "written", "class"])


def loop_frame(sass: str) -> pd.DataFrame:
    """A row for each loop."""
    rows = [
        {
            "lines": f"{loop.first:,} to {loop.last:,}",
            "depth": loop.depth,
            "instructions": loop.instructions,
            "in the body": ", ".join(f"{count:,} {name}" for name, count in loop.opcodes.items())
            or "no tensor core, no async copy",
        }
        for loop in loops(sass)
    ]
    return pd.DataFrame(rows, columns=["lines", "depth", "instructions", "in the body"])


def executed_words(artifact: Artifact, request: Request, kernel: AskedKernel) -> list[str]:
    """The estimate of executed tensor-core instructions of a block, a sentence each, with what one
    is worth."""
    flops, grid = kernel.cost(request.problem).flops, artifact.resources.grid
    if not artifact.sass or not grid or not flops:
        return []
    block_flops = flops / (grid[0] * grid[1] * grid[2])
    words = []
    for estimate in executed_estimates(artifact.sass, block_flops):
        use = estimate.use
        by = "a warp group" if "GMMA" in use.opcode else "a warp"
        words.append(
            f"{use.opcode}: written {use.static_count:,} times, {use.flops:,} FLOPs each by {by};"
            " a block executes about"
            f" {estimate.per_block:,.0f} of them (estimate: {block_flops:,.0f} FLOPs of the block"
            f" / {use.flops:,})."
        )
    return words
