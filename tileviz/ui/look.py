"""The few looks that a theme cannot say. Constant text of ours, nothing from outside."""

import streamlit as st

STYLE = """<style>
.st-key-form [role="radio"] { padding-inline: 8px; min-height: 30px; }
[data-testid="stMainBlockContainer"] { padding-inline: 2.25rem; }
[data-testid="stMetricValue"] { font-variant-numeric: tabular-nums; }
[class*="st-key-meter_"] [data-testid="stProgress"], [class*="st-key-over_"] [data-testid="stProgress"] { margin-top: -0.35rem; }
[class*="st-key-over_"] [role="progressbar"] { filter: hue-rotate(150deg) saturate(1.4); }
.st-key-stale { opacity: 0.45; }
.st-key-stale:hover { opacity: 0.75; }
</style>"""
"""Segments that fit a sidebar, less margin at 1280 wide, and results for other knobs dimmed."""


def apply() -> None:
    st.html(STYLE)
