"""Keeps outside text in a table from becoming a formula: a table can be saved as CSV, and a
spreadsheet runs what looks like one."""

import pandas as pd

from tileviz.store.csv_cells import text_cell, value_of


def kept_as_text(frame: pd.DataFrame) -> pd.DataFrame:
    """The table with a mark before each text that would be a formula, as in our own CSV; numbers and a lone dash stay as they are."""
    return frame.map(_kept)


def _kept(cell: object) -> object:
    return text_cell(cell) if isinstance(cell, str) and len(cell) > 1 and isinstance(value_of(cell), str) else cell
