"""Sweeps as files: JSON comes back to the same frame; CSV, and Kernel Tuner's T4, to the same
heatmap. Rows in, text out, and back.

What comes in is checked as a whole, against the types of `schemas`, before a row of it is stored.
"""

import codecs
import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import msgspec

from tileviz.errors import BadRequest
from tileviz.store import schemas
from tileviz.store.csv_file import from_csv, to_csv
from tileviz.store.json_place import line_and_column
from tileviz.store.sweep_file import SweepFile, sweep_file
from tileviz.store.sweeps import SweepView
from tileviz.store.t4_file import INVALIDITY, from_t4, to_t4

__all__ = ["FORMATS", "INVALIDITY", "MOST_MB", "SweepFile", "read", "why_unreadable", "written"]

FORMATS = ("csv", "json", "t4")

MOST_MB = 128
"""Of a file that is read, on the command line and on the page; .streamlit/config.toml names the
same number, since the page's server refuses what is larger. A sweep of 100,000 configs is 75 MB of
JSON."""

TOO_LARGE = f"this file is larger than {MOST_MB} MB, the most that is read"

CACHE_FILE = (
    "it is a cache file of Kernel Tuner, which holds no results for others; give"
    " the file that its `store_output_file` writes"
)

_UTF_16 = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)


def written(view: SweepView, frame: Sequence[dict[str, Any]], form: str) -> str:
    """The sweep in a format of FORMATS."""
    return {"csv": to_csv, "json": to_json_text, "t4": to_t4}[form](view, frame)


def read(content: bytes | str) -> SweepFile:
    """The sweep in a file, whichever of the formats it is. Raises BadRequest, with the place, when
    it is none of them."""
    text = content if isinstance(content, str) else _text(content)
    head = text.lstrip("\ufeff \r\n\t")
    if not head:
        raise schemas.no_sweep("it is empty")
    if not head.startswith(("{", "[")):
        return from_csv(text.removeprefix("\ufeff"))
    document = text.removeprefix("\ufeff").encode(errors="surrogatepass")
    if '"tune_params_keys"' in head[:10_000]:  # its brackets stay open while Kernel Tuner runs
        raise schemas.no_sweep(CACHE_FILE)
    names = schemas.decoded(document, dict[str, msgspec.Raw])
    if "results" in names:
        return from_t4(document)
    if "rows" not in names and "request" not in names:
        raise schemas.no_sweep("it has neither the rows of our JSON nor the results of T4")
    return from_json(document)


def _text(content: bytes) -> str:
    if len(content) > MOST_MB << 20:
        raise BadRequest(TOO_LARGE)
    try:
        return content.decode("utf-16" if content.startswith(_UTF_16) else "utf-8")
    except UnicodeDecodeError as error:
        place = line_and_column(content, error.start)
        raise schemas.no_sweep(
            f"{place}: its letters are not UTF-8 (byte {error.start + 1:,}); save it as UTF-8"
        ) from error


# JSON


def to_json_text(view: SweepView, frame: Sequence[dict[str, Any]]) -> str:
    """Everything: the request, and every column of every row."""
    head = {
        "format": "tileviz sweep",
        "version": 1,
        "sweep": view.id,
        "status": view.state,
        "reason": view.reason,
        "seconds": view.seconds,
    }
    return json.dumps(
        {
            **head,
            "request": view.request,
            "counts": view.counts,
            "tied": view.tied,
            "rows": list(frame),
        },
        indent=None,
    )


def from_json(content: bytes) -> SweepFile:
    document = schemas.decoded(content, schemas.Sweep)
    found = sweep_file(
        document.request,
        document.rows,
        lambda number, field, what: schemas.misfit(content, f"$.rows[{number}].{field}", what),
    )
    trials = {(row.problem_index, row.trial) for row in document.rows}
    for problem, tied in document.tied.items():
        unknown = next((trial for trial in tied if (problem, trial) not in trials), None)
        if unknown is not None:
            raise schemas.misfit(
                content, f"$.tied.{problem}", f"problem {problem} has no trial '{unknown}'"
            )
    return replace(found, tied=document.tied)


# what is stored


def why_unreadable(
    request: Mapping[str, Any], columns: Mapping[str, Sequence] | None = None
) -> str:
    """What keeps a stored sweep from being read, from its request and what `Store.sweep_columns`
    gave: an earlier version took files unchecked. Empty when nothing does."""
    try:
        asked = msgspec.convert(request, schemas.Request)
        if columns is not None:
            sweep_file(asked, _stored_rows(columns), _stored_misfit)
    except msgspec.ValidationError as error:
        what, path = schemas.parts_of(error)
        return f"{path.removeprefix('$.')}: {what}"
    except (BadRequest, ValueError) as error:
        return str(error)
    return ""


def _stored_misfit(number: int, field: str, what: str) -> BadRequest:
    return BadRequest(f"config {number}, {field}: {what}")


def _stored_rows(columns: Mapping[str, Sequence]) -> list[schemas.Row]:
    read = {
        name: [json.loads(cell) if cell else None for cell in cells]
        if name in ("config", "instructions")
        else cells
        for name, cells in columns.items()
    }
    flags = ("implausible", "launch_bound", "short", "finalist")
    read |= {
        name: [{0: False, 1: True}.get(cell, cell) for cell in read[name]]
        for name in flags
        if name in read
    }
    return msgspec.convert(
        [dict(zip(read, row, strict=True)) for row in zip(*read.values(), strict=True)],
        list[schemas.Row],
    )
