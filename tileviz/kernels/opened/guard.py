"""Keeps a script from writing outside its scratch folder, and tells of sockets and processes that
it starts.

It sees what Python itself opens. It is a guard against accidents, not a prison: the process runs
with the user's rights.
"""

import os
import sys
from collections.abc import Callable
from pathlib import Path

WRITES = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND

CHANGES = (
    "os.mkdir",
    "os.rename",
    "os.remove",
    "os.rmdir",
    "os.truncate",
    "os.link",
    "os.symlink",
    "os.chmod",
    "os.chown",
    "os.utime",
)
"""Events whose arguments name files that are made, changed or removed."""

STARTS = {
    "socket.connect": "it opened a connection to another program",
    "socket.bind": "it opened a socket to listen on",
    "os.fork": "it started another process",
    "subprocess.Popen": "it started another program",
    "os.posix_spawn": "it started another program",
}

ALLOWED = ("/dev/", "/proc/self/")


class Guard:
    """Watches from `install` to the end of the process."""

    def __init__(self, scratch: Path, told: Callable[[str], None]) -> None:
        self.allowed = (f"{scratch}{os.sep}", *ALLOWED)
        self.scratch = str(scratch)
        self.told = told
        self.paused = False
        self._said: set[str] = set()

    def install(self) -> None:
        sys.addaudithook(self._heard)

    def _heard(self, event: str, args: tuple) -> None:
        if self.paused:
            return
        if event == "open" and isinstance(args[2], int) and args[2] & WRITES:
            self._check(args[0])
        elif event in CHANGES:
            paths = args[:2] if event in ("os.rename", "os.link") else args[1:2] if event == "os.symlink" else args[:1]
            for path in paths:
                self._check(path)
        elif event in STARTS and _asked_by_script():
            self._say(f"{STARTS[event]}; it was stopped with the script")

    def _check(self, path) -> None:
        """Raises PermissionError for a path outside scratch."""
        if not isinstance(path, (str, bytes, os.PathLike)):
            return
        full = os.path.abspath(os.fsdecode(path))
        if full == self.scratch or full.startswith(self.allowed):
            return
        self._say(f"it wanted to write {full}, which was refused while it is opened")
        raise PermissionError(13, "a script that tileviz opens writes nothing but in its scratch folder", full)

    def _say(self, sentence: str) -> None:
        if sentence not in self._said and len(self._said) < 10:
            self._said.add(sentence)
            self.told(sentence)


def _asked_by_script() -> bool:
    """Whether the nearest caller outside Python's own library is no installed package."""
    frame = sys._getframe(2)
    libraries = (os.path.dirname(os.__file__), sys.prefix, "<")
    while frame is not None:
        file = frame.f_code.co_filename
        if "site-packages" in file or "/tileviz/" in file:
            return False
        if not file.startswith(libraries):
            return True
        frame = frame.f_back
    return False
