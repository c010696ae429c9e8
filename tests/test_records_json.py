"""Records become JSON documents and come back, those of other versions too."""

import json
import math

from tileviz.measured import BaselineResult, Comparison, Determinism, ErrorMap, Roofline, Timing, Verdict
from tileviz.records import Artifact, Device, Resources, SharedBytes, Trial, TunedConfig, canonical_json
from tileviz.records_json import artifact_from_json, device_from_json, resources_from_json, to_json, trial_from_json, tuned_from_json

TIMING = Timing(
    (1.0, 2.0, 3.0), "cupti", "cold", throttled=True, throttle_reasons=("thermal",), earlier_us=(9.0,),
    sm_clocks_mhz=(1980.0, 1800.0), clock_limits=((1, 1, "power cap"),),
)  # fmt: skip

ERRORS = ErrorMap((8, 8), (4, 4), ((0.1, math.inf), (0.2, 0.3)), ((0, 1), (0, 0)))

TRIAL = Trial(
    "t", "gemm", {"M": 8}, {"block_M": 64}, "sm_90a", "cuda:0", "wrong_result",
    resources=Resources(registers=32, shared_bytes=SharedBytes(1024, 2048), grid=(1, 2, 3)),
    verdict=Verdict(False, 0.5, 1.0, 0.01, worst_index=(3, 4), errors=ERRORS, determinism=Determinism(10, 3)),
    timing=TIMING,
    roofline=Roofline("memory", 0.5, "4.8 TB/s"),
    baselines=(BaselineResult("eager", "PyTorch eager", "ok", timing=TIMING, comparison=Comparison("same", 1.0, 0.99, 1.01), speedup=1.0),),
)  # fmt: skip


def through_text(value):
    return json.loads(json.dumps(to_json(value), allow_nan=False))


def test_a_trial_comes_back_as_it_was():
    assert trial_from_json(through_text(TRIAL)) == TRIAL


def test_resources_and_a_tuned_config_come_back_as_they_were():
    assert resources_from_json(through_text(TRIAL.resources)) == TRIAL.resources
    tuned = TunedConfig("p", "gemm", {"M": 8}, {"block_M": 64}, "sm_90a", "NVIDIA H200", 10.0, speedup=1.5)
    assert tuned_from_json(through_text(tuned)) == tuned


def test_a_field_of_a_newer_version_is_left_out_and_one_that_an_older_lacks_gets_its_default():
    doc = through_text(TRIAL)
    doc["newer"] = doc["timing"]["newer"] = doc["verdict"]["newer"] = doc["baselines"][0]["newer"] = 1
    del doc["seed"], doc["verdict"]["determinism"], doc["verdict"]["errors"], doc["timing"]["sm_clocks_mhz"]
    found = trial_from_json(doc)
    assert (found.seed, found.verdict.errors, found.timing.sm_clocks_mhz) == (0, None, ())
    assert found.verdict.determinism is None
    assert found.baselines == TRIAL.baselines


def test_every_record_of_the_store_is_read_where_a_later_version_wrote_more():
    device = Device("cuda:0", "H200", "sm_90a", {"sm_count": 132}, {"driver": "580"})
    artifact = Artifact("k", "sm_80", "text", "cuda", resources=TRIAL.resources, compiler="NVRTC 13.5", tensors=({"name": "A"},))
    tuned = TunedConfig("p", "gemm", {"M": 8}, {"block_M": 64}, "sm_90a", "NVIDIA H200", 10.0)
    for record, read in (
        (device, device_from_json),
        (artifact, artifact_from_json),
        (tuned, tuned_from_json),
        (TRIAL, trial_from_json),
    ):
        assert read(_with_newer_fields(through_text(record))) == record


def _with_newer_fields(value):
    """The document with a field more in every record of it; the keys of tables are data."""
    if isinstance(value, list):
        return [_with_newer_fields(each) for each in value]
    if not isinstance(value, dict):
        return value
    tables = ("facts", "fingerprint", "problem", "config", "instructions", "seconds", "missing", "lines", "tensors", "more")
    kept = {name: each if name in tables else _with_newer_fields(each) for name, each in value.items()}
    return {**kept, "of_a_later_version": {"deep": [1]}}


def test_what_json_has_no_number_for_is_none_and_comes_back_where_it_must():
    verdict = Verdict(False, math.nan, math.inf, 1.0, errors=ERRORS)
    doc = through_text(verdict)
    assert (doc["rel_error"], doc["max_abs_error"], doc["errors"]["worst"][0][1]) == (None, None, None)
    found = trial_from_json({**through_text(TRIAL), "verdict": doc}).verdict
    assert math.isnan(found.rel_error) and math.isnan(found.max_abs_error) and found.errors == ERRORS


def test_a_timing_gains_its_quantiles_and_an_artifact_loses_its_bytes():
    assert {name: to_json(TIMING)[name] for name in ("median_us", "n")} == {"median_us": 2.0, "n": 3}
    assert "cubin" not in to_json(Artifact("k", "sm_90a", "text", "cuda", cubin=b"\x7fELF"))


def test_equal_values_have_one_spelling():
    assert canonical_json({"b": [1, True], "a": {"d": None, "c": 1.5}}) == '{"a":{"c":1.5,"d":null},"b":[1,true]}'
    assert canonical_json({"M": 8, "N": (1, 2)}) == canonical_json({"N": [1, 2], "M": 8})
