"""System: devices, toolchain, jobs, storage."""

from tileviz.ui import nav

with nav.guard():
    import streamlit as st

    from tileviz.ui import system

    system.contents()
    st.title("System", anchor=False)
    system.notices()
    system.jobs()
    system.devices()
    system.tools()
    system.storage()
