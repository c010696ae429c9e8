"""The compiled configs that can be chosen as A or B."""

import streamlit as st

from tileviz import settings
from tileviz.engine.presets import recorded_words
from tileviz.formats import age
from tileviz.records import Trial
from tileviz.ui.parts.stores import recorded, store

MOST = 40

FRESH_S = 3.0
"""A list this old is read again; several choosers of one run share it."""


def compiled(kernel: str) -> list[Trial]:
    """Trials of a kernel with code, each code once: the newest of this machine first, then the
    recorded ones."""
    return _compiled(settings.home(), kernel)


@st.cache_data(ttl=FRESH_S, max_entries=8, show_spinner=False)
def _compiled(home: str, kernel: str) -> list[Trial]:
    seen, out = set(), []
    for trial in store().trials(kernel, limit=MOST):
        if trial.artifact and trial.key not in seen:
            seen.add(trial.key)
            out.append(trial)
    there = recorded()
    return [*out, *(there.with_code(kernel) if there is not None else ())]


def when(trial: Trial) -> str:
    """How old a trial is, or where it was recorded."""
    return recorded_words(trial.device, trial.created) if trial.recorded else age(trial.created)
