"""The Lowering and Layouts tabs: from tile program to source pass by pass, and where the elements of a tile lie."""

import pandas as pd
import streamlit as st

from tileviz.engine.jobs import reading
from tileviz.engine.jobs.reading import StoredReading
from tileviz.engine.requests import Request
from tileviz.lens import layouts
from tileviz.lens.checks import DTYPE_BYTES
from tileviz.ui.charts import screen, tiles
from tileviz.ui.codeview import reports
from tileviz.ui.parts import waiting
from tileviz.ui.parts.codepane import MARKS, Text, code_pane
from tileviz.ui.parts.stores import store
from tileviz.ui.parts.trouble import guarded, plain

NAME = "reading"

HEIGHT = 460


def stored(request: Request) -> StoredReading | None:
    """What was read of this config. Where nothing was yet, draws the button that does it, or what runs."""
    found = reading.stored(store(), request.key)
    if found is not None:
        return found
    waiting.adopt(NAME, reading.KIND, {request.key})
    if waiting.draw(NAME):
        return None
    for reason in waiting.failures(NAME):
        st.warning(plain(f"The last reading failed: {reason}"))
    st.markdown("TileLang lowers the program once more, watched pass by pass: a few seconds, no GPU needed.")
    if st.button("Read the lowering", key="read_lowering"):
        waiting.keep(NAME, [reading.submit(store(), request)])
        st.rerun()
    return None


def draw_passes(request: Request) -> None:
    """The passes with what each changed, and TileLang's own report."""
    found = stored(request)
    if found is None:
        return
    st.fragment(guarded(_passes), key="_passes")(found, request)
    reports.draw_structure(request)


def _passes(found: StoredReading, request: Request) -> None:
    only = st.toggle("Only passes that changed something", value=True, key="only_changed")
    shown = [(number, each) for number, each in enumerate(found.passes, 1) if each["diff"] or not only]
    left, right = st.columns([2, 3], gap="small")
    with left:
        st.caption(f"{len(found.passes)} passes, {sum(bool(each['diff']) for each in found.passes)} changed the program. Click one.")
        picked = st.dataframe(
            pass_frame(shown), hide_index=True, width="stretch", height=HEIGHT, key="passes", alt="Passes", on_select="rerun",
            selection_mode="single-row",
        )  # fmt: skip
    rows = picked.selection.rows
    number, chosen = shown[rows[0]] if rows and rows[0] < len(shown) else _first_large(shown)
    with right:
        if chosen is None or not chosen["diff"]:
            st.caption(f"{plain(chosen['name'])} changed nothing." if chosen else "No pass changed the program.")
        else:
            title = f"{number}. {chosen['name']}: +{chosen['added']} -{chosen['removed']}"
            text = Text(chosen["diff"], "python", title, f"{chosen['name']}.diff", marks=diff_marks(chosen["diff"]))
            code_pane(text, key="pass_diff", height=HEIGHT + 28)
    if found.report is not None:
        reports.draw(found.report, "TileLang's own report", key="report", file=f"{request.kernel}_{request.target}_lowering.html")


def _first_large(shown: list[tuple[int, dict]]) -> tuple[int, dict | None]:
    """Where to start reading: the pass that turns tile operations into loops and instructions, else the one that changed most."""
    if not shown:
        return 0, None
    return max(shown, key=lambda item: (item[1]["name"] == "LowerTileOp", item[1]["added"] + item[1]["removed"]))


def pass_frame(shown: list[tuple[int, dict]]) -> pd.DataFrame:
    rows = [{"#": number, "pass": "  " * each["depth"] + each["name"], "+": each["added"], "-": each["removed"]} for number, each in shown]
    return pd.DataFrame(rows, columns=["#", "pass", "+", "-"])


def diff_marks(diff: str) -> tuple[int, ...]:
    """Tints of a unified diff by the first character of each line."""
    kinds = {"+": "added", "-": "removed", "@": "filler"}
    return tuple(n for row, line in enumerate(diff.split("\n"), 1) if line[:1] in kinds for n in (row, MARKS[kinds[line[:1]]]))


def draw_layouts(request: Request) -> None:
    """A picture of one tile at a time, with bank conflicts or owner threads in words."""
    found = stored(request)
    if found is None:
        return
    if not found.layouts:
        st.caption(
            "This program has no tile whose layout TileLang infers."
            + (" On the CPU tiles lie row after row." if request.target == "cpu" else "")
        )
        return
    st.fragment(guarded(_layouts), key="_layouts")(found)


def _layouts(found: StoredReading) -> None:
    names = [each["buffer"] for each in found.layouts]
    with st.container(horizontal=True, vertical_alignment="center"):
        name = st.segmented_control("Tile", names, default=names[0], required=True, key="tile", label_visibility="collapsed")
        chosen = found.layouts[names.index(name) if name in names else 0]
        options = tiles.PICTURES[chosen["kind"]]
        picture = st.segmented_control(
            "Colour", options, default=options[0], required=True, key=f"picture_{chosen['kind']}", label_visibility="collapsed"
        )
    st.markdown(plain(layout_words(chosen)))
    figure = tiles.tile_figure(chosen, picture if picture in options else options[0])
    screen.chart(figure, key="tile_figure", alt=f"Layout of {chosen['buffer']}")
    st.caption(plain(f"TileLang's own words: {chosen['expression']}"))


def layout_words(layout: dict) -> str:
    """Size, place, and conflicts or spread, in one sentence."""
    rows, columns = layout["shape"]
    head = f"{layout['buffer']}: {rows:,} x {columns:,} {layout['dtype']}"
    if layout["kind"] == "fragment":
        return f"{head} in registers: {layouts.spread(layout['cells'], layout['registers'], layout['replicated']).words}."
    conflicts = layouts.bank_conflicts(layout["cells"], element_bytes(layout["dtype"]))
    if conflicts is None:
        return f"{head} in shared memory: too small for an ldmatrix."
    return f"{head} in shared memory: {conflicts.words} (eight rows of a 16-byte column, as ldmatrix reads)."


def element_bytes(dtype: str) -> int:
    return 1 if dtype.startswith("float8") else DTYPE_BYTES.get(dtype, 4)
