"""Where jobs run: children, the fork server that makes them, and the exclusive measure lane of a
device."""

import contextlib
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

from tileviz.compiler import scratch
from tileviz.engine.processes.channel import (
    Connection,
    Pipe,
    kill_group,
    send_connection,
    socket_pair,
)

LACK_OF_MEMORY = "lack of memory"
HANGS_S = 30.0
"""A warm fork server forks within milliseconds; one that has not after this long is stopped or
stuck."""


STOPPED_S = 15.0
"""One that is stopped while a child is waited for is given up after so long, as a silent engine is
told."""


class Child:
    """One child process, or one that is about to be born."""

    def __init__(
        self,
        connection: Connection,
        pid: int | None = None,
        process: subprocess.Popen | None = None,
    ) -> None:
        self.connection = connection
        self.pid = pid
        self.process = process
        self.asked = time.monotonic()
        self.exit_status: int | None = None
        self.killed = False
        self.why_unborn = ""
        """Why it was never born, in a sentence, where that is known."""

    def send(self, job) -> None:
        """Hands over a job. A child that is already dead is noticed by the end of its pipe, which
        is heard, not here."""
        with contextlib.suppress(OSError):
            self.connection.send(job)

    @property
    def gone(self) -> bool:
        """Killed or dead. Asked of a child without a job alone: its pipe has nothing to say then
        but that it ended."""
        return self.killed or self.connection.poll()

    def kill(self) -> None:
        """Kills the child with all it started. Closing the pipe does it too, if the child still
        listens."""
        self.killed = True
        self.connection.close()
        if self.pid is not None:
            kill_group(self.pid)
        if self.process is not None:
            self.process.wait()
            scratch.forget(self.process.pid)

    def born(self, pid: int) -> None:
        self.pid = pid
        if self.killed:
            kill_group(pid)

    def death(self) -> str:
        """How it ended, in words: `segmentation fault`, `killed`, `exit status 3`."""
        status = self.exit_status
        if self.process is not None:
            try:
                status = self.process.wait(timeout=2)
            except subprocess.TimeoutExpired:
                status = None
        return exit_words(status)


class ForkServer:
    """The fork server's side in the engine. `child()` gives a child at once; its pid follows when
    it is born."""

    def __init__(self, control: Connection, process: subprocess.Popen) -> None:
        self.control = control
        self.process = process
        self.ready_since: float | None = None
        self.stopped_since: float | None = None
        self.unborn: list[Child] = []
        self.children: dict[int, Child] = {}

    @property
    def ready(self) -> bool:
        """Whether it is warm."""
        return self.ready_since is not None

    @classmethod
    def start(cls) -> "ForkServer":
        ours, theirs = socket_pair()
        # a fork must find one thread
        process = _spawn("tileviz.engine.processes.fork_server", theirs, OPENBLAS_NUM_THREADS="1")
        return cls(ours, process)

    def child(self) -> Child:
        ours, theirs = Pipe()
        child = Child(ours)
        self.unborn.append(child)
        try:
            self.control.send(("child",))
            send_connection(self.control, theirs, self.process.pid)
        except OSError:
            theirs.close()  # the fork server is dead: so is this child, and its closed pipe says so
        return child

    def hangs(self) -> str:
        """Why it will give no child, in a sentence, or "": it has been stopped, warm or not, or it
        is warm and gives none for long. Called again and again, since it counts for how long."""
        now = time.monotonic()
        if not self.unborn or not is_stopped(self.process.pid):
            self.stopped_since = None
        elif self.stopped_since is None:
            self.stopped_since = now
        elif now - self.stopped_since > STOPPED_S:
            pid, seconds = self.process.pid, now - self.stopped_since
            return (
                f"the process that starts all others (process {pid}) was stopped for"
                f" {seconds:.0f} s, so another takes its place"
            )
        if self.ready_since is None or not self.unborn:
            return ""
        seconds = now - max(self.ready_since, self.unborn[0].asked)
        return (
            f"the process that starts all others gave none for {seconds:.0f} s, so"
            " another takes its place"
            if seconds > HANGS_S
            else ""
        )

    def listen(self) -> None:
        """Reads one message of the control pipe. Raises EOFError when the fork server is dead."""
        kind, *rest = self.control.recv()
        if kind == "ready":
            self.ready_since = time.monotonic()
        elif kind == "born":
            child = self.unborn.pop(0)
            self.children[rest[0]] = child
            child.born(rest[0])
        elif kind == "exited":
            scratch.forget(rest[0])
            if rest[0] in self.children:
                self.children.pop(rest[0]).exit_status = rest[1]

    def learn_exit(self, child: Child, seconds: float = 0.5) -> None:
        """Waits a little for the exit status of a child whose pipe has ended."""
        end = time.monotonic() + seconds
        while child.exit_status is None and time.monotonic() < end:
            if self.control.poll(0.05):
                self.listen()

    def kill(self, why: str = "") -> None:
        """Ends it; the children that wait to be born are told why by the end of their pipe."""
        for child in self.unborn:
            child.why_unborn = why
        self.control.close()
        kill_group(self.process.pid)
        self.process.wait()


