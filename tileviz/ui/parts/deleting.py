"""Delete buttons, and what was deleted with the way back: shared by Sweep, Explore and System."""

from collections.abc import Sequence

import streamlit as st

from tileviz.store.deletion import KEPT_S, Deleted
from tileviz.ui import session
from tileviz.ui.parts.stores import store
from tileviz.ui.parts.trouble import guarded, plain

MOST_NAMED = 3

HELP = f"It can be taken back for {KEPT_S / 86400:.0f} days: here at once, and on the System page."


def button(label: str, ids: Sequence[str], key: str, help: str = HELP) -> None:
    """Deletes at a click; no question is asked, since it can be taken back."""
    st.button(
        label,
        key=key,
        type="tertiary",
        icon=":material/delete:",
        disabled=not ids,
        help=help,
        on_click=_delete,
        args=(list(ids),),
    )


@guarded
def _delete(ids: list[str]) -> None:
    st.session_state[session.DELETED] = store().delete(ids)


@guarded
def _undo(ids: list[str]) -> None:
    store().undelete(ids)
    st.session_state.pop(session.DELETED, None)


def note() -> None:
    """What this session deleted last, with Undo; until something else is deleted or it was taken
    back elsewhere."""
    there = (
        {entry.id for entry in store().trash()} if session.DELETED in st.session_state else set()
    )
    found = [entry for entry in st.session_state.get(session.DELETED, ()) if entry.id in there]
    if not found:
        return
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        st.caption(plain(words(found)), width="content")
        st.button(
            "Undo",
            key="_undo",
            type="tertiary",
            icon=":material/undo:",
            on_click=_undo,
            args=([entry.id for entry in found],),
        )


def words(found: Sequence[Deleted]) -> str:
    """`Deleted: sweep 1a2b (gemm on cpu, 48 configs) and 2 more.`"""
    named = ", ".join(
        f"{_NOUNS[entry.kind]} {entry.id} ({entry.title})" for entry in found[:MOST_NAMED]
    )
    more = f" and {len(found) - MOST_NAMED:,} more" if len(found) > MOST_NAMED else ""
    return f"Deleted: {named}{more}."


_NOUNS = {"sweep": "sweep", "trial": "run", "artifact": "code"}


def trash() -> None:
    """Everything that can be taken back, and the button that deletes it for good."""
    found = store().trash()
    if not found:
        return
    with st.expander(
        f"Deleted, can be taken back ({len(found):,})", icon=":material/restore_from_trash:"
    ):
        for entry in found:
            with st.container(horizontal=True, vertical_alignment="center", gap="small"):
                st.markdown(
                    plain(f"{_NOUNS[entry.kind]} {entry.id}: {entry.title}"), width="content"
                )
                st.button(
                    "Take back",
                    key=f"undo_{entry.id}",
                    type="tertiary",
                    icon=":material/undo:",
                    on_click=_undo,
                    args=([entry.id],),
                )
        st.button(
            "Delete all of it for good",
            key="empty_trash",
            icon=":material/delete_forever:",
            on_click=_empty,
        )


@guarded
def _empty() -> None:
    store().empty_trash()
