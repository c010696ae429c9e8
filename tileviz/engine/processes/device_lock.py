"""One measurement at a time on a GPU, whatever the home or the user: the child that measures holds
the device's file lock."""

import fcntl
import functools
import os
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

from tileviz.bench import facts
from tileviz.compiler import scratch
from tileviz.engine.processes.reports import Report

WAITING = "another tileviz measures on this device"
"""The phase while the lock is waited for."""


@contextmanager
def device_lock(device: str, report: Report) -> Generator[None]:
    """Holds the lock of `cuda:N`; freed by the kernel when the child dies. The CPU has none: its
    runs make no claim of speed."""
    if device == "cpu":
        yield
        return
    lock = _open(lock_path(device))
    try:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            report("phase", WAITING)
            fcntl.flock(lock, fcntl.LOCK_EX)
            report("started", None)
        yield
    finally:
        os.close(lock)


def _open(path: Path) -> int:
    """The file, made where it is not there: Linux refuses O_CREAT on a file of another user in
    /tmp."""
    try:
        return os.open(path, os.O_RDONLY | os.O_NOFOLLOW)
    except FileNotFoundError:
        return os.open(path, os.O_RDONLY | os.O_CREAT | os.O_NOFOLLOW, 0o666)


@functools.cache
def lock_path(device: str) -> Path:
    """Named for the card itself, since `cuda:0` may be another card for another user."""
    known = {d.id: d.facts.get("uuid") for d in facts.local_devices()}
    return scratch.outside() / f"tileviz-{known.get(device) or device.replace(':', '-')}.lock"
