"""Turns every failure into one sentence on the page; the traceback goes to the server's log."""

import functools
import logging
from collections.abc import Callable, Generator
from contextlib import contextmanager, suppress

import streamlit as st

from tileviz import settings
from tileviz.engine import client
from tileviz.errors import StoreError, TilevizError
from tileviz.store import tileviz_home

LOG = logging.getLogger("tileviz.ui")


def show(error: TilevizError) -> None:
    """One sentence, and the tool's own text folded under it."""
    st.error(plain(error.message), icon=":material/error:")
    if isinstance(error, StoreError):
        st.caption("The System page says where the store is and how large it is.")
    if error.detail:
        with st.expander("What the tool said"):
            st.code(error.detail, language=None)


@contextmanager
def caught() -> Generator[None]:
    """Shows any failure inside as a sentence."""
    try:
        yield
    except TilevizError as error:
        LOG.info("shown on the page: %s", error.message)
        show(error)
    except Exception:  # the outermost place of every page, fragment and callback: a fault of ours is never a traceback there
        LOG.exception("a page failed")
        st.error("This part of the page failed. The server's log has the details; reload to try again.", icon=":material/error:")


def standing() -> None:
    """What keeps every job of this server from being done, on every page, a sentence each: a setting that cannot be meant, an engine that
    dies or is silent."""
    sentences = settings.problems()
    with suppress(StoreError):  # a page without a home says so itself
        sentences += filter(None, [client.trouble(tileviz_home())])
    for sentence in sentences:
        st.error(plain(sentence), icon=":material/error:")


def guarded(draw: Callable) -> Callable:
    """`draw`, with any failure shown as a sentence. For fragments and callbacks, which run without the page around them."""

    @functools.wraps(draw)
    def drawn(*args, **kwargs):
        with caught():
            return draw(*args, **kwargs)

    return drawn


def plain(text: str) -> str:
    """Outside text for a Markdown element, with everything that Markdown or Streamlit would read as markup escaped."""
    out = str(text).replace("\\", "\\\\")
    for mark in "`*_{}[]()#+!|<>~$:":
        out = out.replace(mark, "\\" + mark)
    return out.replace("\n", "  \n")
