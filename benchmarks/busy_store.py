"""Twenty sessions that sweep and run at once in one process with two busy threads: `python -m
benchmarks.busy_store [--json FILE]`.

As in the server of the pages, every session is a thread. Each presses Start of a sweep of 4,320
configs (one of them is then compiled and timed) and runs a kernel, in a store and with an engine of
its own; a process beside them looks at SQLite's write lock all the time. Prints what was refused,
what failed, how long a press took and how long the lock was held, and exits 1 when a press was
refused, a run or a sweep failed, or the lock was held for 0.1 s. Needs no GPU.
"""

import argparse
import fcntl
import json
import os
import shutil
import statistics
import struct
import subprocess
import sys
import tempfile
import threading
import time
from collections import deque
from collections.abc import Callable, Generator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from pathlib import Path

from benchmarks.page_latency import stop_engine
from tileviz.engine import client, requests
from tileviz.engine.options import Measuring, Where
from tileviz.engine.sweeps import client as sweeps
from tileviz.engine.sweeps.request import Given, Searching, resolve_sweep
from tileviz.errors import TilevizError
from tileviz.formats import duration_us
from tileviz.kernels import kernel
from tileviz.store import Store, Watch

SESSIONS, BUSY_THREADS = 20, 2
ON_CPU = Where(target="cpu")
ALONE = Measuring(baselines=False)
MOST_LOCK_S = 0.1

SPACE = {
    "block_M": [32, 64, 128], "block_N": [32, 64, 128], "block_K": [16, 32], "num_stages": [1, 2, 3,
    4, 5], "threads": [128, 256, 384],
    "enable_swizzle": [True, False], "panel_size": [4, 6, 8, 10, 12, 14, 16, 18],
}  # fmt: skip
CONFIGS = 4320

FIXED = {knob.name: knob.default for knob in kernel("gemm").knobs if knob.name not in SPACE}

WAIT_S = 900.0
BETWEEN_LOOKS_S = 0.0005

WRITE_LOCK = 120
"""The byte of the file store.db-shm that is locked by whoever writes: UNIX_SHM_BASE of SQLite's
os_unix.c, WAL_WRITE_LOCK of wal.c."""

FLOCK = "hhqqi4x"
"""struct flock of 64-bit Linux: l_type, l_whence, l_start, l_len, l_pid."""


@dataclass
class Session:
    """What came of one."""

    presses_s: list[float] = field(default_factory=list)
    refused: list[str] = field(default_factory=list)
    failed: list[str] = field(default_factory=list)


@dataclass(frozen=True)
class Figures:
    sessions: int
    configs: int
    """Of each sweep."""
    refused: list[str]
    failed: list[str]
    press_median_s: float
    press_longest_s: float
    lock_longest_s: float
    """That the write lock was seen held by one process, with no look in between that found it
    free."""
    by: str
    """Whose lock that was: `a session` or `the engine`."""
    looks: int
    counted_s: float
    """`Database.longest_lock_s` of the sessions' process: with the wait for the interpreter."""
    seconds: float

    @property
    def ok(self) -> bool:
        return not self.refused and not self.failed and self.lock_longest_s < MOST_LOCK_S


def main() -> int:
    words = argparse.ArgumentParser(description=__doc__.partition("\n\n")[0])
    words.add_argument("--sessions", type=int, default=SESSIONS, help=f"default: {SESSIONS}")
    words.add_argument(
        "--busy",
        type=int,
        default=BUSY_THREADS,
        help=f"threads that only count (default: {BUSY_THREADS})",
    )
    words.add_argument("--json", type=Path, help="also write the figures to this file")
    words.add_argument("--look-at", type=Path, help=argparse.SUPPRESS)
    asked = words.parse_args()
    if asked.look_at:
        print(json.dumps(looked(asked.look_at, sys.stdin.fileno())))
        return 0
    home = Path(tempfile.mkdtemp(prefix="tileviz-busy-"))
    os.environ.update(TILEVIZ_HOME=str(home), TILEVIZ_ENGINE_IDLE="5")
    try:
        found = measured(home, asked.sessions, asked.busy)
    finally:
        stop_engine(home)
        shutil.rmtree(home, ignore_errors=True)
    print(table(found))
    if asked.json:
        asked.json.write_text(json.dumps({**asdict(found), "ok": found.ok}, indent=2) + "\n")
    return 0 if found.ok else 1


