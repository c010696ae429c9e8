"""Values as cells of a CSV file and back, without loss, and safe in a spreadsheet: what it would
take for a formula starts with '."""

import json
import re
from typing import Any

FORMULA = tuple("=+-@\t\r")
"""What a formula starts with, as spreadsheets read a cell."""

# 27  -0.5  1e-06
_NUMBER = re.compile(r"-?(0|[1-9][0-9]*)(?P<part>(\.[0-9]+)?([eE][+-]?[0-9]+)?)")
# 27,5
_DECIMAL_COMMA = re.compile(r"-?[0-9]+,[0-9]+")
_FLAGS = {"true": True, "false": False}

MOST_DIGITS = 4000
"""Python reads no longer whole number from a text."""


def text_cell(text: str) -> str:
    """A text as a cell; a number is none."""
    return f"'{text}" if text.startswith(FORMULA) or _is_marked(text) else text


def text_of(cell: str) -> str:
    """The text that `text_cell` wrote; one that it did not write stays as it is."""
    return cell[1:] if _is_marked(cell) else cell


def _is_marked(cell: str) -> bool:
    return cell.startswith("'") and cell[1:].startswith((*FORMULA, "'"))


def value_cell(value: Any) -> str:
    """A number, a flag, a text or None as a cell. A text that would be read as something else is a
    JSON string."""
    if value is None:
        return ""
    if not isinstance(value, str):
        return json.dumps(value)
    read_as_it_is = value and value_of(value) == value and not has_decimal_comma(value)
    return text_cell(value) if read_as_it_is else json.dumps(value)


def has_decimal_comma(cell: str) -> bool:
    """Whether a cell may be a number as half of the world writes it: 27,5, which others take for a
    thousand's mark."""
    return _DECIMAL_COMMA.fullmatch(cell) is not None


def value_of(cell: str) -> Any:
    """A cell as a value: numbers, and true and false as a spreadsheet writes them; an empty one is
    None; the rest is text."""
    if cell == "":
        return None
    number = _NUMBER.fullmatch(cell)
    if number:
        return float(cell) if number["part"] or len(cell) > MOST_DIGITS else int(cell)
    if cell.startswith('"'):
        return _json_text(cell)
    return _FLAGS.get(cell.lower(), text_of(cell))


def _json_text(cell: str) -> str:
    try:
        found = json.loads(cell)
    except ValueError:
        return cell
    return found if isinstance(found, str) else cell
