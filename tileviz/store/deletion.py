"""Deleting sweeps, trials and compiled code, and getting them back: what is deleted lies in a trash
for a week.

The rows move into the trash whole, a hundred in a transaction, so that nobody waits long for the
lock. The head of a sweep goes first and comes back last: a sweep is there as a whole, or it is not.
Its rows of configs stay where they are, since nothing finds them without the head, and go when the
trash is emptied. A process that dies in between leaves an entry that can be taken back or emptied.
What is deleted for good loses its head first, so that nobody takes back a part of it. Every step
looks whether it is still to be done: another process may take back what this one deletes.
"""

import json
import time
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, groupby
from typing import Any

from tileviz.errors import BadRequest
from tileviz.records import canonical_json
from tileviz.store.part import StorePart

BATCH = 100
"""Rows moved in one transaction, by one statement a table: some milliseconds. Between two
statements a busy thread of the same process may come in for 5 ms (Python's switch interval), and a
hundred of them held the lock for 0.3 s."""

KEPT_S = 7 * 86400.0
"""Seconds that something lies in the trash; the next deletion after that empties it."""

_KEYS = {"sweep": "id", "trial": "id", "artifact": "key"}
"""The tables that rows are moved out of, with the column of their id."""


@dataclass(frozen=True)
class Deleted:
    """An entry of the trash."""

    id: str
    kind: str
    """`sweep`, `trial` or `artifact`."""
    title: str
    """`gemm on cpu, 48 configs`."""
    deleted: float
    """Unix time."""


@dataclass(frozen=True)
class CodeEntry:
    """A compiled artifact in a list, without its texts."""

    key: str
    kernel: str
    """Of a trial that has it; empty where none does."""
    target: str
    compiler: str
    trials: int
    """How many trials have it."""
    created: float
    """Unix time."""


