"""Cells of the tables that Streamlit draws: their words, their numbers, and how many are seen.

Words of others are kept from becoming formulas: a table can be saved as CSV, and a spreadsheet runs
what looks like one.
"""

from typing import TYPE_CHECKING, Literal

import pandas as pd

from tileviz.store.csv_cells import text_cell, value_of

if TYPE_CHECKING:
    from pandas.io.formats.style import Styler  # takes its time, and few tables need it


def kept_as_text(frame: pd.DataFrame) -> pd.DataFrame:
    """The table with a mark before each text that would be a formula, as in our own CSV; numbers
    and a lone dash stay as they are."""
    return frame.map(_kept)


def with_commas(frame: pd.DataFrame) -> "Styler":
    """The table with its numbers as `1,478`; they stay numbers, so that a column is sorted by
    them."""
    shown = frame.style
    shown.format(thousands=",")
    return shown


def height_of(rows: int, most: int) -> int | Literal["content"]:
    """For `st.dataframe`: as tall as its rows, which the theme decides, or `most` pixels where it
    scrolls."""
    return "content" if 38 + 35 * rows <= most else most


def _kept(cell: object) -> object:
    return (
        text_cell(cell)
        if isinstance(cell, str) and len(cell) > 1 and isinstance(value_of(cell), str)
        else cell
    )
