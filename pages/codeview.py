"""Code: what TileLang makes of a schedule, text beside text, linked, counted and compared."""

from tileviz.ui import nav

with nav.guard():
    import streamlit as st

    from tileviz.ui.codeview import page

    page.read_address()
    chosen, request, why_not = page.form()
    job = page.job_of(request, why_not)
    with st.container(gap="small"):
        other = page.header(chosen, request, why_not, job)
        page.body(chosen, request, job, other)
