"""Jobs that misbehave, for tests; in a module of their own so that a child can import them."""

import os
import subprocess
import sys


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
