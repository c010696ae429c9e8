"""The job that profiles a launch: its command, its refusal, and, on a GPU with ncu, its figures."""

import json
from pathlib import Path

import pytest

from tests.asked import resolve
from tileviz.bench import ncu
from tileviz.engine.jobs.profile import NcuJob
from tileviz.engine.requests import local_devices, request_from_json
from tileviz.errors import RuntimeFailed, ToolMissing
from tileviz.records import Device

H200 = Device("cuda:0", "NVIDIA H200", "sm_90a", {"memory_bytes": 150 << 30})


def test_without_ncu_it_says_what_to_install(monkeypatch):
    monkeypatch.setattr(ncu, "find_ncu", lambda: None)
    monkeypatch.delenv("NCU", raising=False)
    with pytest.raises(ToolMissing, match="ncu.* was not found; install"):
        NcuJob(resolve("gemm", devices=[H200]))()


def test_the_whole_request_reaches_the_program_under_ncu(monkeypatch):
    request, asked = resolve("gemm", {"M": 256}, devices=[H200], flush="write"), []

    def profile(target, names, timeout_s, env):
        asked.append((target[1:3], request_from_json(json.loads(Path(target[3]).read_text())), names))
        return [ncu.Launch("main_kernel", 5.0)]

    monkeypatch.setattr(ncu, "is_available", lambda: None)
    monkeypatch.setattr(ncu, "known_metrics", lambda: {"gpu__time_duration"})
    monkeypatch.setattr(ncu, "profile", profile)
    assert NcuJob(request)() == (ncu.Launch("main_kernel", 5.0),)
    assert asked == [(["-m", "tileviz.engine.jobs.ncu_target"], request, [ncu.DURATION])]


@pytest.mark.gpu
def test_one_launch_of_ours_is_profiled(shared_home):
    if ncu.is_available():
        pytest.skip(ncu.is_available())
    try:
        launches = NcuJob(resolve("vector_add", {"N": 1 << 24}, devices=local_devices()))()
    except RuntimeFailed as failure:
        if failure.message == ncu.PERMISSION:
            pytest.skip(failure.message)
        raise
    assert len(launches) == 1 and launches[0].duration_us > 10
    assert launches[0].dram_read_bytes == pytest.approx(2 * 4 * (1 << 24), rel=0.2)
    assert launches[0].stalls
