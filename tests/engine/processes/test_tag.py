"""One engine serves one environment."""

import fcntl
import json
import os

import pytest

from tests.asked import resolve
from tests.engine.sweeps.test_failures import submitted
from tileviz.engine import client
from tileviz.engine.jobs.compile import stored_code
from tileviz.engine.processes import tag
from tileviz.errors import EngineError
from tileviz.records import Artifact
from tileviz.store import Store


@pytest.fixture
def at_work(tmp_path):
    """A store whose engine of this environment has a job."""
    store = Store(tmp_path)
    store.submit("run", {})
    tag.write_tag(tmp_path, tag.engine_tag())
    with open(tmp_path / "engine.lock", "w+") as lock:
        lock.write(str(os.getpid()))
        lock.flush()
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield store


def a_program(folder, name: str) -> str:
    path = folder / name
    path.write_text("#!/bin/sh\n")
    path.chmod(0o755)
    return str(path)


def test_what_decides_results_is_part_of_an_engine(monkeypatch, tmp_path):
    here = tag.environment()
    libraries = tmp_path / "lib"
    libraries.mkdir()
    (libraries / "libcuda.so.1").write_text("another driver")
    (tmp_path / "bin").mkdir()
    a_program(tmp_path / "bin", "g++")
    for name, value, words in (
        ("TILEVIZ_CUDA_COMPILER", "nvcc", "TILEVIZ_CUDA_COMPILER is 'nvcc' here and not set there"),
        ("CUDA_VISIBLE_DEVICES", "1", "CUDA_VISIBLE_DEVICES is '1' here and not set there"),
        ("CUDA_VISIBLE_DEVICES", "", "CUDA_VISIBLE_DEVICES is 'none' here and not set there"),
        ("CXX", a_program(tmp_path, "my-g++"), "another C++ compiler is found here"),
        ("PATH", f"{tmp_path / 'bin'}:{os.environ['PATH']}", "another C++ compiler is found here"),
        ("LD_LIBRARY_PATH", str(libraries), "LD_LIBRARY_PATH leads to other libraries here"),
        ("NVIDIA_TF32_OVERRIDE", "0", "NVIDIA_TF32_OVERRIDE is '0' here and not set there"),
        ("PYTHONPATH", "/opt/other-torch", "PYTHONPATH is '/opt/other-torch' here and not set there"),
    ):
        with monkeypatch.context() as patch:
            patch.delenv("PYTHONPATH", raising=False)
            patch.delenv("CXX", raising=False)
            before = tag.environment()
            patch.setenv(name, value)
            assert tag.differences(tag.environment(), before) == words
    assert tag.environment() == here


def test_what_decides_nothing_is_no_part_of_it(monkeypatch, tmp_path):
    here = tag.environment()
    for name, value in (
        ("PATH", f"{os.environ['PATH']}:/nowhere"), ("LD_LIBRARY_PATH", str(tmp_path)), ("TILEVIZ_ENGINE_IDLE", "7"), ("HOME", "/nowhere"),
        ("CUDA_DEVICE_ORDER", "PCI_BUS_ID"), ("PYTHONOPTIMIZE", "2"),
    ):  # fmt: skip
        monkeypatch.setenv(name, value)
    assert tag.environment() == here


def test_an_engine_at_work_in_another_environment_refuses_every_kind_of_job(at_work, monkeypatch):
    monkeypatch.setenv("TILEVIZ_CUDA_COMPILER", "nvcc")
    monkeypatch.setattr(client, "MAKES_WAY_S", 0.1)
    words = "is at work in another environment \\(TILEVIZ_CUDA_COMPILER is 'nvcc' here and not set there\\): wait until its jobs are done"
    for kind in ("compile", "read", "importance", "ceilings"):
        with pytest.raises(EngineError, match=words):
            client.queue(at_work, kind, {})
    with pytest.raises(EngineError, match=words):
        submitted(at_work, [512])
    assert len(at_work.jobs()) == 1 and at_work.sweeps() == [], "nothing is stored of what was refused"


def test_an_engine_at_work_in_the_same_environment_takes_more(at_work):
    assert at_work.job(client.queue(at_work, "compile", {})).state == "queued"


def test_an_engine_at_work_with_older_files_goes_on(at_work):
    tag.write_tag(at_work.home, {**tag.engine_tag(), tag.PACKAGE: "before a kernel was added"})
    assert client.queue(at_work, "compile", {})
    (at_work.home / tag.FILE_NAME).write_text("the tag of an older version")
    assert client.queue(at_work, "compile", {})


def test_a_job_that_was_queued_in_another_environment_is_not_run(scripted_engine, scripted_store, monkeypatch):
    """Its engine died, or another one was faster: never another compiler's code or another card."""
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "1")
    job = client.queue(scripted_store, "compile", {})
    sweep = submitted(scripted_store, [1])
    monkeypatch.delenv("CUDA_VISIBLE_DEVICES")
    engine = scripted_engine()
    for _ in range(3):
        engine._step()
    for view in (scripted_store.job(job), scripted_store.sweep(sweep)):
        assert view.state == "failed" and "CUDA_VISIBLE_DEVICES is '1' here and not set there" in view.reason


@pytest.mark.parametrize("target", ["sm_80", "cpu"])
def test_the_compiler_that_is_asked_for_is_part_of_the_key_of_cuda_code(monkeypatch, target):
    request = resolve("vector_add", {"N": 1000}, kind="compile", target=target, devices=[])
    keys = {}
    for asked in ("", "nvrtc", "nvcc"):
        monkeypatch.setenv("TILEVIZ_CUDA_COMPILER", asked)
        keys[asked] = request.key
    assert len(set(keys.values())) == (3 if target == "sm_80" else 1)


def test_a_stored_artifact_of_another_compiler_is_compiled_again(tmp_path, monkeypatch):
    request, store = resolve("vector_add", {"N": 1000}, kind="compile", target="sm_80", devices=[]), Store(tmp_path)
    store.save_artifact(Artifact(request.key, "sm_80", "text", "cuda", compiler="NVRTC 13.5"))
    assert stored_code(store, request).compiler == "NVRTC 13.5"
    monkeypatch.setenv("TILEVIZ_CUDA_COMPILER", "nvcc")
    assert stored_code(store, request) is None


def test_a_tag_is_kept_as_json_beside_the_lock(tmp_path):
    tag.write_tag(tmp_path, tag.engine_tag())
    assert tag.read_tag(tmp_path) == tag.engine_tag() == json.loads((tmp_path / tag.FILE_NAME).read_text())
    assert tag.without_package(tag.engine_tag()) == tag.environment()
    assert tag.read_tag(tmp_path / "nowhere") is None
