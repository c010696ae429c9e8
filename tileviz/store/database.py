"""Opens the SQLite file: WAL, migrations, errors as sentences, and a damaged file set aside, never
deleted."""

import errno
import fcntl
import logging
import random
import sqlite3
import time
from collections.abc import Generator, Iterable, Sequence
from contextlib import contextmanager
from pathlib import Path

from tileviz.errors import StoreError
from tileviz.store.home import full_words, is_full

log = logging.getLogger("tileviz.store")

FILE_NAME = "store.db"
_HERE = Path(__file__).parent
MIGRATIONS = tuple(
    path.read_text()
    for path in (_HERE / "schema.sql", *sorted((_HERE / "migrations").glob("*.sql")))
)
"""Step n brings `PRAGMA user_version` from n - 1 to n: schema.sql, then migrations/0002_*.sql and
so on."""

PATIENCE_S = 60.0
"""How long a write, and a read that meets a lock, waits for its turn before it says so. A lock is
held for milliseconds."""

TURN_S = 0.5
"""How long SQLite itself waits before we ask again: Ctrl-C is heard in between."""

LONG_LOCK_S = 0.1
"""A write lock that is held longer is told in the log: everybody else waits meanwhile."""

_TAKEN = (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED, sqlite3.SQLITE_PROTOCOL)
"""Somebody else has the file: a writer, a checkpoint, one that closes it last, a recovery; or what
was read is old (BUSY_SNAPSHOT)."""

HEADER = b"SQLite format 3\x00"
_DAMAGED = ("file is not a database", "malformed", "file is encrypted")


class Connection(sqlite3.Connection):
    """Waits its turn where the file is locked, whatever the reason: SQLite's own wait leaves
    several out."""

    def execute(self, *asked) -> sqlite3.Cursor:
        """Tried again for PATIENCE_S. Within a transaction once: it has its turn already, or cannot
        get it any more."""
        end = time.monotonic() + PATIENCE_S
        while True:
            try:
                return super().execute(*asked)
            except sqlite3.OperationalError as error:
                if not is_taken(error) or self.in_transaction or time.monotonic() > end:
                    raise
                time.sleep(0.005 + 0.02 * random.random())


