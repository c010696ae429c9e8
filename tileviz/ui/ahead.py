"""Reads the browser code of charts and code blocks while nobody waits, so that the first chart of a
session does not wait for it.

Streamlit fetches each kind of element when one is first drawn; Plotly is several megabytes. A
session that begins on a page without charts would pay for it at the click that leads to one. The
files are Streamlit's own, of the server that serves the page.
"""

import functools
import json
from pathlib import Path

import streamlit as st

from tileviz.ui import look

CHUNKS = ("PlotlyChart", "StreamlitSyntaxHighlighter")
"""Kinds of elements by the file that Streamlit has for each; what a later Streamlit names otherwise
is left out."""

WHEN_IDLE = """<script>
(window.requestIdleCallback ?? setTimeout)(() => {
  for (const path of PATHS) {
    const file = new URL(path, document.baseURI)
    import(file).catch((error) => console.debug("not read ahead", error))
  }
})
</script>"""


def read() -> None:
    """Last on a page. Draws nothing that is seen."""
    st.html(script(Path(st.__file__).parent / "static"), unsafe_allow_javascript=True)


@functools.cache
def script(static: Path) -> str:
    """Constant text of ours with names of Streamlit's files."""
    return WHEN_IDLE.replace("PATHS", json.dumps(look.chunks(static, CHUNKS)))
