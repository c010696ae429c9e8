"""Opens the SQLite file: WAL, migrations, errors as sentences, and a damaged file set aside, never deleted."""

import errno
import fcntl
import sqlite3
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from tileviz.errors import StoreError

FILE_NAME = "store.db"
_HERE = Path(__file__).parent
MIGRATIONS = tuple(path.read_text() for path in (_HERE / "schema.sql", *sorted((_HERE / "migrations").glob("*.sql"))))
"""Step n brings `PRAGMA user_version` from n - 1 to n: schema.sql, then migrations/0002_*.sql and so on."""

HEADER = b"SQLite format 3\x00"
_DAMAGED = ("file is not a database", "malformed", "file is encrypted")


class Database:
    """One file. A connection a call, so that threads and processes never share one."""

    def __init__(self, home: Path) -> None:
        self.home = home
        self.path = home / FILE_NAME
        self._open_or_set_aside()

    @contextmanager
    def connect(self) -> Iterator[sqlite3.Connection]:
        """A connection in autocommit mode. Raises StoreError for whatever SQLite reports."""
        connection = None
        try:
            connection = sqlite3.connect(self.path, timeout=10, isolation_level=None)
            connection.row_factory = sqlite3.Row
            connection.execute("PRAGMA synchronous=NORMAL")
            yield connection
        except (sqlite3.Error, OSError) as error:
            raise self._explained(error) from error
        finally:
            if connection is not None:
                connection.close()

    @contextmanager
    def transaction(self) -> Iterator[sqlite3.Connection]:
        """A write transaction: everything in it lands, or nothing."""
        with self.connect() as connection:
            connection.execute("BEGIN IMMEDIATE")
            try:
                yield connection
            except BaseException:
                if connection.in_transaction:
                    connection.execute("ROLLBACK")
                raise
            connection.execute("COMMIT")

    def _open_or_set_aside(self) -> None:
        try:
            self._check_header()
            self._migrate()
        except StoreError as error:
            if not _is_damage(error.__cause__):
                raise
            self._set_aside()
            self._migrate()

    def _check_header(self) -> None:
        """Stops before SQLite would replay a left-over WAL into a file that is no database: it is kept byte for byte."""
        try:
            with open(self.path, "rb") as file:
                start = file.read(len(HEADER))
        except FileNotFoundError:
            return
        except OSError as error:
            raise self._explained(error) from error
        if start and start != HEADER:
            damage = sqlite3.DatabaseError("file is not a database")
            raise self._explained(damage) from damage

    def _migrate(self) -> None:
        with self.connect() as connection:
            connection.execute("PRAGMA journal_mode=WAL")
            version = connection.execute("PRAGMA user_version").fetchone()[0]
            if version > len(MIGRATIONS):
                raise StoreError(
                    f"{self.path} was written by a newer tileviz (schema {version}); update tileviz, or set TILEVIZ_HOME to another folder"
                )
            if version == len(MIGRATIONS):
                connection.execute("SELECT count(*) FROM (SELECT id FROM job LIMIT 1)")
                if self.path.stat().st_size < 64 << 20 and connection.execute("PRAGMA quick_check(1)").fetchone()[0] != "ok":
                    raise sqlite3.DatabaseError("database disk image is malformed")
                return
            connection.execute("BEGIN EXCLUSIVE")
            run_script(connection, MIGRATIONS[connection.execute("PRAGMA user_version").fetchone()[0] :])
            connection.execute("COMMIT")

    def _set_aside(self) -> None:
        """Renames a damaged file, with its WAL, to store.db.damaged-<time>; a note of it goes into the new file."""
        with open(self.home / "store.lock", "w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            try:
                self._check_header()
                self._migrate()
                return  # another process was faster
            except StoreError as error:
                if not _is_damage(error.__cause__):
                    raise
            kept = self._free_name(f"{FILE_NAME}.damaged-{time.strftime('%Y%m%d-%H%M%S')}")
            for suffix in ("-wal", "-shm", ""):
                part = self.path.with_name(FILE_NAME + suffix)
                if part.exists():
                    part.rename(kept.with_name(kept.name + suffix))
            self._migrate()
            with self.connect() as connection:
                text = f"The store file was damaged. It was kept as {kept}, and a new one was started."
                connection.execute("INSERT INTO notice VALUES (?, ?)", (time.time(), text))

    def _free_name(self, name: str) -> Path:
        kept, number = self.path.with_name(name), 1
        while kept.exists():
            number += 1
            kept = self.path.with_name(f"{name}-{number}")
        return kept

    def _explained(self, error: Exception) -> StoreError:
        words = str(error)
        if "full" in words or getattr(error, "errno", None) in (errno.ENOSPC, errno.EDQUOT):
            return StoreError(
                f"the disk that holds {self.home} is full; free some space, then run again: what was stored before is kept", words
            )
        if "readonly" in words or "unable to open" in words or isinstance(error, PermissionError):
            return StoreError(f"cannot write to {self.path}; make it writable, or set TILEVIZ_HOME to another folder", words)
        if "locked" in words:
            return StoreError(f"{self.path} stayed locked for 10 s by another process; try again", words)
        if _is_damage(error):
            return StoreError(f"{self.path} is damaged; start tileviz again: it keeps the damaged file and starts a new one", words)
        return StoreError(f"the store at {self.path} failed: {words}", words)


def _is_damage(error: BaseException | None) -> bool:
    return isinstance(error, sqlite3.DatabaseError) and any(words in str(error) for words in _DAMAGED)


def run_script(connection: sqlite3.Connection, steps: Sequence[str]) -> None:
    """Runs steps of the schema, the last of which is the newest."""
    for step in steps:
        for statement in _statements(step):
            connection.execute(statement)
    connection.execute(f"PRAGMA user_version={len(MIGRATIONS)}")


def _statements(script: str) -> list[str]:
    lines = [line for line in script.splitlines() if not line.lstrip().startswith("--")]
    return [s for s in "\n".join(lines).split(";") if s.strip()]
