"""Sweeps end to end on the CPU target: real compiler, real kernels, real store, real kills."""

import contextlib
import os
import signal

import psutil
import pytest

from tests.asked import resolve, resolve_sweep
from tests.conftest import processes_of
from tests.waiting import until
from tileviz.engine import client as jobs
from tileviz.engine.sweeps import client, results
from tileviz.kernels import kernel
from tileviz.measured import Determinism
from tileviz.store import Store

SMALL = {"M": 64, "N": 64, "K": 64}
EIGHT = {"block_M": [16, 32], "block_N": [16, 32], "block_K": [16, 32]}
IDLE = {knob.name: knob.default for knob in kernel("gemm").knobs} | {"num_stages": 0, "threads": 128, "enable_swizzle": False}


@pytest.fixture
def store(home):
    return Store(home)


@pytest.fixture(scope="module")
def shared(shared_home):
    return Store(shared_home)


def submitted(store, values, problem=SMALL, kernel="gemm", fixed=IDLE, **more):
    settings = {"target": "cpu", "effort": "full", "baselines": False, **more}
    standing = {name: value for name, value in fixed.items() if name not in values}
    request, space = resolve_sweep(kernel, problem, values, fixed=standing, **settings)
    return client.submit(store, request, space)


def test_configs_are_checked_timed_ranked_and_set_beside_pytorch(shared):
    values = {"block_K": [16, 32], "threads": [128, 256], "block_M": [16, 2048], "block_N": [16, 2048]}
    sweep = submitted(shared, values, baselines=True, effort="quick", seconds=100)
    view = client.wait(shared, sweep, timeout=120)
    document = results.document(shared, sweep)
    assert view.state == "done" and document["status"] == "done"
    assert view.counts == {"ok": 6 + 6, "pruned": 4}
    for row in document["trials"]:
        assert (row["status"] == "pruned") == (row["timing"] is None)
        if row["status"] == "ok":
            assert row["verdict"]["ok"] and row["verdict"]["rel_error"] < 1e-6 and row["timing"]["n"] >= 3 and row["tflops"] > 0
    best = document["best"]
    assert best["trial"] == document["tied"][0][0] and best["finalist"]
    assert {b["name"]: b["status"] for b in best["baselines"]}["eager"] == "ok"
    assert "in turn" in shared.trial(best["trial"]).timing.note
    assert shared.trial(best["trial"]).verdict.determinism == Determinism(launches=10, differing=0)
    assert shared.artifact(best["artifact"]).source_language == "c"
    assert best["instructions"]["source"]
    assert view.notes["lane_busy"] > 0


def test_a_single_run_goes_between_the_configs_of_a_sweep(shared):
    sweep = submitted(shared, {**EIGHT, "block_M": [16, 32, 48, 64]}, problem={"M": 65, "N": 64, "K": 64})
    until(lambda: shared.sweep(sweep).counts.get("ok", 0) >= 1)
    run = jobs.submit(shared, resolve("vector_add", {"N": 999}, target="cpu", baselines=False))
    jobs.wait(shared, run, timeout=120)
    still = shared.sweep(sweep)
    assert shared.trial(shared.job(run).trial).status == "ok"
    assert still.state == "running" and still.counts.get("not_run", 0) > 0
    client.cancel(shared, sweep)
    assert client.wait(shared, sweep, timeout=120).state == "cancelled"


@pytest.mark.slow
def test_killing_the_engine_in_the_middle_loses_nothing_and_the_sweep_goes_on(store, home):
    sweep = submitted(store, {"block_N": list(range(100, 108))}, problem={"N": 1000}, kernel="vector_add", fixed={"threads": 128})
    seen: dict[str, float] = {}
    for least in (1, 4):
        until(lambda least=least: store.sweep(sweep).counts.get("ok", 0) >= least)
        killed = jobs.engine_pid(home)
        os.kill(killed, signal.SIGKILL)
        until(lambda: not processes_of(home))
        now = {row["trial"]: row["median_us"] for row in store.sweep_frame(sweep, statuses=("ok",))}
        assert seen.items() <= now.items()
        seen = now
        until(lambda killed=killed: jobs.ensure_engine(home) or jobs.engine_pid(home) not in (None, 0, killed))
    view = client.wait(store, sweep, timeout=120)
    assert view.state == "done" and view.counts == {"ok": 8}
    assert seen.keys() <= {row["trial"] for row in store.sweep_frame(sweep)}


def compilers_of(engine: psutil.Process) -> list[str]:
    """Names of the C++ compilers under the engine; one may end while it is looked at."""
    names = []
    for process in engine.children(recursive=True):
        with contextlib.suppress(psutil.NoSuchProcess):
            names.append(process.name())
    return [name for name in names if "g++" in name or "cc1plus" in name]


def test_cancel_leaves_no_process_at_work_and_resume_runs_only_the_rest(store, home):
    sweep = submitted(store, EIGHT, problem={"M": 66, "N": 64, "K": 64})
    until(lambda: store.sweep(sweep).counts.get("ok", 0) >= 2)
    client.cancel(store, sweep)
    view = client.wait(store, sweep, timeout=120)
    assert view.state == "cancelled"
    engine = psutil.Process(jobs.engine_pid(home))
    until(lambda: not compilers_of(engine))
    kept = {row["trial"] for row in store.sweep_frame(sweep, statuses=("ok",))}
    client.resume(store, sweep)
    view = client.wait(store, sweep, timeout=120)
    assert view.state == "done" and view.counts == {"ok": 8} and len(kept) < 8
    assert kept <= {row["trial"] for row in store.sweep_frame(sweep)}
