"""The store, opened once a server, and reads of it that a page makes more than once."""

import os

import streamlit as st

from tileviz.records import Artifact
from tileviz.store import Store


def store() -> Store:
    """The store of this TILEVIZ_HOME. Raises StoreError."""
    return _opened(os.environ.get("TILEVIZ_HOME", ""))


@st.cache_resource(show_spinner=False, max_entries=4)
def _opened(_home: str) -> Store:
    return Store()


def artifact(key: str | None) -> Artifact | None:
    """A compiled artifact with its texts; None when it is not stored (any more)."""
    return store().artifact(key) if key else None
