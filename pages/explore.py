"""Explore: one kernel, one problem, one config; run it and read the result. The landing page."""

from tileviz.ui import nav

with nav.guard():
    import streamlit as st

    from tileviz.ui.explore import page
    from tileviz.ui.form import measuring, sidebar

    page.read_address()
    chosen, request, why_not = sidebar.form(measuring.draw)
    job = sidebar.job_of(request, why_not)
    with st.container(gap="small"):
        page.header(chosen, why_not, job)
        # only now: pandas and plotly take half a second, and the form is on the screen
        from tileviz.ui.explore import repeat, result

        result.draw(chosen, request, job)
        repeat.draw(chosen, request)
    page.warm_up()
