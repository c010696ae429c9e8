"""Sweeps on a real GPU: one lane, one CUDA context, many configs."""

import pytest

from tests.asked import resolve_sweep
from tileviz.engine import client as jobs
from tileviz.engine.jobs import race
from tileviz.engine.sweeps import client, results
from tileviz.kernels import kernel
from tileviz.store import Store

pytestmark = [pytest.mark.gpu, pytest.mark.timeout(240)]

PROBLEM = {"M": 1024, "N": 1024, "K": 128, "dtype": "float16"}


def swept(home, values, **more):
    store = Store(home)
    fixed = {knob.name: knob.default for knob in kernel("gemm").knobs if knob.name not in values} | {"enable_swizzle": False}
    settings = {"device": "cuda:0", "effort": "full", "baselines": False, "fixed": fixed, **more}
    request, space = resolve_sweep("gemm", PROBLEM, values, **settings)
    sweep = client.submit(store, request, space)
    client.wait(store, sweep, timeout=200)
    return store, results.document(store, sweep)


def test_every_legal_config_is_right_and_the_best_are_measured_in_turn(home):
    values = {"block_M": [64, 128], "block_N": [64, 128], "block_K": [64], "num_stages": [2], "threads": [128, 256]}
    store, document = swept(home, values)
    ran = [row for row in document["trials"] if row["status"] != "pruned"]
    assert ran and {row["status"] for row in ran} == {"ok"}
    assert all(row["verdict"]["ok"] and row["timing"]["n"] >= 5 and row["resources"]["registers"] > 0 for row in ran)
    assert all(row["instructions"]["sass"]["tensor_core"] > 0 for row in ran)
    best = document["best"]
    assert best["trial"] in document["tied"][0] and "in turn" in store.trial(best["trial"]).timing.note


def test_stages_beyond_the_depth_that_give_the_same_source_share_one_timing(home):
    values = {"block_M": [128], "block_N": [128], "block_K": [128], "num_stages": [1, 2, 3], "threads": [256]}
    store, document = swept(home, values)
    artifacts = {store.trial(row["trial"]).artifact for row in document["trials"] if row["trial"]}
    texts = [store.artifact(key).source for key in artifacts]
    assert len(set(texts)) == len(texts), "configs with one and the same source were measured apart"


def test_tilelangs_autotuner_is_raced_over_the_same_configs_and_its_best_timed_beside_ours(home):
    values = {"block_M": [64, 128], "block_N": [128], "block_K": [64], "num_stages": [2], "threads": [128, 256]}
    store, document = swept(home, values)
    job = jobs.wait(store, race.submit(store, document["sweep"]), timeout=200)
    assert job.state == "done", job.reason
    found = race.told(store.sweep(document["sweep"]).notes, 0)
    assert found["tried"] == len(race.configs_of(store, document["sweep"], 0)) and found["wall_s"] > 0 and found["says_us"] > 0
    assert found["config"] in [row["config"] for row in document["trials"]]
    assert found["checked"] == "ok" and found["measured_us"] > 0 and found["ours_us"] > 0
    assert 0.5 < found["says_us"] / found["measured_us"] < 4, "its events and our timer tell the same kernel"
    assert not list(home.glob("rival-*"))
