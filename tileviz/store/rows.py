"""A trial's row as it is written and read, for the parts of the store that do so."""

import json
import zlib
from typing import Any

from tileviz.records import Trial
from tileviz.records_json import to_json

COLUMNS = ("key", "kernel", "target", "device", "status", "artifact", "created", "doc")
"""Of a trial's row beside its id; `swept` is 1 for a trial of a sweep, and stays so when a newer form is written."""

_INSERT = f"INSERT INTO trial (id, swept, {', '.join(COLUMNS)}) VALUES (?, ?{', ?' * len(COLUMNS)})"
_REPLACE = ", ".join(f"{name}=excluded.{name}" for name in COLUMNS)
_WRITE = f"{_INSERT} ON CONFLICT (id) DO UPDATE SET swept=max(swept, excluded.swept), {_REPLACE}"


def trial_written(trial: Trial, swept: bool = False) -> tuple[str, tuple]:
    """The statement that writes a trial, or its newer form, and its values."""
    values = {**{name: getattr(trial, name) for name in COLUMNS[:-1]}, "doc": json.dumps(to_json(trial))}
    return _WRITE, (trial.trial, int(swept), *values.values())


def packed(document: Any) -> bytes:
    """A JSON document as the recorded file keeps it: a third of its size."""
    return zlib.compress(json.dumps(document, separators=(",", ":")).encode(), 9)


def document(value: str | bytes) -> Any:
    """The JSON document in a `doc` column: text as it is written here, or packed."""
    return json.loads(zlib.decompress(value) if isinstance(value, bytes) else value)
