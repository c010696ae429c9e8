"""The Ladder tab: one config on every architecture, a row each."""

import pandas as pd
import streamlit as st

from tileviz.compiler import targets
from tileviz.engine import ladder
from tileviz.engine.ladder import Rung
from tileviz.engine.requests import Request
from tileviz.formats import percent, size_bytes
from tileviz.lens.executed import tensor_core_uses
from tileviz.records import Resources
from tileviz.ui import session
from tileviz.ui.form import held
from tileviz.ui.parts import places, waiting
from tileviz.ui.parts.stores import store
from tileviz.ui.parts.trouble import guarded, plain

NAME = "ladder"

LIMITS_SOURCE = "CUDA C++ Programming Guide, table of technical specifications per compute capability."


def draw(request: Request) -> None:
    """The tab: what is known, and the button that compiles the rest."""
    steps = ladder.rungs(store(), request.kernel, request.problem, request.config)
    left = [rung for rung in steps if rung.is_open]
    waiting.adopt(NAME, "compile", {rung.request.key for rung in left if rung.request is not None})
    if not waiting.draw(NAME) and left:
        words = "Compile for every architecture" if len(left) == len(steps) else f"Compile the {len(left)} that are missing"
        if st.button(words, key="climb"):
            waiting.keep(NAME, ladder.climb(store(), steps))
            st.rerun()
    st.session_state[session.RUNGS] = [rung.target for rung in steps]
    st.dataframe(
        frame(steps), hide_index=True, width="stretch", key=session.LADDER, alt="This config on every architecture",
        on_select=_picked, selection_mode="single-row", column_config=_WIDTHS,
    )  # fmt: skip
    for words in reasons(steps):
        st.caption(words)
    st.caption("Problem and knobs are the same on every row. Counts are static. Click a row to read that architecture's code.")
    own = ", ".join(rung.target for rung in steps if rung.own)
    if own:
        st.caption(f"**{plain(own)}**: the kernel's own knobs, since this config has a choice that is made for other architectures.")
    with st.expander("Limits of each architecture"):
        st.dataframe(limits_frame(), hide_index=True, width="stretch", alt="Limits of each architecture")
        st.caption(plain(LIMITS_SOURCE))


def frame(steps: tuple[Rung, ...]) -> pd.DataFrame:
    """A row for each architecture."""
    return pd.DataFrame([_row(rung) for rung in steps])


def _row(rung: Rung) -> dict:
    known, counts = rung.artifact, rung.artifact.instructions.get("sass", {}) if rung.artifact else {}
    uses = tensor_core_uses(known.sass) if known and known.sass else ()
    resources = known.resources if known else Resources()
    return {
        "architecture": rung.target,
        "tensor core": ", ".join(f"{use.static_count:,} {use.opcode}" for use in uses) or ("none" if counts else state_of(rung)),
        "async copies": _count(counts, "async_copy"),
        "ldmatrix": _count(counts, "matrix_load_store"),
        "registers": _number(resources.registers),
        "spills": "-" if resources.spill_bytes is None else f"{resources.spill_bytes:,} B",
        "shared": size_bytes(resources.shared_bytes.total) if known else "-",
        "threads": _number(resources.threads_launched),
        "occupancy": _occupancy(resources),
    }


def reasons(steps: tuple[Rung, ...]) -> list[str]:
    """Why an architecture has no row of figures, as Markdown; those with one reason together."""
    why: dict[str, list[str]] = {}
    for rung in steps:
        missing = "; ".join(sorted(set(rung.artifact.missing.values()))) if rung.artifact else ""
        if rung.reason or missing:
            why.setdefault(rung.reason or missing, []).append(rung.target)
    return [f"**{', '.join(names)}**: {plain(reason)}" for reason, names in why.items()]


def state_of(rung: Rung) -> str:
    return "no SASS" if rung.artifact else "not possible" if rung.reason else "not compiled yet"


def _occupancy(resources: Resources) -> str:
    if resources.occupancy is None:
        return "-"
    if not resources.blocks_per_sm:
        return f"will not launch: {resources.occupancy_limiter}"
    return f"{percent(resources.occupancy, 0)}, {resources.occupancy_limiter}"


def _count(counts: dict[str, int], cls: str) -> str:
    return f"{counts.get(cls, 0):,}" if counts else "-"


def _number(value: int | None) -> str:
    return "-" if value is None else f"{value:,}"


_WIDTHS = {
    "architecture": st.column_config.TextColumn(width=86), "tensor core": st.column_config.TextColumn(width=160),
    "occupancy": st.column_config.TextColumn(width=124),
    **{name: st.column_config.TextColumn(width=width, alignment="right") for name, width in (
        ("async copies", 92), ("ldmatrix", 70), ("registers", 70), ("spills", 60), ("shared", 82), ("threads", 64))},
}  # fmt: skip


def limits_frame() -> pd.DataFrame:
    """What one SM of each architecture has."""
    return pd.DataFrame(
        [
            {
                "architecture": name,
                "shared a block": f"{limits.shared_per_block_bytes:,} B",
                "shared an SM": f"{limits.shared_per_sm_bytes:,} B",
                "threads an SM": f"{limits.threads_per_sm:,}",
                "blocks an SM": limits.blocks_per_sm,
                "registers an SM": f"{limits.registers_per_sm:,}",
                "registers a thread": limits.registers_per_thread,
                "threads a block": f"{limits.threads_per_block:,}",
            }
            for name, limits in targets.LIMITS.items()
        ]
    )


@guarded
def _picked() -> None:
    """A row was clicked: the form goes to that architecture, every knob as it is."""
    rows, names = st.session_state[session.LADDER].selection.rows, st.session_state.get(session.RUNGS, [])
    if rows and rows[0] < len(names):
        chosen, _ = places.place(names[rows[0]])
        held.put_place(chosen)
        st.session_state[session.PLACE_WORD] = chosen.word