class Database:
    """One file. A connection a call, so that threads and processes never share one."""

    def __init__(self, home: Path) -> None:
        self.home = home
        self.path = home / FILE_NAME
        self.longest_lock_s = 0.0
        """At most so long did a write of ours hold the write lock. A single statement is counted
        with the wait for the interpreter after it, and not where it had to wait for the lock
        itself."""
        self._open_or_set_aside()

    @contextmanager
    def connect(self) -> Generator[Connection]:
        """A connection in autocommit mode. Raises StoreError for whatever SQLite reports."""
        connection = None
        try:
            connection = self.opened()
            connection.row_factory = sqlite3.Row
            connection.execute("PRAGMA synchronous=NORMAL")
            yield connection
        except (sqlite3.Error, OSError) as error:
            raise self._explained(error) from error
        finally:
            if connection is not None:
                connection.close()

    def opened(self) -> Connection:
        """A connection that the caller closes. Raises sqlite3.Error."""
        return sqlite3.connect(self.path, timeout=TURN_S, isolation_level=None, factory=Connection)

    def write(self, statement: str, values: Sequence = ()) -> int:
        """One statement as a transaction of its own; gives the number of changed rows.

        This is how pages write: SQLite takes and gives back the lock within one call, so that a
        process with busy threads holds it no longer than a quiet one. Between the statements of a
        `transaction` this thread waits for its turn in the interpreter, too.
        """
        with self.connect() as connection:
            return self._timed_write(connection, statement, values)

    def write_many(self, statements: Iterable[tuple[str, Sequence]]) -> None:
        """Statements one after the other, each a transaction of its own, so that others get their
        turn in between."""
        with self.connect() as connection:
            for statement, values in statements:
                self._timed_write(connection, statement, values)

    def _timed_write(self, connection: Connection, statement: str, values: Sequence) -> int:
        connection.execute("PRAGMA busy_timeout=0")
        try:
            began = time.monotonic()
            changed = sqlite3.Connection.execute(connection, statement, values).rowcount
            self.longest_lock_s = max(self.longest_lock_s, time.monotonic() - began)
        except sqlite3.OperationalError as error:
            if not is_taken(error):
                raise
            connection.execute(f"PRAGMA busy_timeout={TURN_S * 1000:.0f}")
            changed = connection.execute(statement, values).rowcount
        return changed

    @contextmanager
    def transaction(self) -> Generator[Connection]:
        """A write transaction of several statements: everything in it lands, or nothing. What it
        writes is made ready before: nobody else can write meanwhile."""
        with self.connect() as connection:
            connection.execute("BEGIN IMMEDIATE")
            began = time.monotonic()
            try:
                yield connection
            except BaseException:  # Ctrl-C, too, gives the lock back; it is raised again
                if connection.in_transaction:
                    connection.execute("ROLLBACK")
                raise
            connection.execute("COMMIT")
            held = time.monotonic() - began
            self.longest_lock_s = max(self.longest_lock_s, held)
            if held > LONG_LOCK_S:
                log.warning(
                    "the store's write lock was held for %.2f s, and nobody else could write", held
                )

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
        """Stops before SQLite would replay a left-over WAL into a file that is no database: it is
        kept byte for byte."""
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
                    f"{self.path} was written by a newer tileviz (schema {version});"
                    " update tileviz, or set TILEVIZ_HOME to another folder"
                )
            if version == len(MIGRATIONS):
                connection.execute("SELECT count(*) FROM (SELECT id FROM job LIMIT 1)")
                if (
                    self.path.stat().st_size < 64 << 20
                    and connection.execute("PRAGMA quick_check(1)").fetchone()[0] != "ok"
                ):
                    raise sqlite3.DatabaseError("database disk image is malformed")
                return
            connection.execute("BEGIN EXCLUSIVE")
            run_script(
                connection, MIGRATIONS[connection.execute("PRAGMA user_version").fetchone()[0] :]
            )
            connection.execute("COMMIT")

    def _set_aside(self) -> None:
        """Renames a damaged file, with its WAL, to store.db.damaged-<time>; a note of it goes into
        the new file."""
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
            text = f"The store file was damaged. It was kept as {kept}, and a new one was started."
            self.write("INSERT INTO notice VALUES (?, ?)", (time.time(), text))

    def _free_name(self, name: str) -> Path:
        kept, number = self.path.with_name(name), 1
        while kept.exists():
            number += 1
            kept = self.path.with_name(f"{name}-{number}")
        return kept

    def _explained(self, error: Exception) -> StoreError:
        words = str(error)
        code = getattr(error, "sqlite_errorcode", 0) & 0xFF
        # a full disk is told of the store's own file alone
        of_files = code in (sqlite3.SQLITE_IOERR, sqlite3.SQLITE_CANTOPEN)
        no_room = code == sqlite3.SQLITE_FULL or getattr(error, "errno", None) in (
            errno.ENOSPC,
            errno.EDQUOT,
        )
        if no_room or (of_files and is_full(self.home)):
            return StoreError(full_words(self.home), words)
        if code in (sqlite3.SQLITE_READONLY, sqlite3.SQLITE_CANTOPEN) or isinstance(
            error, PermissionError
        ):
            return StoreError(
                f"cannot write to {self.path}; make it writable, or set TILEVIZ_HOME to"
                " another folder",
                words,
            )
        if isinstance(error, sqlite3.Error) and is_taken(error):
            return StoreError(
                f"{self.path} stayed locked for {PATIENCE_S:g} s by another process; try again",
                words,
            )
        if _is_damage(error):
            return StoreError(
                f"{self.path} is damaged; start tileviz again: it keeps the damaged file"
                " and starts a new one",
                words,
            )
        return StoreError(f"the store at {self.path} failed: {words}", words)


def is_taken(error: sqlite3.Error) -> bool:
    """Whether it will pass: somebody else has the file."""
    return (
        getattr(error, "sqlite_errorcode", None) is not None
        and error.sqlite_errorcode & 0xFF in _TAKEN
    )


def _is_damage(error: BaseException | None) -> bool:
    return isinstance(error, sqlite3.DatabaseError) and any(
        words in str(error) for words in _DAMAGED
    )


def run_script(connection: sqlite3.Connection, steps: Sequence[str]) -> None:
    """Runs steps of the schema, the last of which is the newest."""
    for step in steps:
        for statement in _statements(step):
            connection.execute(statement)
    connection.execute(f"PRAGMA user_version={len(MIGRATIONS)}")


def _statements(script: str) -> list[str]:
    lines = [line for line in script.splitlines() if not line.lstrip().startswith("--")]
    return [s for s in "\n".join(lines).split(";") if s.strip()]
