"""How the cells of a table look."""

import pandas as pd
from streamlit.testing.v1 import AppTest

from tileviz.ui.parts.cells import height_of, with_commas

PAGE = """
import pandas as pd
import streamlit as st
from tileviz.ui.parts.cells import height_of, with_commas

for rows in (1, 100):
    frame = pd.DataFrame({"written": range(1000, 1000 + rows)})
    st.dataframe(with_commas(frame), height=height_of(rows, 423))
"""


def test_numbers_of_a_table_have_commas_and_stay_numbers():
    shown = with_commas(pd.DataFrame({"opcode": ["HGMMA"], "written": [1478]}))
    assert "1,478" in shown.to_html() and "HGMMA" in shown.to_html()
    assert shown.data["written"].sum() == 1478


def test_a_table_is_as_tall_as_its_rows_until_it_scrolls():
    """Heights that were counted in pixels drew an empty last row: the theme's rows are lower."""
    assert height_of(0, 423) == height_of(11, 423) == "content"
    assert height_of(12, 423) == 423


def test_streamlit_takes_both():
    app = AppTest.from_string(PAGE).run()
    assert not app.exception
    assert [len(drawn.value) for drawn in app.dataframe] == [1, 100]
    assert "1,000" in app.dataframe[0].proto.arrow_data.styler.display_values.decode(errors="ignore")
