"""Reads a file that someone names; what is no file, a pipe say, is read as long as something
comes."""

import os
import select
import stat
from pathlib import Path

from tileviz.errors import BadRequest

SILENCE_S = 10.0
"""Most seconds between two parts of a pipe."""

PART = 1 << 20


def content_of(path: Path, most: int) -> bytes:
    """The first `most` bytes of a file, or of a pipe, which ends when nobody writes to it any more.
    Raises BadRequest for one that cannot be read, and for a pipe that nothing comes from."""
    try:
        # else a pipe that nobody writes to keeps us here
        descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
        try:
            waits = not stat.S_ISREG(os.fstat(descriptor).st_mode)
            return _read(descriptor, most, path if waits else None)
        finally:
            os.close(descriptor)
    except (OSError, ValueError) as error:
        raise BadRequest(
            f"cannot read {path}: {getattr(error, 'strerror', None) or error}"
        ) from error


def _read(descriptor: int, most: int, waits_for: Path | None) -> bytes:
    parts, size = [], 0
    while size < most:
        if waits_for is not None:
            _wait(descriptor, waits_for)
        part = os.read(descriptor, min(PART, most - size))
        if not part:
            break
        parts.append(part)
        size += len(part)
    return b"".join(parts)


def _wait(descriptor: int, path: Path) -> None:
    there = select.poll()
    there.register(descriptor, select.POLLIN)
    if not there.poll(SILENCE_S * 1000):
        raise BadRequest(
            f"cannot read {path}: it is no file, and nothing came from it for {SILENCE_S:g} s"
        )
