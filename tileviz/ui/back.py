"""Makes one press of Back leave a page.

Streamlit makes a step of the browser's history of every parameter that a page adds to its address by itself. A config that is taken from
a sweep to Explore brings a dozen, one by one as the page is drawn, and each wanted a press of Back. Here only a person makes steps: what is
added after a press is one, what a page adds without one replaces the address.
"""

import streamlit as st

ONE_STEP = """<script>
if (!window.tilevizBack) {
  window.tilevizBack = true
  const push = history.pushState.bind(history)
  let pressed = false
  for (const kind of ["pointerdown", "keydown"]) addEventListener(kind, () => { pressed = true }, true)
  addEventListener("popstate", () => { pressed = false }, true)
  history.pushState = (state, unused, url) => {
    const elsewhere = new URL(url, location).pathname !== location.pathname
    if (pressed || elsewhere) push(state, unused, url)
    else history.replaceState(state, unused, url)
    pressed = false
  }
}
</script>"""


def in_one_step() -> None:
    """First on a page. Draws nothing that is seen."""
    st.html(ONE_STEP, unsafe_allow_javascript=True)
