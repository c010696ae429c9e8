"""How the whole suite is spread over worker processes: a file is one worker's, and so are all browser tests together.

What runs longest is dealt first, so that the workers end together."""

import os
from collections.abc import Iterable

from xdist.scheduler import LoadScopeScheduling

LONGEST_FIRST = ("e2e", "engine", "kernels", "app", "cli", "compiler", "bench", "store")
ONE_WORKER = {"tests/e2e/": "browser"}
"""Folders whose files never run beside each other: two browsers with their servers on two cores wait for each other."""


def count(paths: list[str]) -> int:
    """Workers for the paths that were asked for. None where there are some, so that one file runs as ever, in the foreground; none
    on a machine with a GPU, which one process at a time measures on."""
    return 0 if paths or os.path.exists("/dev/nvidiactl") else min(max(os.cpu_count() or 2, 2), 4)


def scope(nodeid: str) -> str:
    """What runs in one worker, in order: the test's file, or the folder's name where a folder stays together."""
    path = nodeid.split("::")[0]
    return next((name for folder, name in ONE_WORKER.items() if path.startswith(folder)), path)


def place(nodeid: str) -> int:
    """Sorts what is dealt: folders that take long before the others; inside one, the order stays."""
    folder = nodeid.split("/")[1]
    return LONGEST_FIRST.index(folder) if folder in LONGEST_FIRST else len(LONGEST_FIRST)


def is_dealt_otherwise(words: Iterable[str]) -> bool:
    """Whether a command line names a way of dealing: `--dist worksteal` spreads one long file over all workers, as a machine with a GPU
    may want it."""
    return any(str(word) == "--dist" or str(word).startswith("--dist=") for word in words)


class ByFile(LoadScopeScheduling):
    """Deals whole scopes, in the order of collection."""

    def _split_scope(self, nodeid: str) -> str:
        return scope(nodeid)
