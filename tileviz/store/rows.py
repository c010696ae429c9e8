"""A trial's row as it is written and read, for the parts of the store that do so."""

import json
import logging
import zlib
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, TypeVar

from tileviz.errors import StoreError
from tileviz.records import ACTIVE, Trial
from tileviz.records_json import to_json

log = logging.getLogger("tileviz.store")

T = TypeVar("T")

ACTIVE_WORDS = "('" + "', '".join(ACTIVE) + "')"
"""States of a job that has not ended, as SQL's `IN` takes them."""

COLUMNS = ("key", "kernel", "target", "device", "status", "artifact", "created", "doc")
"""Of a trial's row beside its id; `swept` is 1 for a trial of a sweep, and stays so when a newer
form is written."""

_INSERT = f"INSERT INTO trial (id, swept, {', '.join(COLUMNS)}) VALUES (?, ?{', ?' * len(COLUMNS)})"
_REPLACE = ", ".join(f"{name}=excluded.{name}" for name in COLUMNS)
_WRITE = f"{_INSERT} ON CONFLICT (id) DO UPDATE SET swept=max(swept, excluded.swept), {_REPLACE}"


def trial_written(trial: Trial, swept: bool = False) -> tuple[str, tuple]:
    """The statement that writes a trial, or its newer form, and its values."""
    values = {
        **{name: getattr(trial, name) for name in COLUMNS[:-1]},
        "doc": json.dumps(to_json(trial)),
    }
    return _WRITE, (trial.trial, int(swept), *values.values())


def packed(document: Any) -> bytes:
    """A JSON document as the recorded file keeps it: a third of its size."""
    return zlib.compress(json.dumps(document, separators=(",", ":")).encode(), 9)


def document(value: str | bytes) -> Any:
    """The JSON document in a `doc` column: text as it is written here, or packed."""
    return json.loads(zlib.decompress(value) if isinstance(value, bytes) else value)


def readable(path: Path, kind: str, rows: Iterable, read: Callable[[Any], T]) -> list[T]:
    """The records of the rows (with an `id`) that can be read; one that cannot is left out, logged,
    and told by `unread`."""
    found = []
    for row in rows:
        try:
            found.append(read_row(path, kind, row, read))
        except StoreError as error:
            log.warning("left out: %s", error)
    return found


def read_row(path: Path, kind: str, row, read: Callable[[Any], T]) -> T:
    """One record. Raises StoreError for a row that cannot be read at all: another version's, or a
    damaged one."""
    name = (path, f"{kind} {row['id']}")
    try:
        found = read(row)
    except (TypeError, ValueError, KeyError, AttributeError, zlib.error) as error:
        _unread[name] = (
            f"{name[1]} in {path} cannot be read: it is damaged, or another version of"
            " tileviz wrote it"
        )
        log.info("%s (%s: %s)", _unread[name], type(error).__name__, error)
        raise StoreError(_unread[name]) from error
    _unread.pop(name, None)
    return found


def unread(path: Path) -> list[str]:
    """A sentence for each row of this file that this process could not read."""
    return [sentence for (file, _), sentence in _unread.items() if file == path]


_unread: dict[tuple[Path, str], str] = {}
