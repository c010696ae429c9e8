"""How much memory is free, and what a failure for lack of it says in one sentence. Imports no torch."""

import os
import re
import resource
from pathlib import Path

from . import nvml

GROUPS = {
    "": ("sys/fs/cgroup", "memory.max", "memory.current", "inactive_file"),
    "memory": ("sys/fs/cgroup/memory", "memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file"),
}
"""Where the second and the first version of control groups tell limit, use, and what of it is only a cache."""

UNITS = {"b": 1, "bytes": 1, **{f"{prefix}{i}b": (1024 if i else 1000) ** n for n, prefix in enumerate("kmgtp", 1) for i in ("i", "")}}

# DefaultCPUAllocator: can't allocate memory: you tried to allocate 68719476736 bytes. Error code 12 (Cannot allocate memory)
# Unable to allocate 29.8 GiB for an array with shape (4000000000,) and data type float64
# CUDA out of memory. Tried to allocate 20.00 GiB. GPU 0 has a total capacity of ...
_ASKED = re.compile(r"(?:tried|unable) to allocate ([\d.]+) ?(bytes|[kmgtp]?i?b)\b", re.I)
_WORDS = ("out of memory", "not enough memory", "allocate memory", "unable to allocate")


def free_bytes(device: str) -> int | None:
    """Bytes that a new tensor on `cpu` or `cuda:N` could take; None where nothing tells. Memory of a GPU that no other process is seen to
    hold counts as free, since a measuring child of ours keeps what it had for its next job."""
    return _free_of_gpu(int(device.partition(":")[2])) if device.startswith("cuda") else _free_here()


def out_of_memory(error: BaseException) -> str | None:
    """What a failure for lack of memory is in one sentence, with the bytes asked for where it tells; None for any other failure."""
    text = str(error).strip()
    first = text.partition("\n")[0].lower()
    if not isinstance(error, MemoryError) and type(error).__name__ != "OutOfMemoryError" and not any(words in first for words in _WORDS):
        return None
    found, free = _ASKED.search(text), None if "CUDA" in text else free_bytes("cpu")
    asked = float(found[1]) * UNITS[found[2].lower()] if found else None
    words = [f"{_size(asked)} were asked for"] if asked else []
    words += [f"{_size(free)} are free"] if free is not None and free < (asked or free + 1) else []  # what failed may be freed by now
    return f"out of memory{': ' if words else ''}{' and '.join(words)}; use smaller sizes"


def _size(size: float) -> str:
    return f"{size / 1e9:,.1f} GB" if size >= 1e8 else f"{size / 1e6:,.1f} MB"


def free_in_groups(root: Path = Path("/")) -> list[int]:
    """What each control group that this process is in still allows."""
    try:
        mine = (root / "proc/self/cgroup").read_text().splitlines()
    except OSError:
        return []
    found = []
    for line in mine:
        _, kinds, path = line.split(":", 2)
        for kind in set(kinds.split(",")) & set(GROUPS):
            top, *names = GROUPS[kind]
            folder = root / top / path.lstrip("/")
            found += [_allowed(group, *names) for group in (folder, *folder.parents) if group.is_relative_to(root / top)]
    return [free for free in found if free is not None]


def _allowed(group: Path, limit: str, use: str, cache: str) -> int | None:
    # inactive_file 4096
    try:
        most, used = (group / limit).read_text(), int((group / use).read_text())
        caches = re.search(rf"^{cache} (\d+)$", (group / "memory.stat").read_text(), re.M)
    except (OSError, ValueError):
        return None
    return int(most) - used + int(caches[1] if caches else 0) if most.strip().isdigit() else None


def _free_here() -> int | None:
    known = [*free_in_groups(), *_of_the_machine(), *_in_address_space()]
    return max(0, min(known)) if known else None


def _of_the_machine() -> list[int]:
    # MemAvailable:   22545004 kB
    try:
        found = re.search(r"^MemAvailable:\s+(\d+) kB", Path("/proc/meminfo").read_text(), re.M)
    except OSError:
        return []
    return [int(found[1]) << 10] if found else []


def _in_address_space() -> list[int]:
    most = resource.getrlimit(resource.RLIMIT_AS)[0]
    if most == resource.RLIM_INFINITY:
        return []
    pages = int(Path("/proc/self/statm").read_text().split()[0])
    return [most - pages * resource.getpagesize()]


def _free_of_gpu(index: int) -> int | None:
    handles = nvml.visible_handles()
    memory = nvml.read("nvmlDeviceGetMemoryInfo", handles[index]) if index < len(handles) else None
    if memory is None:
        return None
    running = nvml.read("nvmlDeviceGetComputeRunningProcesses", handles[index]) or ()
    return memory.total - sum(process.usedGpuMemory or 0 for process in running if _is_of_others(process.pid))


def _is_of_others(pid: int) -> bool:
    """Whether a process is one that is seen here and no child of an engine of this user."""
    try:
        command, owner = Path(f"/proc/{pid}/cmdline").read_bytes(), os.stat(f"/proc/{pid}").st_uid
    except OSError:
        return False
    return b"tileviz.engine" not in command or owner != os.getuid()
