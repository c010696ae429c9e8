"""What the parts of a `Store` use of each other."""

from pathlib import Path

from tileviz.records import Artifact, Trial
from tileviz.store.artifacts import ArtifactFiles
from tileviz.store.database import Database


class StorePart:
    """A part knows its own tables; the folder, the database and the look-ups by id are the
    whole's."""

    home: Path
    database: Database
    files: ArtifactFiles

    @property
    def recorded(self) -> "StorePart | None":
        """The results that come with tileviz, where this store is read beside them."""
        raise NotImplementedError

    def sweep(self, sweep: str) -> object | None:
        """A SweepView."""
        raise NotImplementedError

    def trial(self, trial: str) -> Trial | None:
        raise NotImplementedError

    def artifact(self, key: str, *, complete: bool = False) -> Artifact | None:
        raise NotImplementedError
