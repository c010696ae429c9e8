"""Which pages there are, and the guard that opens each of them.

A page may be asked for before app.py has run in a fresh server, and then runs alone. So `guard` is the first statement of every
page: it brings the entry point back, and draws nothing for a browser that did not come in by the door.
"""

from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

import streamlit as st

from tileviz.ui import ahead, back, door, links, session
from tileviz.ui.parts import trouble

ICON, MARK = (str(Path(__file__).parent / name) for name in ("icon.png", "mark.svg"))
"""Files of ours: a named icon would be fetched from the internet. The mark says the name too, and stands above every page."""


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
    links.open_page("explore", session.every_linked())


def run() -> None:
    """Draws the page that the address names."""
    page = _navigation()
    st.session_state[session.ENTRY] = True
    back.in_one_step()
    page.run()
    ahead.read()
    door.watch()


@contextmanager
def guard() -> Generator[None]:
    """Around everything that a page does: `with nav.guard():`.

    Stops a page that was reached without app.py, or without the token where one is set; shows a failure as one sentence.
    """
    if not st.session_state.get(session.ENTRY):
        _navigation()
        st.rerun()
    if not door.admits(st.context.cookies, st.context.headers.get("Host", "")):
        st.error(door.REFUSED)
        st.stop()
    trouble.standing()
    with trouble.caught():
        links.drop_repeated()
        yield


def _navigation():
    """The menu, under our own icon: without one, Streamlit fetches the page's from the internet."""
    st.set_page_config(page_title="tileviz", page_icon=ICON, layout="wide", initial_sidebar_state=360)
    st.logo(MARK, size="medium", icon_image=MARK)
    return st.navigation(pages(), position="top")
