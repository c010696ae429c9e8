"""A process that holds one program: forked off when the program is seen, at work when the script is
over, whatever became of it."""

import fcntl
import os
import signal
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from tileviz.kernels.opened import gpu
from tileviz.kernels.opened.events import Events
from tileviz.kernels.opened.parting import parted
from tileviz.kernels.opened.recorder import Call

FOLDER = "held"
"""Beside what is told: a file named by its process for each that holds a program."""

MOST = 16
"""Programs that are held at once; each shares its memory with the script it was forked from."""

WAITS_S = 0.1


@dataclass(frozen=True)
class Limits:
    """Whole seconds that a holder may take."""

    part_s: int = 60
    """To part the arguments of one factory."""
    compile_s: int = 120
    """To compile one kernel for one target."""


def holder(events: Events, limits: Limits, compiled: Callable | None) -> Callable:
    """The `hold` of a Recorder. `compiled(program, pass_configs, flags)` gives a dict for each
    target, as an iterator."""
    folder = events.folder / FOLDER
    folder.mkdir(exist_ok=True)
    count = [0]

    def hold(entry: dict, program, call: Call | None, pass_configs) -> None:
        if count[0] >= MOST:
            return
        count[0] += 1
        script = os.getpid()
        sys.stdout.flush()
        pid = os.fork()
        if pid:
            (folder / str(pid)).touch()
            return
        try:
            signal.setitimer(signal.ITIMER_REAL, 0)
            signal.signal(signal.SIGALRM, signal.SIG_DFL)
            while os.getppid() == script:
                time.sleep(WAITS_S)
            with (events.folder / "turn").open("w") as turn:
                fcntl.flock(turn, fcntl.LOCK_EX)
                _work(entry, program, call, pass_configs, events, limits, compiled)
        finally:
            (folder / str(os.getpid())).unlink(missing_ok=True)
            os._exit(0)

    return hold


def at_work(told: Path) -> list[int]:
    """Processes that still hold a program. Their ends must have been waited for."""
    return [int(file.name) for file in (told / FOLDER).iterdir() if _is_alive(int(file.name))]


def _work(entry: dict, program, call: Call | None, pass_configs, events: Events, limits: Limits, compiled) -> None:
    try:
        if call is not None:
            signal.alarm(limits.part_s)
            with gpu.target():
                events.tell("parted", id=entry["id"], kinds=parted(program, call))
        signal.alarm(limits.compile_s)
        for code in compiled(program, dict(pass_configs or {}), entry["compile_flags"]) if compiled else ():
            signal.alarm(limits.compile_s)
            events.tell("code", id=entry["id"], code=code)
        signal.alarm(0)
    except Exception as error:
        events.tell(
            "trouble",
            said=f"{entry['title']} could not be looked at in full: {type(error).__name__}: {error}",
        )


def _is_alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True
