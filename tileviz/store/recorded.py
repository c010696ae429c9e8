"""The results that come with tileviz: a store in one file, measured elsewhere, opened for reading
only and never written.

It has the schema of every store, except that the texts of its artifacts lie in the file itself.
SQLite opens it as immutable, so no journal appears beside it and its folder need not be writable.
What was measured there lies under the device's name, since `cuda:0` would be taken for a device of
this machine.
"""

import functools
import json
import logging
import lzma
import sqlite3
from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, NoReturn

from tileviz import settings
from tileviz.errors import StoreError
from tileviz.records import Artifact, Config, Problem, Trial, TunedConfig, canonical_json
from tileviz.records_json import trial_from_json
from tileviz.store.artifacts import LINES, ArtifactFiles, texts_of
from tileviz.store.database import MIGRATIONS, Connection, Database
from tileviz.store.rows import document
from tileviz.store.store import Store
from tileviz.store.sweeps import Pace, SweepView

log = logging.getLogger("tileviz.store")

FILE = Path(__file__).resolve().parent.parent / "data" / "recorded.db"

VARIABLE = settings.RECORDED
"""Another recorded file in place of the one that comes with tileviz; `none` for none."""

LEAST_SCHEMA = 4
"""An older file lacks what is read here. A recorded file cannot be migrated: a step that adds what
is read raises this number, and the file is made again (`python -m benchmarks.record`)."""


class ReadOnly(Database):
    """A database in a file that nobody writes: what would raises StoreError."""

    def __init__(self, path: Path) -> None:
        self.home, self.path, self.longest_lock_s = path.parent, path, 0.0
        with self.connect() as connection:
            version = connection.execute("PRAGMA user_version").fetchone()[0]
        if not LEAST_SCHEMA <= version <= len(MIGRATIONS):
            raise StoreError(
                f"{path} has schema {version}; this tileviz reads {LEAST_SCHEMA} to"
                f" {len(MIGRATIONS)}"
            )

    def opened(self) -> Connection:
        place = f"{self.path.absolute().as_uri()}?mode=ro&immutable=1"
        return sqlite3.connect(place, uri=True, isolation_level=None, factory=Connection)

    def _explained(self, error: Exception) -> StoreError:
        return StoreError(f"the recorded results at {self.path} cannot be read: {error}")

    def write(self, statement: str, values: Sequence = ()) -> NoReturn:
        self.refuse()

    def write_many(self, statements: Iterable[tuple[str, Sequence]]) -> NoReturn:
        self.refuse()

    def transaction(self) -> NoReturn:
        self.refuse()

    def refuse(self) -> NoReturn:
        """Raises StoreError for what would write."""
        raise StoreError(f"{self.path} comes with tileviz and is only read")


class PackedFiles(ArtifactFiles):
    """Artifact texts within the file, as `ArtifactFiles` reads them from its folder. What writes
    raises StoreError."""

    def __init__(self, database: ReadOnly) -> None:
        super().__init__(database.home)
        self.database = database

    def write(self, artifact: Artifact) -> NoReturn:
        self.database.refuse()

    def write_more(self, key: str, files: dict[str, str]) -> NoReturn:
        self.database.refuse()

    def remove(self, key: str) -> NoReturn:
        self.database.refuse()

    def clear(self) -> NoReturn:
        self.database.refuse()

    def read(self, key: str, doc: dict) -> dict:
        """The texts of an artifact by field name; a text that is not kept is left out."""
        return texts_of(self._contents(key), doc["source_language"])

    def lines(self, key: str) -> dict[str, tuple[int, ...]]:
        """The line maps of an artifact; empty when they are not kept."""
        content = self._contents(key, LINES).get(LINES)
        return (
            {name: tuple(values) for name, values in json.loads(content).items()} if content else {}
        )

    def _contents(self, key: str, name: str | None = None) -> dict[str, bytes]:
        asked = (
            "SELECT name, content FROM artifact_file JOIN packed ON packed.hash ="
            " artifact_file.hash"
            " WHERE artifact=? AND (? IS NULL OR name=?)"
        )
        with self.database.connect() as connection:
            return {
                row["name"]: lzma.decompress(row["content"])
                for row in connection.execute(asked, (key, name, name))
            }


