"""Values that were typed or linked in this session: from then on they stand among a knob's
choices."""

import streamlit as st

from tileviz.ui import session


def offer(kernel: str, knob: str, value: str) -> None:
    """Adds a value to the choices of a knob, for this session."""
    extra = st.session_state.setdefault(session.offered_of(kernel), {})
    if value not in extra.setdefault(knob, []):
        extra[knob].append(value)


def offered(kernel: str, knob: str) -> list[str]:
    """The values that were added, in the order that they came in."""
    return st.session_state.get(session.offered_of(kernel), {}).get(knob, [])
