"""Notices cheaply that another process has written to the store."""

import sqlite3
import time

from tileviz.errors import StoreError
from tileviz.store.store import Store


class Watch:
    """Keeps one connection, since SQLite's data_version counts per connection. For one thread."""

    def __init__(self, store: Store, at_least_every_s: float = 0.5) -> None:
        self.database = store.database
        self.at_least_every_s = at_least_every_s
        self.connection: sqlite3.Connection | None = None
        self.version = -1
        self.asked = 0.0

    def changed(self) -> bool:
        """True when something was written since the last question, and in any case every
        `at_least_every_s` seconds."""
        try:
            if self.connection is None:
                self.connection = self.database.opened()
            version = self.connection.execute("PRAGMA data_version").fetchone()[0]
        except sqlite3.Error as error:
            self._close()
            raise StoreError(
                f"the store at {self.database.path} cannot be read: {error}"
            ) from error
        if version == self.version and time.monotonic() - self.asked < self.at_least_every_s:
            return False
        self.version, self.asked = version, time.monotonic()
        return True

    def _close(self) -> None:
        if self.connection is not None:
            self.connection.close()
        self.connection = None

    def forget(self) -> None:
        """Makes the next answer true."""
        self.version = -1