def measured(home: Path, sessions: int, busy: int) -> Figures:
    store, began = Store(home), time.monotonic()
    found = [Session() for _ in range(sessions)]
    watch = Watch(store)
    watch.changed()  # keeps a connection, and so the file whose lock is looked at
    with lock_watched(store.database.path) as seen, busy_threads(busy):
        threads = [
            threading.Thread(target=session, args=(store, number, own))
            for number, own in enumerate(found)
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    presses = [seconds for own in found for seconds in own.presses_s] or [float("nan")]
    return Figures(
        sessions=sessions,
        configs=CONFIGS,
        refused=[words for own in found for words in own.refused],
        failed=[words for own in found for words in own.failed],
        press_median_s=statistics.median(presses),
        press_longest_s=max(presses),
        lock_longest_s=seen["longest_s"],
        by="a session" if seen["by"] == os.getpid() else "the engine",
        looks=seen["looks"],
        counted_s=store.database.longest_lock_s,
        seconds=time.monotonic() - began,
    )


def session(store: Store, number: int, own: Session) -> None:
    """One person: Start of a sweep, Run, and both watched to their ends."""
    sweep = pressed(own, lambda: started(store, number))
    job = pressed(
        own,
        lambda: client.submit(
            store,
            requests.resolve("vector_add", {"N": 1000 + number}, where=ON_CPU, measuring=ALONE),
        ),
    )
    if job is not None:
        ended = client.wait(store, job, timeout=WAIT_S)
        trial = store.trial(ended.trial) if ended.trial else None
        if trial is None or trial.status != "ok":
            own.failed.append(
                f"run {number}: {ended.state} {ended.reason} {trial.reason if trial else ''}"
            )
    if sweep is not None:
        view = sweeps.wait(store, sweep, timeout=WAIT_S)
        if view.state != "done" or view.requested != CONFIGS or not view.bests:
            own.failed.append(f"sweep {number}: {view.state} {view.reason}, {view.counts}")


def started(store: Store, number: int) -> str:
    sizes = {"M": 64 + number, "N": 64, "K": 64}
    request, space = resolve_sweep(
        "gemm",
        sizes,
        SPACE,
        given=Given(fixed=FIXED),
        searching=Searching(trials=1, finalists=1),
        where=ON_CPU,
        measuring=ALONE,
    )
    return sweeps.submit(store, request, space)


def pressed(own: Session, press: Callable[[], str]) -> str | None:
    began = time.monotonic()
    try:
        return press()
    except TilevizError as error:
        own.refused.append(error.message)
        return None
    finally:
        own.presses_s.append(time.monotonic() - began)


@contextmanager
def busy_threads(count: int) -> Generator[None]:
    """Threads that hold the interpreter whenever they get it, as other people's charts do."""
    over = threading.Event()

    def spin() -> None:
        while not over.is_set():
            deque(range(1000), maxlen=0)

    threads = [threading.Thread(target=spin) for _ in range(count)]
    for thread in threads:
        thread.start()
    try:
        yield
    finally:
        over.set()
        for thread in threads:
            thread.join()


@contextmanager
def lock_watched(path: Path) -> Generator[dict]:
    """Another process looks at the write lock until the end; what it saw is in the dict then."""
    words = [sys.executable, "-m", "benchmarks.busy_store", "--look-at", str(path)]
    process = subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    seen: dict = {}
    try:
        yield seen
    finally:
        seen |= json.loads(process.communicate()[0] or "{}")


def looked(path: Path, until: int) -> dict:
    """Looks who holds the write lock, some thousand times a second, until the other end of the pipe
    `until` is closed."""
    os.set_blocking(until, False)
    longest = since = 0.0
    holder = looks = by = 0
    with open(f"{path}-shm", "rb") as file:
        while not _is_closed(until):
            for _ in range(100):
                now, who = time.monotonic(), held_by(file.fileno())
                since = since if who and who == holder else now
                longest, by = max((longest, by), (now - since, who))
                holder, looks = who, looks + 1
                time.sleep(BETWEEN_LOOKS_S)
    return {"longest_s": longest, "by": by, "looks": looks}


def held_by(descriptor: int) -> int:
    """Process id of whoever writes; 0 when nobody does."""
    asked = struct.pack(FLOCK, fcntl.F_WRLCK, os.SEEK_SET, WRITE_LOCK, 1, 0)
    kind, _, _, _, pid = struct.unpack(FLOCK, fcntl.fcntl(descriptor, fcntl.F_GETLK, asked))
    return 0 if kind == fcntl.F_UNLCK else pid


def _is_closed(descriptor: int) -> bool:
    try:
        return os.read(descriptor, 1) == b""
    except BlockingIOError:
        return False


def table(found: Figures) -> str:
    rows = [
        (
            f"{found.sessions} sessions, a sweep of {found.configs:,} configs and a run each",
            f"{found.seconds:.0f} s",
        ),
        ("presses refused", f"{len(found.refused)}"),
        ("runs and sweeps that failed", f"{len(found.failed)}"),
        (
            "a press: median, longest",
            f"{found.press_median_s:.2f} s, {found.press_longest_s:.2f} s",
        ),
        (
            f"longest write lock, in {found.looks:,} looks; at most {MOST_LOCK_S:g} s",
            f"{duration_us(1e6 * found.lock_longest_s)}, of {found.by}",
        ),
        (
            "longest write of the sessions, with its wait for the interpreter",
            duration_us(1e6 * found.counted_s),
        ),
    ]
    lines = [f"{what:<68} {figure}" for what, figure in rows]
    return "\n".join([*lines, *found.refused, *found.failed, "ok" if found.ok else "not ok"])


if __name__ == "__main__":
    sys.exit(main())
