"""How a run is measured is one record, and the JSON that was stored before reads and is written as ever."""

import json
from dataclasses import asdict

import pytest

from tests.asked import resolve, resolve_sweep
from tileviz.bench.facts import cpu_device
from tileviz.engine.options import Measuring
from tileviz.engine.requests import request_from_json
from tileviz.engine.sweeps.request import sweep_from_json
from tileviz.errors import BadValue

CPU = cpu_device()

OF_A_RUN = {
    "kind", "kernel", "problem", "config", "target", "device", "inputs", "seed", "l2", "flush", "baselines", "only_baselines", "until",
    "timeout_s", "save", "broken", "unsupported", "preset",
}  # fmt: skip
OF_A_SWEEP = {
    "kernel", "problems", "values", "target", "device", "strategy", "effort", "budget", "seed", "inputs", "l2", "flush", "baselines",
    "only_baselines", "finalists", "timeout_s", "counted", "kind",
}  # fmt: skip
OLD = {"kind": "run", "kernel": "gemm", "problem": {"M": 64}, "config": {}, "target": "cpu", "device": "cpu", "seed": 3, "l2": "warm"}


def test_a_stored_request_has_the_fields_it_always_had():
    request = resolve("gemm", devices=[CPU], seed=7, l2="warm", only_baselines=["eager"], timeout_s=9.0)
    doc = json.loads(json.dumps(asdict(request)))
    assert set(doc) == OF_A_RUN and (doc["seed"], doc["l2"], doc["timeout_s"], doc["only_baselines"]) == (7, "warm", 9.0, ["eager"])
    assert request_from_json(doc) == request


def test_a_stored_sweep_has_the_fields_it_always_had():
    request, _ = resolve_sweep("vector_add", {"N": 64}, {"block_N": [32, 64]}, devices=[CPU], seed=7, flush="none", trials=3)
    doc = json.loads(json.dumps(asdict(request)))
    assert set(doc) == OF_A_SWEEP and (doc["seed"], doc["flush"], doc["budget"]["trials"]) == (7, "none", 3)
    assert sweep_from_json(doc) == request


def test_what_an_older_version_stored_reads_with_the_usual_rest():
    request = request_from_json(OLD)
    assert (request.seed, request.l2, request.inputs, request.timeout_s) == (3, "warm", "normal", 120.0)


def test_each_config_of_a_sweep_is_measured_as_the_sweep_says():
    request, _ = resolve_sweep("vector_add", {"N": 64}, {"block_N": [32]}, devices=[CPU], seed=7, inputs="ones", baselines=False)
    assert request.trial_request(0, {"block_N": 32}).measuring == request.measuring
    assert request.measuring == Measuring(seed=7, inputs="ones", baselines=False, timeout_s=60.0)


def test_a_run_has_longer_than_a_config_of_a_sweep_where_nothing_is_said():
    swept, _ = resolve_sweep("vector_add", {"N": 64}, {"block_N": [32]}, devices=[CPU])
    assert (resolve("vector_add", devices=[CPU]).timeout_s, swept.timeout_s) == (120.0, 60.0)


@pytest.mark.parametrize("wrong", [{"timeout_s": 0}, {"seed": -1}, {"l2": "tepid"}, {"inputs": "lucky"}, {"flush": "hope"}])
def test_what_cannot_be_meant_is_refused_for_a_run_and_a_sweep_alike(wrong):
    for ask in (resolve, resolve_sweep):
        with pytest.raises(BadValue):
            ask("vector_add", {"N": 64}, devices=[CPU], **wrong)
