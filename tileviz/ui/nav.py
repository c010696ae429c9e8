"""Which pages there are, and the guard that opens each of them.

A page may be asked for before app.py has run in a fresh server, and then runs alone. So `guard` is the first statement of every
page: it brings the entry point back, and asks for the token. A gate in app.py alone would be bypassed.
"""

import hmac
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import streamlit as st

from tileviz import settings
from tileviz.ui import ahead, look, state, trouble

TOKEN_VARIABLE = settings.TOKEN

ICON = str(Path(__file__).parent / "icon.png")
"""A file of ours: a named icon would be fetched from the internet."""


def pages() -> list:
    """Every page, in the order of the menu. The name in the address is the file's stem; the first page has the bare address, and its
    stem leads there (Streamlit would reserve it and find nothing)."""
    return [
        st.Page("pages/explore.py", title="Explore", icon=":material/tune:", default=True, url_path="start"),
        st.Page("pages/sweep.py", title="Sweep", icon=":material/grid_on:"),
        st.Page("pages/codeview.py", title="Code", icon=":material/code:"),
        st.Page("pages/system.py", title="System", icon=":material/memory:"),
        st.Page(_to_explore, title="Explore", url_path="explore", visibility="hidden"),
    ]


def _to_explore() -> None:
    """The landing page has the bare address; who types /explore means it, with all that the address says."""
    st.switch_page("pages/explore.py", query_params={name: st.query_params.get_all(name) for name in st.query_params})


def run() -> None:
    """Draws the page that the address names."""
    look.apply()
    st.navigation(pages(), position="top").run()
    ahead.read()


@contextmanager
def guard() -> Iterator[None]:
    """Around everything that a page does: `with nav.guard():`.

    Stops a page that was reached without app.py, or without the token where one is set; shows a failure as one sentence.
    """
    if not st.session_state.get("_entry"):
        st.navigation(pages(), position="top")
        st.rerun()
    token = settings.token()
    if token and not st.session_state.get("_admitted"):
        _ask(token)
    trouble.standing()
    with trouble.caught():
        state.drop_repeated()
        yield


def _ask(token: str) -> None:
    """Takes the token from the address or from a form; until it is right, nothing else is drawn."""
    given = st.query_params.get("token")
    if given is not None:
        del st.query_params["token"]
        if _same(given, token):
            st.session_state["_admitted"] = True
            return
    st.title("tileviz")
    with st.form("token_form", border=False, width=380):
        typed = st.text_input("Token", type="password", help=f"The value of {TOKEN_VARIABLE} on the machine that serves this page")
        sent = st.form_submit_button("Open", type="primary")
    if sent and _same(typed, token):
        st.session_state["_admitted"] = True
        st.rerun()
    if sent or given is not None:
        st.error("This token is not right. Ask the person who started the server.")
    st.stop()


def _same(given: str, token: str) -> bool:
    return hmac.compare_digest(given.encode(), token.encode())
