"""Ceilings are measured by a job, kept with the device, and used by the next trial."""

from dataclasses import replace

import pytest

from tests.asked import resolve
from tests.conftest import make_home
from tileviz.bench import ceilings
from tileviz.engine import client
from tileviz.engine.jobs.ceilings import FACT, CeilingsJob, stored_ceilings, with_stored_ceilings
from tileviz.engine.requests import local_devices
from tileviz.errors import StoreError
from tileviz.store import Store


@pytest.fixture
def small(monkeypatch):
    monkeypatch.setattr(ceilings, "CPU_COPY_BYTES", 1 << 20)
    monkeypatch.setattr(ceilings, "CPU_SIZES", (64,))


@pytest.fixture
def cpu():
    return next(d for d in local_devices() if d.id == "cpu")


def test_the_job_gives_the_device_with_its_ceilings_and_the_store_keeps_them(small, cpu, tmp_path):
    phases, store = [], Store(tmp_path)
    device = CeilingsJob(cpu)(lambda *message: phases.append(message))
    assert phases == [("phase", "ceilings")] and device.facts["cores"] == cpu.facts["cores"]
    store.save_device(device)
    found = stored_ceilings("cpu", store)
    assert found.copy_tbps > 0 and found.tflops["float32"] > 0 and found.fingerprint == cpu.fingerprint
    assert stored_ceilings("cuda:7", store) is None


def test_an_engine_that_starts_again_keeps_them_unless_the_versions_changed(small, cpu):
    before = [CeilingsJob(cpu)()]
    assert with_stored_ceilings(cpu, before).facts[FACT] == before[0].facts[FACT]
    newer = replace(cpu, fingerprint={**cpu.fingerprint, "torch": "99"})
    assert FACT not in with_stored_ceilings(newer, before).facts
    assert with_stored_ceilings(cpu, []) == cpu


def test_a_trial_is_set_against_the_measured_ceiling(home, small, cpu):
    store = Store(home)
    store.save_device(CeilingsJob(cpu)())
    job = client.wait(store, client.submit(store, resolve("gemm", {"M": 64, "N": 64, "K": 64}, target="cpu", baselines=False)), timeout=120)
    point = store.trial(job.trial).roofline
    assert (
        point.fraction is None and point.fraction_measured > 0 and "TFLOPS float32, product of 64^3 measured on" in point.ceiling_measured
    )
    assert stored_ceilings("cpu", store) is not None


def test_a_home_of_a_test_shares_what_torch_compile_made(tmp_path):
    home = make_home(tmp_path / "home", tmp_path)
    assert (home / "inductor").is_symlink()


def test_a_store_that_cannot_be_read_costs_the_second_ceiling_only():
    class Broken:
        def devices(self):
            raise StoreError("the disk is gone")

    assert stored_ceilings("cpu", Broken()) is None
