"""The heartbeat of an engine: its loop renews the time of its lock file, so that one that is
stopped is told from one that is busy."""

import contextlib
import os
import time
from pathlib import Path

LOCK = "engine.lock"

BEAT_S = 1.0
"""An engine's loop takes a tenth of a second at most, unless the store lets it wait."""

SILENT_S = 15.0
"""Without a heartbeat for so long an engine is silent. A store that is locked makes it wait for 10
s."""

LOOK_AGAIN_S = 0.5
"""After a machine has slept, every heartbeat is old for a moment."""


def beat(home: Path) -> None:
    with contextlib.suppress(OSError):  # the home was deleted under a live engine
        os.utime(home / LOCK)


def silent_s(home: Path) -> float:
    """Seconds since the last heartbeat of the engine of this home, or 0.0 where it is not
    silent."""
    if _age(home) < SILENT_S:
        return 0.0
    time.sleep(LOOK_AGAIN_S)
    age = _age(home)
    return age if age >= SILENT_S else 0.0


def _age(home: Path) -> float:
    try:
        return time.time() - (home / LOCK).stat().st_mtime
    except OSError:
        return 0.0
