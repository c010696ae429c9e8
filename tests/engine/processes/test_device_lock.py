"""A GPU is measured on by one child at a time, over homes and users."""

import multiprocessing

import pytest

from tileviz.engine.processes import device_lock
from tileviz.engine.processes.device_lock import WAITING
from tileviz.engine.processes.device_lock import device_lock as held


@pytest.fixture
def lock_file(tmp_path, monkeypatch):
    path = tmp_path / "tileviz-card.lock"
    monkeypatch.setattr(device_lock, "lock_path", lambda device: path)
    return path


def hold(path, ready, done):
    device_lock.lock_path = lambda device: path
    with held("cuda:0", lambda *message: None):
        ready.set()
        done.wait(30)


def test_a_second_child_waits_and_says_so(lock_file):
    context = multiprocessing.get_context("spawn")
    ready, done = context.Event(), context.Event()
    other = context.Process(target=hold, args=(lock_file, ready, done))
    other.start()
    assert ready.wait(30)
    said = []

    def report(*message):
        said.append(message)
        done.set()

    with held("cuda:0", report):
        assert said == [("phase", WAITING), ("started", None)], "the step's time begins anew"
    other.join(30)


def test_a_dead_child_frees_the_device(lock_file):
    context = multiprocessing.get_context("spawn")
    ready, done = context.Event(), context.Event()
    other = context.Process(target=hold, args=(lock_file, ready, done))
    other.start()
    assert ready.wait(30)
    other.kill()
    other.join(30)
    said = []
    with held("cuda:0", lambda *message: said.append(message)):
        assert said == []


def test_the_cpu_has_no_lock(lock_file):
    with held("cpu", lambda *message: None):
        assert not lock_file.exists()


def test_the_lock_is_named_for_the_card(monkeypatch):
    from tileviz.records import Device

    monkeypatch.setattr(device_lock.facts, "local_devices", lambda: [Device("cuda:0", "H200", "sm_90a", {"uuid": "GPU-abc"})])
    device_lock.lock_path.cache_clear()
    assert device_lock.lock_path("cuda:0").name == "tileviz-GPU-abc.lock"
    device_lock.lock_path.cache_clear()