class DeletionStore(StorePart):
    """The part of `Store` that deletes; uses its `database`, `files` and `recorded`."""

    def delete(self, ids: Sequence[str]) -> list[Deleted]:
        """Puts sweeps, trials and artifacts into the trash. Raises BadRequest, and deletes nothing,
        where one of them must stay."""
        self.empty_trash(KEPT_S)
        found = [self._entry(name) for name in dict.fromkeys(ids)]
        for entry in found:
            self._move(entry)
        return found

    def undelete(self, ids: Sequence[str]) -> list[Deleted]:
        """Takes entries back out of the trash. Raises BadRequest, and takes none, where one is not
        there."""
        known = {entry.id: entry for entry in self.trash()}
        for name in ids:
            if name not in known:
                raise BadRequest(
                    f"'{name}' is not among what was deleted and kept; there:"
                    f" {', '.join(known) or 'nothing'}"
                )
            if known[name].kind == "artifact" and not self.files.folder(name).is_dir():
                raise BadRequest(f"the files of the code {name} were cleared; compile it again")
        found = [known[name] for name in dict.fromkeys(ids)]
        for entry in found:
            self._take_back(entry)
        return found

    def trash(self) -> list[Deleted]:
        """What can be taken back, newest first."""
        with self.database.connect() as connection:
            rows = connection.execute(
                f"SELECT * FROM trash WHERE {_HAS_HEAD} ORDER BY deleted DESC, id"
            ).fetchall()
        return [Deleted(**row) for row in rows]

    def empty_trash(self, older_than_s: float = 0.0) -> int:
        """Deletes for good what was put into the trash so long ago, and what is left of entries
        that somebody began to delete for good; gives the number of entries."""
        asked = f"SELECT * FROM trash WHERE deleted <= ? OR NOT {_HAS_HEAD}"
        with self.database.connect() as connection:
            old = [
                Deleted(**row) for row in connection.execute(asked, (time.time() - older_than_s,))
            ]
        for entry in old:
            self._forget(entry)
        return len(old)

    def code_entries(self, limit: int = 50) -> list[CodeEntry]:
        """Compiled code, newest first."""
        asked = (
            "SELECT key, created, json_extract(doc, '$.target') AS target,"
            " json_extract(doc, '$.compiler') AS compiler,"
            " (SELECT count(*) FROM trial WHERE artifact=artifact.key) AS trials,"
            " coalesce((SELECT kernel FROM trial WHERE artifact=artifact.key LIMIT 1),"
            " '') AS kernel"
            " FROM artifact ORDER BY created DESC LIMIT ?"
        )
        with self.database.connect() as connection:
            return [CodeEntry(**row) for row in connection.execute(asked, (limit,))]

    # what may be deleted

    def _entry(self, name: str) -> Deleted:
        with self.database.connect() as connection:
            for kind, title_of in _TITLES.items():
                title = title_of(connection, name)
                if title:
                    return Deleted(name, kind, title, time.time())
        there = self.recorded
        if there is not None and (there.sweep(name) or there.trial(name) or there.artifact(name)):
            raise BadRequest(f"{name} comes with tileviz and cannot be deleted")
        raise BadRequest(f"no sweep, trial or compiled code '{name}' under {self.home}")

    # moving

    def _move(self, entry: Deleted) -> None:
        """The entry and its own row at once; then what belongs to it."""
        with self.database.transaction() as connection:
            if not _TITLES[entry.kind](connection, entry.id):
                return  # someone else deleted it meanwhile
            values = (entry.id, entry.kind, entry.title, entry.deleted)
            connection.execute(
                "INSERT OR REPLACE INTO trash (id, kind, title, deleted) VALUES (?, ?, ?, ?)",
                values,
            )
            _into_trash(connection, _packed(connection, entry.kind, [entry.id], entry.id))
        if entry.kind == "sweep":
            self._move_trials(entry.id)

    def _move_trials(self, sweep: str) -> None:
        """Trials of a deleted sweep that no other sweep has, as an import of an export has."""
        asked = (
            "SELECT DISTINCT trial.id FROM sweep_trial AS own JOIN trial ON trial.id"
            f" = own.trial WHERE own.sweep=? AND NOT {_HAS_SWEEP}"
        )
        for ids in _batches(self._names(asked, sweep)):
            with self.database.connect() as connection:
                rows = _packed(connection, "trial", ids, sweep)
            with self.database.transaction() as connection:
                if not connection.execute("SELECT 1 FROM trash WHERE id=?", (sweep,)).fetchone():
                    return  # someone else took it back, or emptied the trash
                there = f"SELECT id FROM trial WHERE id IN ({_marks(ids)}) AND NOT {_HAS_SWEEP}"
                free = {row["id"] for row in connection.execute(there, tuple(ids))}
                _into_trash(connection, [row for row in rows if row[1] in free])

    def _take_back(self, entry: Deleted) -> None:
        """What belongs to it, in whichever entry that lies now; then its own row."""
        self._take_trials_back(entry.id)
        while not self._take_head_back(entry):
            self._take_trials_back(entry.id)

    def _take_trials_back(self, sweep: str) -> None:
        asked = (
            "SELECT trash_row.id FROM sweep_trial JOIN trash_row ON source='trial' AND"
            " trash_row.id = trial WHERE sweep=?1"
            " UNION SELECT id FROM trash_row WHERE entry=?1 AND id<>?1"
        )
        for ids in _batches(self._names(asked, sweep)):
            with self.database.connect() as connection:
                rows = _unpacked(connection, "trial", ids)
            with self.database.transaction() as connection:
                _out_of_trash(connection, "trial", ids, rows)

    def _take_head_back(self, entry: Deleted) -> bool:
        """False while someone else still moves trials of it into the trash."""
        with self.database.transaction() as connection:
            head = _unpacked(connection, entry.kind, [entry.id])
            if not head:
                raise BadRequest(
                    f"someone else took {entry.id} back meanwhile, or deleted it for good"
                )
            if connection.execute(
                "SELECT 1 FROM trash_row WHERE entry=? AND id<>?", (entry.id, entry.id)
            ).fetchone():
                return False
            _out_of_trash(connection, entry.kind, [entry.id], head)
            connection.execute("DELETE FROM trash WHERE id=?", (entry.id,))
            return True

    def _forget(self, entry: Deleted) -> None:
        self.database.write("DELETE FROM trash_row WHERE source=? AND id=?", (entry.kind, entry.id))
        # else it was compiled again
        if entry.kind == "artifact" and self.artifact(entry.id) is None:
            self.files.remove(entry.id)
        if entry.kind == "sweep":
            self._move_trials(entry.id)  # those that a process left which died
            self._drop(
                "sweep_trial",
                "sweep=? AND ordinal",
                "SELECT ordinal FROM sweep_trial WHERE sweep=?",
                entry.id,
            )
        self._drop(
            "trash_row", "entry=? AND id", "SELECT id FROM trash_row WHERE entry=?", entry.id
        )
        with self.database.transaction() as connection:
            connection.execute("DELETE FROM trash WHERE id=?", (entry.id,))

    def _drop(self, table: str, where: str, asked: str, entry: str) -> None:
        for part in _batches(self._names(asked, entry)):
            # nobody comes in between
            self.database.write(
                f"DELETE FROM {table} WHERE {where} IN ({_marks(part)})", (entry, *part)
            )

    def _names(self, asked: str, entry: str) -> list:
        with self.database.connect() as connection:
            return [row[0] for row in connection.execute(asked, (entry,))]


_HAS_HEAD = "EXISTS (SELECT 1 FROM trash_row WHERE source=trash.kind AND trash_row.id=trash.id)"

_HAS_SWEEP = (
    "EXISTS (SELECT 1 FROM sweep_trial AS other JOIN sweep ON sweep.id ="
    " other.sweep WHERE other.trial = trial.id)"
)