class MeasureLane:
    """One device, one child, one job at a time. On a GPU the child is spawned, never forked, since
    it holds the CUDA context."""

    def __init__(self, device: str, fork_server: ForkServer) -> None:
        self.device = device
        self.fork_server = fork_server
        self.current: Child | None = None
        self.busy = False

    def child(self) -> Child:
        """The lane's child for the next job; a new one when there is none, or when the last one
        died meanwhile."""
        if self.current is not None and self.current.gone:
            self.current.kill()
            self.current = None
        if self.current is None:
            self.current = self.fork_server.child() if self.device == "cpu" else spawn_child()
        return self.current

    def drop(self) -> None:
        """Kills the child; the next job gets a new one."""
        if self.current is not None:
            self.current.kill()
        self.current = None
        self.busy = False


def spawn_child() -> Child:
    """A child in a fresh interpreter, with no inherited CUDA state."""
    ours, theirs = Pipe()
    process = _spawn("tileviz.engine.processes.child", theirs)
    return Child(ours, process.pid, process)


def package_root() -> Path:
    return Path(__file__).resolve().parents[3]


def python_path() -> str:
    """PYTHONPATH for a process of ours: this package first, then what the caller had."""
    given = os.environ.get("PYTHONPATH", "").split(os.pathsep)
    return os.pathsep.join(
        [str(package_root()), *(os.path.abspath(path) for path in given if path)]
    )


NOT_FOR_LIBRARIES = ("PYTHONOPTIMIZE", "PYTHONINSPECT", "PYTHONWARNINGS")
"""Settings of Python that no process of ours gets: libraries that we need cannot be imported
without docstrings, or where a warning is an error."""


def process_environment(**more: str) -> dict[str, str]:
    """The environment of a process of ours."""
    kept = {name: value for name, value in os.environ.items() if name not in NOT_FOR_LIBRARIES}
    return {**kept, "PYTHONPATH": python_path(), **more}


def _spawn(module: str, theirs: Connection, **environment: str) -> subprocess.Popen:
    process = subprocess.Popen(
        [sys.executable, "-m", module, str(theirs.fileno())],
        pass_fds=(theirs.fileno(),),
        stdin=subprocess.DEVNULL,
        cwd=package_root(),
        env=process_environment(**environment),
        start_new_session=True,
    )
    theirs.close()
    return process


def is_stopped(pid: int) -> bool:
    """Whether a process is stopped by a signal; False where the system does not say."""
    try:
        # 4711 (python) T 1 4711 ...
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] in ("T", "t")
    except (OSError, IndexError):
        return False


def exit_words(status: int | None) -> str:
    """An exit status in words: -11 is `segmentation fault`."""
    if status is None:
        return "it ended without a word"
    if status == -signal.SIGSEGV:
        return "segmentation fault"
    if status == -signal.SIGKILL:
        return f"it was killed, perhaps by the system for {LACK_OF_MEMORY}"
    if status < 0:
        return f"signal {signal.Signals(-status).name}"
    return f"exit status {status}"
