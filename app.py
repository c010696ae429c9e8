"""Starts the dashboard: `streamlit run app.py`.

Read twice: by the server, which takes `app` from it, and as the script of each page.
"""

import streamlit as st

from tileviz.ui import nav, web

if __name__ == "__main__":
    nav.run()
else:
    app = st.App(__file__, middleware=web.layers())