def _sweep_title(connection, sweep: str) -> str:
    """Of a sweep that may be deleted; empty where there is none. Raises BadRequest while it is at
    work."""
    row = connection.execute(
        "SELECT sweep.*, (SELECT count(*) FROM sweep_trial WHERE sweep=sweep.id) AS"
        " configs, job.state AS job_state"
        " FROM sweep LEFT JOIN job ON job.id = sweep.job WHERE sweep.id=?",
        (sweep,),
    ).fetchone()
    if row is None:
        return ""
    open_state = row["state"] in ("queued", "running") and row["job_state"] not in (
        "cancelled",
        "failed",
    )
    if open_state or row["job_state"] in ("queued", "running", "cancelling"):
        raise BadRequest(f"sweep {sweep} is at work; cancel it first, then delete it")
    return f"{row['kernel']} on {row['device'] or row['target']}, {row['configs']:,} configs"


def _trial_title(connection, trial: str) -> str:
    row = connection.execute(
        "SELECT kernel, target, device, status FROM trial WHERE id=?", (trial,)
    ).fetchone()
    if row is None:
        return ""
    of = connection.execute(
        "SELECT sweep.id FROM sweep_trial JOIN sweep ON sweep.id = sweep_trial.sweep"
        " WHERE sweep_trial.trial=? LIMIT 1",
        (trial,),
    ).fetchone()
    if of:
        raise BadRequest(f"trial {trial} belongs to sweep {of['id']}; delete that as a whole")
    if connection.execute(
        "SELECT 1 FROM job WHERE trial=? AND state IN ('running', 'cancelling')", (trial,)
    ).fetchone():
        raise BadRequest(f"trial {trial} is still at work; wait for its end, or cancel it")
    return f"{row['kernel']} on {row['device'] or row['target']}, {row['status'].replace('_', ' ')}"


def _artifact_title(connection, key: str) -> str:
    row = connection.execute(
        "SELECT json_extract(doc, '$.target') AS target FROM artifact WHERE key=?", (key,)
    ).fetchone()
    if row is None:
        return ""
    users = [
        found["id"] for found in connection.execute("SELECT id FROM trial WHERE artifact=?", (key,))
    ]
    if len(users) > 1:
        raise BadRequest(
            f"the code {key} is that of {len(users):,} trials ({', '.join(users[:3])},"
            " ...); delete these first"
        )
    kept = connection.execute(
        "SELECT preset.id FROM preset JOIN trial ON trial.id = json_extract(preset.doc,"
        " '$.trial') WHERE trial.artifact=? LIMIT 1",
        (key,),
    ).fetchone()
    if kept:
        raise BadRequest(
            f"the code {key} is that of preset {kept['id']}; `presets --forget {kept['id']}` first"
        )
    return f"code for {row['target']}"


_TITLES = {"sweep": _sweep_title, "trial": _trial_title, "artifact": _artifact_title}
"""What each kind of entry is called, in the order in which an id is looked for. Empty where there
is none of this id; raises BadRequest for what must stay."""


def _packed(
    connection, source: str, ids: Sequence[str], entry: str
) -> list[tuple[str, str, str, str]]:
    """Rows of a table as rows of the trash."""
    key = _KEYS[source]
    rows = connection.execute(
        f"SELECT * FROM {source} WHERE {key} IN ({_marks(ids)})", tuple(ids)
    ).fetchall()
    return [(source, row[key], entry, canonical_json(dict(row))) for row in rows]


def _into_trash(connection, rows: Sequence[tuple[str, str, str, str]]) -> None:
    """Rows of one table. Here and below one statement takes the whole batch: busy threads come in
    between two statements."""
    if not rows:
        return
    values, source, names = (
        (value for row in rows for value in row),
        rows[0][0],
        tuple(row[1] for row in rows),
    )
    marks = ", ".join(["(?, ?, ?, ?)"] * len(rows))
    connection.execute(
        f"INSERT OR REPLACE INTO trash_row (source, id, entry, content) VALUES {marks}",
        tuple(values),
    )
    connection.execute(f"DELETE FROM {source} WHERE {_KEYS[source]} IN ({_marks(names)})", names)


def _unpacked(connection, source: str, ids: Sequence[str]) -> list[dict[str, Any]]:
    """Rows of the trash as they were in their table."""
    asked = f"SELECT content FROM trash_row WHERE source=? AND id IN ({_marks(ids)})"
    return [json.loads(row["content"]) for row in connection.execute(asked, (source, *ids))]


def _out_of_trash(
    connection, source: str, ids: Sequence[str], rows: Sequence[dict[str, Any]]
) -> None:
    """Puts rows back. What was made anew under the same id meanwhile is newer and stays."""
    # an earlier version had fewer columns
    for columns, alike in groupby(sorted(rows, key=tuple), key=tuple):
        values = [tuple(row.values()) for row in alike]
        marks = ", ".join([f"({_marks(columns)})"] * len(values))
        connection.execute(
            f"INSERT OR IGNORE INTO {source} ({', '.join(columns)}) VALUES {marks}",
            tuple(chain.from_iterable(values)),
        )
    connection.execute(
        f"DELETE FROM trash_row WHERE source=? AND id IN ({_marks(ids)})", (source, *ids)
    )


def _marks(values: Collection) -> str:
    return ", ".join("?" * len(values))


def _batches(ids: Sequence) -> Iterator[Sequence]:
    return (ids[start : start + BATCH] for start in range(0, len(ids), BATCH))
