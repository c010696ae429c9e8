"""Pages of HTML that TileLang's own tools wrote: shown in a frame of the Lowering tab, or
downloaded."""

from pathlib import Path

import streamlit as st

from tileviz.engine.jobs import structure
from tileviz.engine.requests import Request
from tileviz.formats import size_bytes
from tileviz.ui.parts import waiting
from tileviz.ui.parts.stores import store
from tileviz.ui.parts.trouble import guarded, plain

MOST_BYTES = 8 << 20
"""A page up to this size is put on ours; a larger one can be downloaded."""

FRAME_PX = 820

VISUALIZER = "structure"

HELP = (
    "TileLang's pass visualizer: the tree of blocks with what each reads and writes, and every"
    " tile operation by field, after each pass of"
    " the front half of the pipeline. Up and down step through the passes."
)


def draw(page: Path, title: str, *, key: str, file: str) -> None:
    """A switch that shows the page, and a button that saves it."""
    size = page.stat().st_size
    with st.container(horizontal=True, vertical_alignment="center"):
        shown = size <= MOST_BYTES and st.toggle(f"Show {title}", key=f"show_{key}")
        st.download_button(
            f"Download it ({size_bytes(size)})", data=page.read_bytes, file_name=file,
            mime="text/html", on_click="ignore",
            key=f"download_{key}",
        )  # fmt: skip
    if shown:
        st.iframe(page, height=FRAME_PX)


def draw_structure(request: Request) -> None:
    """The visualizer's page; where there is none yet, the button that makes it. Nothing for a
    target that it does not take."""
    if not request.target.startswith("sm_"):
        return
    page = structure.stored(store(), request.key)
    if page is not None:
        st.fragment(guarded(_draw_structure), key="_structure")(page, request)
        return
    waiting.adopt(VISUALIZER, structure.KIND, {request.key})
    if waiting.draw(VISUALIZER):
        return
    for reason in waiting.failures(VISUALIZER):
        st.warning(plain(f"The pass visualizer failed: {reason}"))
    if st.button("Make TileLang's pass visualizer", key="make_structure", help=HELP):
        waiting.keep(VISUALIZER, [structure.submit(store(), request)])
        st.rerun()


def _draw_structure(page: Path, request: Request) -> None:
    draw(
        page,
        "TileLang's pass visualizer",
        key=VISUALIZER,
        file=f"{request.kernel}_{request.target}_structure.html",
    )
