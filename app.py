"""Starts the dashboard: `streamlit run app.py`."""

import streamlit as st

from tileviz.ui import nav

st.set_page_config(page_title="tileviz", page_icon=nav.ICON, layout="wide", initial_sidebar_state=360)
st.session_state["_entry"] = True
nav.run()
