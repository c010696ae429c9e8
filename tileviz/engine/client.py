"""Hands requests to the engine and watches them. Pages and commands use this; it starts the engine when it is missing."""

import contextlib
import fcntl
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path

from tileviz.compiler.tools import from_here
from tileviz.engine.lanes import package_root, python_path
from tileviz.engine.requests import Request
from tileviz.engine.tag import is_current
from tileviz.errors import StoreError
from tileviz.records import JobView, Trial
from tileviz.store import Store, new_id

LEAST_FREE_BYTES = 1 << 16
START_PAUSE_S = 2.0
MOST_STARTS = 8
BROKEN_S = 20.0
"""How long a start that failed is told before another is tried."""


def submit(store: Store, request: Request) -> str:
    """Queues a request and gives the job's id. A request that breaks a rule is decided at once: its trial is `pruned`."""
    decided = decided_trial(request)
    if decided is None:
        renew_engine(store)
    job = store.submit(request.kind, asdict(request), trial=decided)
    if decided is None:
        ensure_engine(store.home)
    return job


def decided_trial(request: Request) -> Trial | None:
    """The trial of a request that needs no compiling: `unsupported` or `pruned`; else None."""
    if not request.unsupported and not request.broken:
        return None
    return Trial(
        trial=new_id(),
        kernel=request.kernel,
        problem=request.problem,
        config=request.config,
        target=request.target,
        device=request.device,
        status="unsupported" if request.unsupported else "pruned",
        reason=request.unsupported or "; ".join(request.broken),
        key=request.key,
        inputs=request.inputs,
        seed=request.seed,
        created=time.time(),
    )


def watch(store: Store, job: str) -> JobView | None:
    """The job as it is now. Starts an engine when the job waits and none is alive; raises StoreError when the disk is full."""
    view = store.job(job)
    if view is not None and view.active:
        free = os.statvfs(store.home)
        if free.f_bavail * free.f_frsize < LEAST_FREE_BYTES:
            raise StoreError(f"the disk that holds {store.home} is full; free some space, then run again: what was stored before is kept")
        ensure_engine(store.home)
    return view


def wait(store: Store, job: str, *, on_phase: Callable[[JobView], None] | None = None, timeout: float | None = None) -> JobView:
    """Waits for the job to end, calling `on_phase` at each new phase. Raises StoreError, and TimeoutError after `timeout` seconds."""
    end = None if timeout is None else time.monotonic() + timeout
    phase = None
    while True:
        view = watch(store, job)
        if view is None:
            raise StoreError(f"job {job} is not in the store")
        if on_phase is not None and (view.state, view.phase) != phase:
            phase = (view.state, view.phase)
            on_phase(view)
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
    """The process id of the live engine of this home; 0 while it is just starting; None when none is alive."""
    path = home / "engine.lock"
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
    """Ends an idle engine that was started with other files or compilers than are here now, so that the next one knows them: a kernel
    that was added, a compiler that was installed. One at work goes on with what it knows."""
    pid = engine_pid(store.home)
    if not pid or is_current(store.home) or store.jobs(active=True, limit=1):
        return
    with contextlib.suppress(ProcessLookupError):
        os.kill(pid, signal.SIGTERM)
    end = time.monotonic() + seconds
    while engine_pid(store.home) == pid and time.monotonic() < end:
        time.sleep(0.02)


def ensure_engine(home: Path) -> None:
    """Starts the engine of this home unless it lives. Cheap; a second engine that starts by chance ends at once.

    Raises StoreError when the last one that this process started ended at once with an error, and when MOST_STARTS in a row never lived.
    """
    if engine_pid(home) is not None:
        _started.pop(home, None)
        return
    if not _claim_start(home):
        return
    log_path = home / "engine.log"
    if log_path.exists() and log_path.stat().st_size > 4 << 20:
        log_path.replace(home / "engine.log.old")
    with open(log_path, "ab") as log:
        process = subprocess.Popen(
            [sys.executable, "-m", "tileviz.engine"],
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            start_new_session=True,
            cwd=package_root(),
            env={
                **os.environ,
                **from_here(),
                "PYTHONUTF8": "1",
                "TILEVIZ_HOME": str(home),
                "PYTHONPATH": python_path(),
            },
        )
    before = _started.get(home)
    _started[home] = (before[0] + 1 if before else 1, time.monotonic(), process)


_started: dict[Path, tuple[int, float, subprocess.Popen]] = {}
"""Starts in a row after which no engine was seen alive, when the last one was, and its process."""


def _claim_start(home: Path) -> bool:
    """False while the engine that this process started last has a moment to take its lock; one that has ended needs none."""
    if home not in _started:
        return True
    count, last, process = _started[home]
    since = time.monotonic() - last
    if since < START_PAUSE_S and process.poll() is None:
        return False
    if (process.poll() or 0) > 0 and since < BROKEN_S:
        raise StoreError(
            f"the engine does not start: {_last_words(home)}; {home / 'engine.log'} says why,"
            " and `python -m tileviz doctor` what is missing"
        )
    if count >= MOST_STARTS:
        _started.pop(home, None)
        raise StoreError(f"the engine does not start; {home / 'engine.log'} says why, and `python -m tileviz doctor` what is missing")
    return True


def _last_words(home: Path) -> str:
    """The last line of the engine's log: the error of a start that failed."""
    with open(home / "engine.log", "rb") as log:
        log.seek(max(0, log.seek(0, os.SEEK_END) - 4000))
        lines = log.read().decode(errors="replace").split("\n")
    return next((line.strip() for line in reversed(lines) if line.strip()), "it said nothing")
