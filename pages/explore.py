"""Explore: one kernel, one problem, one config; run it and read the result. The landing page."""

from tileviz.ui import nav

with nav.guard():
    import streamlit as st

    from tileviz.ui import explore, measuring

    explore.read_address()
    chosen, request, why_not = explore.form(measuring.draw)
    job = explore.job_of(request, why_not)
    with st.container(gap="small"):
        explore.header(chosen, why_not, job)
        from tileviz.ui import repeat, result  # only now: pandas and plotly take half a second, and the form is on the screen

        result.draw(chosen, request, job)
        repeat.draw(chosen, request)
    explore.warm_up()
