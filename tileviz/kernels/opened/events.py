"""What a child tells while it works: one JSON line for each thing, written the moment it is seen,
so that a crash loses nothing."""

import json
import os
from pathlib import Path


class Events:
    """Appends to `folder/NAME.jsonl`; each process that was forked off writes to a
    file of its own."""

    def __init__(self, folder: Path, name: str) -> None:
        self.folder = folder
        self.name = name

    def tell(self, event: str, **values) -> None:
        line = json.dumps({"event": event, "part": self.name, **values}, default=str) + "\n"
        descriptor = os.open(
            self.folder / f"{self.name}.{os.getpid()}.jsonl",
            os.O_WRONLY | os.O_CREAT | os.O_APPEND,
            0o600,
        )
        try:
            os.write(descriptor, line.encode("utf-8", "replace"))
        finally:
            os.close(descriptor)


def read(folder: Path) -> list[dict]:
    """All events of a folder, in the order of the files' birth and of their lines; a line cut by a
    kill is left out."""
    files = sorted(folder.glob("*.jsonl"), key=lambda file: (file.stat().st_mtime_ns, file.name))
    return [event for file in files for line in file.read_bytes().split(b"\n") if (event := _event(line))]


def _event(line: bytes) -> dict | None:
    try:
        event = json.loads(line)
    except ValueError:
        return None
    return event if isinstance(event, dict) and "event" in event else None
