"""How often in a row the engine of a home died before it had lived, and its last words: kept beside
its lock, for every client."""

import contextlib
import json
import os
from dataclasses import asdict, dataclass, replace
from pathlib import Path

from tileviz.errors import TilevizError

FILE_NAME = "engine.starts"

MOST = 3
"""Deaths in a row after which no further engine is started by itself; what is asked for anew gets
one start more."""

LIVES_S = 5.0
"""An engine that worked for so long, ended a job, or measured a config of a sweep, has lived."""

KILLED = "it was killed before it could say why, perhaps by the system for lack of memory"


@dataclass(frozen=True)
class Starts:
    """Starts since an engine last lived."""

    count: int = 0
    pid: int = 0
    """Of the last one."""
    said: str = ""
    """Its last words; empty for one that is alive, or had no time for any."""


def read(home: Path) -> Starts:
    try:
        doc = json.loads((home / FILE_NAME).read_text())
        return Starts(int(doc["count"]), int(doc["pid"]), str(doc["said"]))
    except (OSError, ValueError, KeyError, TypeError):
        return Starts()


def began(home: Path) -> str:
    """Called by an engine that has its lock; gives the last words of the one before, where that
    died."""
    before = read(home)
    _write(home, Starts(before.count + 1, os.getpid()))
    return before.said


def lived(home: Path) -> None:
    """Called by an engine that works, or ends as it should."""
    with contextlib.suppress(OSError):
        (home / FILE_NAME).unlink(missing_ok=True)


def died(home: Path, pid: int, said: str) -> None:
    """Called by an engine on its way out, and by the client that saw its exit. The first to speak
    knows best."""
    before = read(home)
    if before.pid != pid:
        _write(home, Starts(before.count + 1, pid, said))
    elif not before.said:
        _write(home, replace(before, said=said))


def may_start_once(home: Path) -> None:
    """Called for what is asked for anew: perhaps the cause is mended."""
    before = read(home)
    if before.count >= MOST:
        _write(home, replace(before, count=MOST - 1))


def trouble(home: Path) -> str:
    """What kills the engine and what to do, in one sentence, where it died MOST times in a row;
    else ""."""
    if read(home).count < MOST:
        return ""
    return (
        f"{cause(home)}; {home / 'engine.log'} says more, `python -m tileviz doctor` what"
        " is missing, and it is tried again with the next"
        " run or sweep"
    )


def cause(home: Path) -> str:
    """What killed the last one."""
    return f"the engine does not stay alive: {read(home).said or KILLED}"


def last_words(error: BaseException) -> str:
    """An exception as a part of a sentence."""
    first = next((line.strip() for line in str(error).splitlines() if line.strip()), "")
    if isinstance(error, TilevizError):
        return first
    return f"{type(error).__name__}: {first}" if first else type(error).__name__


def _write(home: Path, starts: Starts) -> None:
    part = home / f"{FILE_NAME}.{os.getpid()}"
    with contextlib.suppress(OSError):  # a home that cannot be written to is told by what needs it
        part.write_text(json.dumps(asdict(starts)))
        part.replace(home / FILE_NAME)
