"""What the compiled kernel takes, and which instructions it is made of."""

import pandas as pd
import streamlit as st

from tileviz import lens, texts
from tileviz.formats import percent, seconds
from tileviz.records import Artifact, Resources
from tileviz.ui.parts.trouble import plain

TEXT_NAMES = {
    name: "source" if name == "source" else texts.named(name).title
    for name in reversed(texts.counted())
}
"""Titles of the texts with counts, nearest to the machine first; the source is CUDA or C."""


SERIAL = "The C of the CPU target is one serial loop nest: it has no GPU instructions to count."


def draw(artifact: Artifact) -> None:
    left, right = st.columns(2, gap="medium")
    with left:
        st.header("Resources", anchor=False)
        st.dataframe(
            resources_frame(artifact),
            hide_index=True,
            width="stretch",
            key="resources",
            alt="Resources of the kernel",
            column_config=RIGHT,
        )
        st.caption(plain(made_by(artifact)))
    with right:
        st.header(
            "Instructions",
            anchor=False,
            help="Static counts: how often a class stands in the text, not how often it is"
            " executed.",
        )
        frame = counts_frame(artifact)
        if frame.empty:
            st.caption(
                SERIAL if artifact.target == "cpu" else "None of the classes occurs in this text."
            )
            return
        st.dataframe(
            frame,
            hide_index=True,
            width="stretch",
            key="instructions",
            alt="Instruction counts by class",
        )


def resources_frame(artifact: Artifact) -> pd.DataFrame:
    """Two columns of text; a value that the target does not have is left out."""
    rows = [(name, value) for name, value in _resources(artifact.resources) if value]
    return pd.DataFrame(rows, columns=["resource", "value"])


def counts_frame(artifact: Artifact) -> pd.DataFrame:
    """A row for each class that occurs, in the order of the classes; a column of counts for each
    text."""
    found = {TEXT_NAMES.get(text, text): counts for text, counts in artifact.instructions.items()}
    rows = []
    for cls in lens.CLASSES:
        values = {text: counts.get(cls.name, 0) for text, counts in found.items()}
        if any(values.values()):
            rows.append({"class": cls.title, **values})
    return pd.DataFrame(rows, columns=["class", *found])


def _resources(r: Resources) -> list[tuple[str, str]]:
    shared = r.shared_bytes
    return [
        ("registers a thread", _number(r.registers)),
        ("spills and stack a thread", _number(r.spill_bytes, " B")),
        ("shared memory, static", f"{shared.static:,} B" if r.registers is not None else ""),
        (
            "shared memory, dynamic",
            f"{shared.dynamic:,} B" if r.registers is not None or shared.dynamic else "",
        ),
        ("threads launched a block", _number(r.threads_launched)),
        ("grid", " \u00d7 ".join(f"{n:,}" for n in r.grid) if r.grid else ""),
        (
            "occupancy",
            percent(r.occupancy, 0)
            + (f", limited by {r.occupancy_limiter}" if r.occupancy_limiter else "")
            if r.occupancy is not None
            else "",
        ),
        ("blocks an SM", _number(r.blocks_per_sm)),
        ("tiles on the stack", _number(r.stack_bytes, " B")),
    ]


def _number(value: int | None, unit: str = "") -> str:
    return "" if value is None else f"{value:,}{unit}"


def made_by(artifact: Artifact) -> str:
    """`NVRTC 13.5; compiling took: lower 0.2 s, compile 0.6 s`; only lowered so far where no
    compiler is named."""
    steps = ", ".join(f"{name} {seconds(value)}" for name, value in artifact.seconds.items())
    return "; ".join(
        filter(None, [artifact.compiler or "lowered", steps and f"compiling took: {steps}"])
    )


RIGHT = {"value": st.column_config.TextColumn("value", alignment="right")}
