"""Sweep: a space of configs, searched while you watch, and what came out as pictures and
numbers."""

from tileviz.ui import nav

with nav.guard():
    import streamlit as st

    from tileviz.ui.sweeps import address, page, space_form

    address.read()
    chosen = space_form.draw()
    page.remember(chosen)
    with st.container(gap="small"):
        page.header(chosen)
        page.body(chosen)
