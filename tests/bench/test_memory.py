"""How much memory is free, and what a failure for lack of it says."""

import resource
import subprocess
import sys
import types

import numpy
import pytest
import torch

from tests.asked import resolve
from tests.conftest import ROOT
from tileviz.bench import memory
from tileviz.engine import requests
from tileviz.records import Device

GIB = 1 << 30
NO_LIMIT = "9223372036854771712"


def group(root, folder: str, limit: str, use: int, cache: int = 0) -> None:
    place = root / folder
    place.mkdir(parents=True, exist_ok=True)
    first = folder.startswith("sys/fs/cgroup/memory")
    names = (
        ("memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file")
        if first
        else ("memory.max", "memory.current", "inactive_file")
    )
    (place / names[0]).write_text(f"{limit}\n")
    (place / names[1]).write_text(f"{use}\n")
    (place / "memory.stat").write_text(f"anon 5\n{names[2]} {cache}\n")


def member(root, lines: str) -> None:
    (root / "proc/self").mkdir(parents=True)
    (root / "proc/self/cgroup").write_text(lines)


def test_the_narrowest_group_counts_and_what_it_only_caches_is_free(tmp_path):
    member(tmp_path, "0::/pod/container\n")
    group(tmp_path, "sys/fs/cgroup/pod/container", "max", 3 * GIB)
    group(tmp_path, "sys/fs/cgroup/pod", str(4 * GIB), 3 * GIB, GIB)
    assert memory.free_in_groups(tmp_path) == [2 * GIB]


def test_the_first_version_of_groups_is_read_as_well(tmp_path):
    member(tmp_path, "9:name=systemd:/\n4:cpu,memory:/docker/1\n0::/\n")
    group(tmp_path, "sys/fs/cgroup/memory", NO_LIMIT, 0)
    group(tmp_path, "sys/fs/cgroup/memory/docker/1", str(2 * GIB), GIB)
    assert min(memory.free_in_groups(tmp_path)) == GIB


def test_without_groups_the_machine_tells(tmp_path):
    assert memory.free_in_groups(tmp_path) == []
    assert 0 < memory.free_bytes("cpu") <= 1 << 50


def limited(code: str, address_space: int) -> str:
    return subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (address_space, address_space)),
    ).stdout  # fmt: skip


def test_a_limit_of_the_shell_counts():
    assert int(limited("from tileviz.bench import memory; print(memory.free_bytes('cpu'))", 2 * GIB)) < 2 * GIB


def raised(make) -> BaseException:
    try:
        make()
    except Exception as error:
        return error
    raise AssertionError("there was room")


@pytest.mark.parametrize("make", [lambda: torch.empty(1 << 45, dtype=torch.uint8), lambda: numpy.empty(1 << 42)])
def test_a_failure_for_lack_of_memory_says_what_was_asked_for_and_what_is_free(make):
    said = memory.out_of_memory(raised(make))
    assert said.startswith("out of memory: 35,184.4 GB were asked for and ") and said.endswith(" GB are free; use smaller sizes")


@pytest.mark.parametrize(
    ("error", "said"),
    [
        (MemoryError(), "out of memory: "),
        (
            torch.OutOfMemoryError("CUDA out of memory. Tried to allocate 20.00 GiB. GPU 0 has"),
            "out of memory: 21.5 GB were asked for; use",
        ),
        (RuntimeError("CUDA out of memory. Tried to allocate 20.00 MiB."), "out of memory: 21.0 MB were asked for; use smaller sizes"),
    ],
)
def test_every_way_to_say_it_is_one_sentence(error, said):
    assert memory.out_of_memory(error).startswith(said)


def test_another_failure_stays_what_it_is():
    assert memory.out_of_memory(RuntimeError("shapes differ\nnote: out of memory is something else")) is None


def processes(**bytes_by_pid):
    return [types.SimpleNamespace(pid=int(pid.lstrip("p")), usedGpuMemory=used) for pid, used in bytes_by_pid.items()]


def test_of_a_gpu_what_others_are_seen_to_hold_is_not_free(monkeypatch):
    answers = {
        "nvmlDeviceGetMemoryInfo": types.SimpleNamespace(total=80 * GIB, free=1 * GIB),
        "nvmlDeviceGetComputeRunningProcesses": processes(p1=30 * GIB, p999999999=20 * GIB),
    }
    monkeypatch.setattr(memory.nvml, "visible_handles", lambda: ["card"])
    monkeypatch.setattr(memory.nvml, "read", lambda function, *_: answers[function])
    assert memory.free_bytes("cuda:0") == 50 * GIB, "process 1 is another's; the last one is not seen here, and may be our own"
    assert memory.free_bytes("cuda:1") is None


CARD = Device("cuda:0", "NVIDIA H200", "sm_90a", {"memory_bytes": 140 * GIB})


@pytest.mark.parametrize(
    ("free", "said"),
    [
        (None, ""),
        (100 * GIB, ""),
        (10 * GIB, "38.7 GB with its reference; 10.7 GB are free on NVIDIA H200: use smaller sizes, or end what holds the rest"),
    ],
)
def test_what_a_problem_needs_is_compared_with_what_is_free(monkeypatch, free, said):
    monkeypatch.setattr(requests.memory, "free_bytes", lambda device: free)
    broken = resolve("vector_add", {"N": 1 << 30, "dtype": "float32"}, devices=[CARD]).broken
    assert "; ".join(broken).endswith(said) and bool(broken) == bool(said), broken
