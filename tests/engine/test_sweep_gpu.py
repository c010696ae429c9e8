"""Sweeps on a real GPU: one lane, one CUDA context, many configs."""

import pytest

from tileviz.engine.sweeps import client, results
from tileviz.engine.sweeps.request import resolve_sweep
from tileviz.store import Store

pytestmark = [pytest.mark.gpu, pytest.mark.timeout(240)]

PROBLEM = {"M": 1024, "N": 1024, "K": 128, "dtype": "float16"}


def swept(home, values, **more):
    store = Store(home)
    settings = {"device": "cuda:0", "effort": "full", "baselines": False, "fixed": {"enable_swizzle": False}, **more}
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