class Recorded(Store):
    """The recorded results, as any store is read. What writes raises StoreError."""

    def __init__(self, path: Path) -> None:
        self.home = path.parent
        database = ReadOnly(path)
        self.database, self.files = database, PackedFiles(database)
        # the file never changes, and a page asks these several times in a run
        self._same = functools.lru_cache(maxsize=128)(self._find_same)
        self._tuned = functools.lru_cache(maxsize=32)(self._find_tuned)

    @functools.cached_property
    def sweep_ids(self) -> frozenset[str]:
        with self.database.connect() as connection:
            return frozenset(row["id"] for row in connection.execute("SELECT id FROM sweep"))

    def trial(self, trial: str) -> Trial | None:
        found = _marked(super().trial(trial))
        return (
            replace(found, instructions=self._counts(trial))
            if found is not None and not found.instructions
            else found
        )

    def _counts(self, trial: str) -> dict[str, dict[str, int]]:
        """Instruction counts of a trial from its row: most documents are kept without them."""
        asked = (
            "SELECT instructions FROM sweep_trial WHERE trial=? AND instructions IS"
            " NOT NULL LIMIT 1"
        )
        with self.database.connect() as connection:
            row = connection.execute(asked, (trial,)).fetchone()
        return json.loads(row["instructions"]) if row else {}

    def trials(
        self, kernel: str | None = None, *, limit: int = 10, sweeps: bool = True
    ) -> list[Trial]:
        return [_marked(trial) for trial in super().trials(kernel, limit=limit, sweeps=sweeps)]

    def sweep(self, sweep: str) -> SweepView | None:
        return _marked(super().sweep(sweep))

    def sweeps(
        self, kernel: str | None = None, *, active: bool = False, limit: int = 50
    ) -> list[SweepView]:
        return [_marked(view) for view in super().sweeps(kernel, active=active, limit=limit)]

    def tuned(self, kernel: str | None = None) -> list[TunedConfig]:
        return list(self._tuned(kernel))

    def _find_tuned(self, kernel: str | None) -> tuple[TunedConfig, ...]:
        return tuple(_marked(tuned) for tuned in super().tuned(kernel))

    def with_code(self, kernel: str) -> list[Trial]:
        """Trials of a kernel whose code is kept, fastest of each problem first."""
        asked = (
            "SELECT trial.doc FROM trial JOIN artifact ON artifact.key = trial.artifact"
            " WHERE trial.kernel=? AND EXISTS"
            " (SELECT 1 FROM artifact_file WHERE artifact_file.artifact = artifact.key)"
        )
        with self.database.connect() as connection:
            rows = connection.execute(asked, (kernel,)).fetchall()
        return [_marked(trial_from_json(document(row["doc"]))) for row in rows]

    def same(self, kernel: str, problem: Problem, config: Config, target: str) -> Trial | None:
        """The trial of exactly this problem and config: found by what it is of, since a key also
        holds versions and the kernel's file."""
        found = self._same(kernel, canonical_json(problem), canonical_json(config), target)
        return self.trial(found) if found else None

    def _find_same(self, kernel: str, problem: str, config: str, target: str) -> str | None:
        asked = (
            "SELECT sweep_trial.problem, sweep_trial.trial, sweep.request FROM"
            " sweep_trial JOIN sweep ON sweep.id = sweep_trial.sweep"
            " WHERE sweep.kernel=? AND sweep.target=? AND sweep_trial.config_key=? AND"
            " sweep_trial.trial IS NOT NULL"
        )
        with self.database.connect() as connection:
            rows = connection.execute(asked, (kernel, target, config)).fetchall()
        problems = (
            (row["trial"], json.loads(row["request"])["problems"][row["problem"]]) for row in rows
        )
        return next((trial for trial, own in problems if canonical_json(own) == problem), None)


class StoreWithRecorded(Store):
    """The user's store. What is asked for by an id that it lacks is looked for among the recorded
    results; lists hold the user's own."""

    @property
    def recorded(self) -> Recorded | None:
        return recorded()

    def trial(self, trial: str) -> Trial | None:
        return super().trial(trial) or (
            self.recorded.trial(trial) if self.recorded is not None else None
        )

    def artifact(self, key: str, *, complete: bool = False) -> Artifact | None:
        own = super().artifact(key, complete=complete)
        return own or (
            self.recorded.artifact(key, complete=complete) if self.recorded is not None else None
        )

    def sweep(self, sweep: str) -> SweepView | None:
        return super().sweep(sweep) or (
            self.recorded.sweep(sweep) if self.recorded is not None else None
        )

    def sweep_pace(self, sweep: str) -> Pace:
        there = self._recorded_with(sweep)
        return super().sweep_pace(sweep) if there is None else there.sweep_pace(sweep)

    def sweep_frame(self, sweep: str, **wanted: Any) -> list[dict[str, Any]]:
        there = self._recorded_with(sweep)
        return (
            super().sweep_frame(sweep, **wanted)
            if there is None
            else there.sweep_frame(sweep, **wanted)
        )

    def sweep_columns(self, sweep: str) -> dict[str, list]:
        there = self._recorded_with(sweep)
        return super().sweep_columns(sweep) if there is None else there.sweep_columns(sweep)

    def trials_of_sweep(self, sweep: str) -> dict[str, dict[str, Any]]:
        there = self._recorded_with(sweep)
        return super().trials_of_sweep(sweep) if there is None else there.trials_of_sweep(sweep)

    def _recorded_with(self, sweep: str) -> Recorded | None:
        """The recorded results, where this sweep is among them."""
        return (
            self.recorded
            if self.recorded is not None and sweep in self.recorded.sweep_ids
            else None
        )


def recorded() -> Recorded | None:
    """The recorded results, or None where there are none that can be read; the log says why."""
    named = settings.recorded()
    return None if named == settings.NO_RECORDED else _opened(Path(named) if named else FILE)


@functools.lru_cache(maxsize=4)
def _opened(path: Path) -> Recorded | None:
    if not path.is_file():
        return None
    try:
        return Recorded(path)
    except StoreError as error:
        log.warning("the recorded results are left out: %s", error)
        return None


def _marked(found):
    """What was read, marked as recorded; None stays None."""
    return replace(found, recorded=True) if found is not None else None
