"""Hands requests to the engine and watches them. Pages and commands use this; it starts the engine
when it is missing."""

import contextlib
import fcntl
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

from tileviz import settings
from tileviz.compiler.tools import from_here
from tileviz.engine.jobs.compiled import blank_trial
from tileviz.engine.processes import starts, tag
from tileviz.engine.processes.heartbeat import LOCK, silent_s
from tileviz.engine.processes.lanes import exit_words, package_root, process_environment
from tileviz.engine.requests import Request
from tileviz.errors import EngineError, StoreError
from tileviz.records import JobView, Trial
from tileviz.store import Store
from tileviz.store.home import full_words, is_full

START_S = 20.0
"""An engine that is alive gets so long to take its lock before another is tried."""

MAKES_WAY_S = 2.0
"""An engine of another environment gets so long to end what it is at before a command is
refused."""

ENVIRONMENT = "environment"
"""Name in a job's request of what else decides its result: `tag.environment` where it was
queued."""


def submit(store: Store, request: Request) -> str:
    """Queues a request and gives the job's id. A request that breaks a rule is decided at once: its
    trial is `pruned`."""
    decided = decided_trial(request)
    if decided is not None:
        return store.submit(request.kind, asdict(request), trial=decided)
    return queue(store, request.kind, asdict(request))


def queue(store: Store, kind: str, request: dict[str, Any]) -> str:
    """Queues a job of any kind for an engine of this environment, and gives its id.

    Raises BadValue for a setting that no engine could read, and EngineError where no engine can
    serve this environment now.
    """
    renew_engine(store)
    job = store.submit(kind, here(request))
    start_for(store)
    return job


def here(request: dict[str, Any]) -> dict[str, Any]:
    """A job's request with what else decides its result."""
    return {**request, ENVIRONMENT: tag.environment()}


def start_for(store: Store) -> None:
    """Sees that an engine comes for a job that was just queued."""
    starts.may_start_once(store.home)
    ensure_engine(store.home)


def decided_trial(request: Request) -> Trial | None:
    """The trial of a request that needs no compiling: `unsupported` or `pruned`; else None."""
    if not request.unsupported and not request.broken:
        return None
    status = "unsupported" if request.unsupported else "pruned"
    return replace(
        blank_trial(request), status=status, reason=request.unsupported or "; ".join(request.broken)
    )


def watch(store: Store, job: str) -> JobView | None:
    """The job as it is now. Starts an engine when the job waits and none is alive. Raises
    StoreError when the disk is full, and EngineError when no engine stays alive, which ends the
    job, or the one that does is silent."""
    view = store.job(job)
    if view is not None and view.active:
        if is_full(store.home):
            raise StoreError(full_words(store.home))
        try:
            ensure_engine(store.home)
        except EngineError:
            if engine_pid(store.home) is None:
                _give_up(store, view)
            raise
    return view


def _give_up(store: Store, view: JobView) -> None:
    """Ends a job that no engine comes for, so that it can be asked for again."""
    said = starts.cause(store.home)
    if view.kind == "sweep":
        store.finish_sweep(view.request["sweep"], "failed", said)
    store.finish(view.id, "failed", said)


def wait(
    store: Store,
    job: str,
    *,
    on_phase: Callable[[JobView], None] | None = None,
    each: Callable[[], None] | None = None,
    timeout: float | None = None,
) -> JobView:
    """Waits for the job to end, calling `on_phase` at each new phase, and `each` at every look.

    Raises StoreError, EngineError, and TimeoutError after `timeout` seconds.
    """
    end = None if timeout is None else time.monotonic() + timeout
    phase = None
    while True:
        view = watch(store, job)
        if view is None:
            raise StoreError(f"job {job} is not in the store")
        if on_phase is not None and (view.state, view.phase) != phase:
            phase = (view.state, view.phase)
            on_phase(view)
        if each is not None:
            each()
        if not view.active:
            return view
        if end is not None and time.monotonic() > end:
            raise TimeoutError(f"job {job} is still {view.state} after {timeout:g} s")
        time.sleep(0.02)


def cancel(store: Store, job: str) -> None:
    """Asks for a stop. The engine kills the child and all it started."""
    store.cancel(job)
    view = store.job(job)
    if view is not None and view.active:
        ensure_engine(store.home)


def engine_pid(home: Path) -> int | None:
    """The process id of the live engine of this home; 0 while it is just starting; None when none
    is alive."""
    path = home / LOCK
    if not path.is_file():
        return None
    with open(path) as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_SH | fcntl.LOCK_NB)
        except BlockingIOError:
            words = lock.read().split()
            return int(words[0]) if words and words[0].isdigit() else 0
    return None


