"""The processes that a child started, wherever they went: found by their parents and by a mark in
their environment. Linux only."""

import os
import signal
import time
from pathlib import Path

MARK = "TILEVIZ_OPENING"
"""Environment variable that every process of an opening inherits."""

KILL_ROUNDS = 50


def family(pid: int, mark: str) -> set[int]:
    """Processes that descend from `pid`, itself included, or carry the mark."""
    parents = {one: _parent(one) for one in _all()}
    found = {one for one in parents if _carries(one, mark)} | ({pid} & set(parents))
    while True:
        more = {one for one, parent in parents.items() if parent in found} - found
        if not more:
            return found - {os.getpid()}
        found |= more


def kill_below(pid: int) -> None:
    """Kills what descends from this process, and waits for nothing."""
    kill(pid, "", spared=True)


def kill(pid: int, mark: str, spared: bool = False) -> int:
    """Kills the family of `pid`, it last or `spared`, as what its members leave behind comes to it;
    gives how many were killed."""
    killed = set()
    for _ in range(KILL_ROUNDS):
        alive = {one for one in family(pid, mark) if _state(one) != "Z"} - (
            {pid} if spared else set()
        )
        if not alive:
            break
        for one in sorted(alive - {pid}) or [pid]:
            try:
                os.kill(one, signal.SIGKILL)
                killed.add(one)
            except ProcessLookupError:
                continue
        time.sleep(0.01)
    return len(killed)


def memory_bytes(pids: set[int]) -> dict[int, int]:
    """Memory of each process; what several share is counted once, in parts."""
    return {pid: _proportional(pid) for pid in pids}


def resident_bytes(pids: set[int]) -> int:
    """Memory of all together, what they share counted for each: an upper bound that is quick to
    have."""
    return sum(_resident(pid) for pid in pids)


def _all() -> list[int]:
    return [int(name) for name in os.listdir("/proc") if name.isdecimal()]


def _read(pid: int, name: str) -> bytes:
    try:
        return Path(f"/proc/{pid}/{name}").read_bytes()
    except OSError:  # it has ended, or is another user's
        return b""


def _parent(pid: int) -> int:
    fields = _stat(pid)
    return int(fields[1]) if len(fields) > 1 else 0


def _state(pid: int) -> str:
    fields = _stat(pid)
    return fields[0] if fields else "Z"


def _stat(pid: int) -> list[str]:
    """The fields after the name, which may hold anything."""
    return _read(pid, "stat").decode("ascii", "replace").rpartition(")")[2].split()


def _carries(pid: int, mark: str) -> bool:
    return bool(mark) and f"{MARK}={mark}".encode() in _read(pid, "environ").split(b"\0")


def _resident(pid: int) -> int:
    fields = _read(pid, "statm").split()
    return int(fields[1]) * os.sysconf("SC_PAGE_SIZE") if len(fields) > 1 else 0


def _proportional(pid: int) -> int:
    for line in _read(pid, "smaps_rollup").splitlines():
        if line.startswith(b"Pss:"):
            return int(line.split()[1]) << 10
    return _resident(pid)
