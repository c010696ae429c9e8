"""Imports a sweep from an exported file."""

import streamlit as st

from tileviz.engine.sweeps import results
from tileviz.store.exchange import MOST_MB
from tileviz.ui import session
from tileviz.ui.parts.stores import store
from tileviz.ui.parts.trouble import guarded
from tileviz.ui.sweeps import address


def in_expander() -> None:
    with st.expander("Import a sweep from a file", icon=":material/upload:"):
        st.file_uploader(
            "A CSV, JSON or T4 export of a sweep", type=["json", "csv", "tsv", "txt"], key=session.SWEEP_FILE, on_change=_brought,
            max_upload_size=MOST_MB,
            help=f"JSON brings back everything; CSV and Kernel Tuner's T4 the same heatmap. At most {MOST_MB} MB.",
        )  # fmt: skip


@guarded
def _brought() -> None:
    """Once for each file that is dropped."""
    found = st.session_state.get(session.SWEEP_FILE)
    if found is not None:
        bring(found.getvalue(), found.name)


def bring(content: bytes, name: str) -> None:
    """Stores the sweep and opens it. Raises BadRequest for a file that holds none."""
    view = store().sweep(results.bring_in_content(store(), content, name))
    if view is not None:  # another session may have deleted it by now
        address.open_sweep(view)