def renew_engine(store: Store, seconds: float = 5.0) -> None:
    """Ends an idle engine that was started with other files or in another environment than are here
    now, so that the next one knows them: a kernel that was added, a compiler that was installed or
    asked for. One at work goes on with the files it knows.

    Raises EngineError when it is at work in another environment: what it makes is not what is asked
    for here. BadValue as `queue` does.
    """
    settings.check()
    pid = engine_pid(store.home)
    if not pid:
        return
    if said := silence(store.home, pid):
        raise EngineError(said)
    theirs, ours = tag.read_tag(store.home), tag.engine_tag()
    if theirs is None or theirs == ours:
        return
    here, there = tag.without_package(ours), tag.without_package(theirs)
    if _stays_busy(store, 0.0 if here == there else MAKES_WAY_S):
        refuse_other_environment(store.home, here, there)
        return
    with contextlib.suppress(ProcessLookupError):
        os.kill(pid, signal.SIGTERM)
    end = time.monotonic() + seconds
    while engine_pid(store.home) == pid and time.monotonic() < end:
        time.sleep(0.02)


def _stays_busy(store: Store, seconds: float) -> bool:
    """Whether there is still a job after so many seconds: one may be about to end."""
    end = time.monotonic() + seconds
    while busy := bool(store.jobs(active=True, limit=1)):
        if time.monotonic() >= end:
            break
        time.sleep(0.05)
    return busy


def refuse_other_environment(home: Path, ours: dict[str, str], theirs: dict[str, str]) -> None:
    """Raises EngineError where an engine of environment `theirs` does not serve `ours`; one of an
    older version does not tell."""
    other = tag.differences(ours, theirs) if theirs else ""
    if other:
        raise EngineError(
            f"the engine of {home} is at work in another environment ({other}): wait"
            " until its jobs are done, or set TILEVIZ_HOME to"
            " another folder"
        )


def ensure_engine(home: Path) -> None:
    """Starts the engine of this home unless it lives. Cheap; a second engine that starts by chance
    ends at once.

    Raises BadValue for a setting that no engine could read, and EngineError when one after another
    died, or the one that lives is silent.
    """
    settings.check()
    alive = engine_pid(home)
    if alive is not None:
        if said := silence(home, alive):
            raise EngineError(said)
        return
    if _is_starting(home):
        return
    if said := starts.trouble(home):
        raise EngineError(said)
    _started[home] = (time.monotonic(), _start(home))


def trouble(home: Path) -> str:
    """Why no job goes on here, in one sentence; "" where all is well."""
    pid = engine_pid(home)
    return starts.trouble(home) if pid is None else silence(home, pid)


def silence(home: Path, pid: int) -> str:
    """A sentence about a live engine that gives no sign of life, or ""."""
    seconds = silent_s(home)
    if not seconds:
        return ""
    return (
        f"the engine (process {pid}) has been silent for {seconds:.0f} s, so it is"
        f" stopped or hangs: `kill -CONT {pid}` lets a stopped one"
        f" go on, and after `kill -9 {pid}` another takes up its jobs"
    )


def _start(home: Path) -> subprocess.Popen:
    log_path = home / "engine.log"
    if log_path.exists() and log_path.stat().st_size > 4 << 20:
        log_path.replace(home / "engine.log.old")
    with open(log_path, "ab") as log:
        return subprocess.Popen(
            [sys.executable, "-m", "tileviz.engine"],
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            start_new_session=True,
            cwd=package_root(),
            env=process_environment(TILEVIZ_HOME=str(home), PYTHONUTF8="1", **_absolute()),
        )


def _absolute() -> dict[str, str]:
    """What names a place as seen from the folder of this process: an engine has another one."""
    recorded = settings.recorded()
    named = (
        {settings.RECORDED: os.path.abspath(recorded)}
        if recorded and recorded != settings.NO_RECORDED
        else {}
    )
    return {**from_here(), **named}


_started: dict[Path, tuple[float, subprocess.Popen]] = {}
"""When this process started an engine last, and its process."""


def _is_starting(home: Path) -> bool:
    """True while the engine that this process started last has a moment to take its lock. What one
    that has died said is kept."""
    if home not in _started:
        return False
    since, process = _started[home]
    status = process.poll()
    if status is None:
        return time.monotonic() - since < START_S
    del _started[home]
    if status != 0:
        starts.died(home, process.pid, exit_words(status))
    return False
