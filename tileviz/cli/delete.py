"""`delete`: sweeps, trials and compiled code into the trash, out of it, and what lies there."""

import json
import time

from tileviz import formats
from tileviz.errors import BadRequest
from tileviz.records_json import to_json
from tileviz.store import StoreWithRecorded
from tileviz.store.deletion import KEPT_S, Deleted


def delete(asked) -> int:
    """Deletes, or takes back with --undo; without an id, lists what can be taken back."""
    store = StoreWithRecorded()
    if asked.undo and not asked.ids:
        raise BadRequest(
            "--undo takes the ids of what was deleted; `python -m tileviz delete` lists them"
        )
    if not asked.ids:
        found = store.trash()
        _print(
            asked,
            "there",
            found,
            [_line(entry) for entry in found] or ["nothing was deleted that can be taken back"],
        )
    elif asked.undo:
        found = store.undelete(asked.ids)
        _print(
            asked,
            "back",
            found,
            [f"{entry.kind} {entry.id} is back: {entry.title}" for entry in found],
        )
    else:
        found = store.delete(asked.ids)
        _print(
            asked,
            "deleted",
            found,
            [f"{entry.kind} {entry.id} deleted: {entry.title}" for entry in found],
        )
        if not asked.json:
            ids = " ".join(entry.id for entry in found)
            print(
                f"  for {KEPT_S / 86400:.0f} days `python -m tileviz delete --undo {ids}`"
                " takes it back"
            )
    return 0


def _print(asked, name: str, found: list[Deleted], lines: list[str]) -> None:
    print(json.dumps({name: to_json(found)}) if asked.json else "\n".join(lines))


def _line(entry: Deleted) -> str:
    return (
        f"{entry.id}  {entry.kind}, {entry.title}, deleted"
        f" {formats.age(entry.deleted, time.time())}"
    )
