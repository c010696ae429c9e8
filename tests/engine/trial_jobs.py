"""Jobs that misbehave, for tests; in a module of their own so that a child can import them."""

import os
import subprocess
import sys
import time
from dataclasses import dataclass


class LoadedModules:
    """A job that tells which modules its process has."""

    def __call__(self, report):
        return sorted(name for name in sys.modules if name in ("torch", "tilelang"))


class Raises:
    """A job that fails."""

    def __call__(self, report):
        raise ValueError("no good")


class Spawns:
    """A job that starts a process of its own and waits."""

    def __call__(self, report):
        process = subprocess.Popen(["sleep", "60"])
        report("phase", process.pid)
        process.wait()
        return os.getpid()


@dataclass(frozen=True)
class Sleep:
    """A job that takes its time."""

    seconds: float

    def __call__(self, report) -> str:
        report("phase", "sleep")
        time.sleep(self.seconds)
        return "slept"


@dataclass(frozen=True)
class Crash:
    """A job that dies of a signal, as a segmentation fault would."""

    signal: int = 11

    def __call__(self, report) -> None:
        report("phase", "crash")
        os.kill(os.getpid(), self.signal)
        time.sleep(5)
