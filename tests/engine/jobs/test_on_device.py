"""Jobs of the measure lane that leave no trial, through a real engine: ceilings and one profiled launch."""

import time

import pytest

from tests.asked import resolve
from tileviz.engine import client
from tileviz.engine.jobs import ceilings, profile
from tileviz.engine.jobs.ceilings import FACT, stored_ceilings
from tileviz.engine.server import Engine
from tileviz.records import Device, Trial
from tileviz.store import Store

SMALL = {"M": 64, "N": 64, "K": 64}

FAKE_NCU = """#!/bin/sh
[ "$1" = --query-metrics ] && exit 0
echo '"ID","Process ID","Kernel Name","Metric Name","Metric Unit","Metric Value"'
echo '"0","1","gemm_kernel","gpu__time_duration.sum","ns","5000"'
echo '"0","1","gemm_kernel","dram__bytes_read.sum","byte","1000"'
"""


@pytest.fixture
def store(home):
    return Store(home)


@pytest.fixture
def trial(store):
    request = resolve("gemm", SMALL, target="cpu")
    stored = Trial("t-1", "gemm", request.problem, request.config, "cpu", "cpu", "ok", key=request.key)
    store.save_trial(stored)
    return request, stored.trial


def test_ceilings_of_the_cpu_are_measured_on_demand_and_leave_no_trial(store):
    job = client.wait(store, ceilings.submit(store, "cpu"), timeout=120)
    assert (job.state, job.reason) == ("done", "") and job.trial is None
    assert stored_ceilings("cpu", store).copy_tbps > 0
    assert store.trials() == []


def test_a_device_that_is_not_here_is_one_sentence(store):
    job = client.wait(store, ceilings.submit(store, "cuda:7"), timeout=120)
    assert (job.state, job.reason) == ("failed", "there is no device 'cuda:7' here")


def test_a_profile_without_ncu_says_why_in_the_trial(store, trial, monkeypatch):
    monkeypatch.setenv("NCU", "/nowhere/ncu")
    request, of = trial
    job = client.wait(store, profile.submit(store, request, of), timeout=120)
    assert (job.state, job.trial) == ("done", of)
    assert store.trial(of).profile["reason"] == "NCU is set to /nowhere/ncu, which is no program that can be run"


def test_what_ncu_measured_is_kept_with_the_trial(store, trial, monkeypatch, tmp_path):
    ncu = tmp_path / "ncu"
    ncu.write_text(FAKE_NCU)
    ncu.chmod(0o755)
    monkeypatch.setenv("NCU", str(ncu))
    request, of = trial
    job = client.wait(store, profile.submit(store, request, of), timeout=120)
    assert job.state == "done"
    found = store.trial(of)
    assert (found.profile["kernel"], found.profile["duration_us"], found.profile["dram_read_bytes"]) == ("gemm_kernel", 5.0, 1000.0)
    assert found.profile["launches"] == 1 and time.time() - found.profile["created"] < 60
    assert found.status == "ok" and store.trials() == [found]


class Lane:
    """A lane whose child notes what it is sent."""

    busy = False

    def __init__(self):
        self.sent = []

    def child(self):
        return self

    def send(self, job):
        self.sent.append(job)


def test_a_gpu_without_ceilings_is_measured_once_and_only_while_nothing_else_runs():
    engine, lane = Engine.__new__(Engine), Lane()
    engine.lanes, engine.facts, engine.tasks = {"cuda:0": lane}, {}, {"job": object()}
    engine.without_ceilings = {"cuda:0": Device("cuda:0", "NVIDIA H200", "sm_90a")}
    engine._ask_ceilings()
    assert lane.sent == []
    engine.tasks = {}
    engine._ask_ceilings()
    engine._ask_ceilings()
    assert [job.device.id for job in lane.sent] == ["cuda:0"] and lane.busy and engine.facts == {"cuda:0": lane}


@pytest.mark.gpu
def test_an_engine_with_a_gpu_measures_its_ceilings_by_itself(store):
    client.ensure_engine(store.home)
    end = time.monotonic() + 60
    while stored_ceilings("cuda:0", store) is None and time.monotonic() < end:
        time.sleep(0.2)
    device = next(d for d in store.devices() if d.id == "cuda:0")
    assert device.facts[FACT]["copy_tbps"] > 0.1 and device.facts["sm_count"] > 0
