"""The store, opened once per server, and the reads of it that several parts of a page need."""

import streamlit as st

from tileviz import settings
from tileviz.engine import presets as tuned
from tileviz.records import Artifact, Device, TunedConfig
from tileviz.store import StoreWithRecorded
from tileviz.store.recorded import Recorded


def store() -> StoreWithRecorded:
    """The store of this TILEVIZ_HOME, with the recorded results behind it. Raises StoreError."""
    return _opened(settings.home())


@st.cache_resource(show_spinner=False, max_entries=4)
def _opened(_home: str) -> StoreWithRecorded:
    return StoreWithRecorded()


def recorded() -> Recorded | None:
    """The results that come with tileviz; None where there are none."""
    return store().recorded


def presets(kernel: str) -> tuple[TunedConfig, ...]:
    """The presets of a kernel: the user's own, then the recorded ones."""
    return tuned.known(store(), kernel)


def learned_device(name: str | None) -> Device | None:
    """A device by its id, or by its name where it is a recorded one, with what an engine has learned of it; None for one never seen."""
    there = recorded()
    return next((d for d in (*store().devices(), *(there.devices() if there else ())) if d.id == name), None)


def artifact(key: str | None) -> Artifact | None:
    """A compiled artifact with its texts; None when it is not stored (any more)."""
    return store().artifact(key) if key else None
