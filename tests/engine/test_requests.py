"""Requests are completed and checked before anything is compiled."""

import pytest

from tests.asked import resolve
from tileviz.engine import client
from tileviz.engine.requests import request_from_json, trial_key
from tileviz.errors import BadRequest, BadValue, UnknownName
from tileviz.records import Device
from tileviz.records_json import to_json

CPU = Device("cpu", "a CPU", "cpu", {"memory_bytes": 8 << 30})
GPU = Device("cuda:0", "NVIDIA H200", "sm_90a", {"memory_bytes": 150 << 30})


def test_the_first_device_is_the_default():
    assert resolve("gemm", devices=[GPU, CPU]).device == "cuda:0"
    assert resolve("gemm", devices=[CPU]).target == "cpu"


def test_defaults_follow_the_device():
    assert resolve("gemm", devices=[CPU]).problem["dtype"] == "float32"
    assert resolve("gemm", devices=[GPU]).problem["dtype"] == "float16"


def test_a_target_finds_its_device():
    assert resolve("gemm", target="cpu", devices=[GPU, CPU]).device == "cpu"
    assert resolve("gemm", target="sm_90", devices=[GPU, CPU]).device == "cuda:0"


def test_a_compile_needs_no_device():
    request = resolve("gemm", kind="compile", target="sm_120", devices=[CPU])
    assert (request.device, request.target) == (None, "sm_120a")


@pytest.mark.parametrize(
    ("arguments", "error", "words"),
    [
        ({"kernel": "gem"}, UnknownName, "no kernel 'gem'; known: .*gemm"),
        ({"problem": {"Q": 1}}, UnknownName, "'Q'; known: .*M"),
        ({"problem": {"M": 0}}, BadValue, "M is 0; give a whole number from 1"),
        ({"problem": {"M": -5}}, BadValue, "M is -5"),
        ({"problem": {"M": 2.5}}, BadValue, "M is 2.5; give a whole number"),
        ({"problem": {"M": "many"}}, BadValue, "M is 'many'"),
        ({"problem": {"M": 10**12}}, BadValue, "M is 1,000,000,000,000"),
        ({"problem": {"dtype": "float13"}}, BadValue, "dtype is 'float13'; give one of float16"),
        ({"config": {"block_Q": 1}}, UnknownName, "no knob of gemm 'block_Q'"),
        ({"config": {"block_M": "x"}}, BadValue, "block_M is 'x'"),
        ({"config": {"tl.nothing": True}}, UnknownName, "no pass config 'tl.nothing'"),
        ({"target": "sm_12345"}, BadRequest, "sm_12345"),
        ({"target": "sm_80"}, BadValue, "no device here runs sm_80; its code can be compiled"),
        ({"device": "cuda:7"}, BadValue, "no device 'cuda:7' here; there is cpu"),
        ({"inputs": "lucky"}, BadValue, "inputs is 'lucky'"),
        ({"flush": "hope"}, BadValue, "flush is 'hope'; give one of read, write, none"),
        ({"timeout_s": 0}, BadValue, "timeout"),
        ({"timeout_s": float("nan")}, BadValue, "timeout"),
        ({"seed": -1}, BadValue, "seed"),
        ({"save": "/no/such/folder/x.npz"}, BadValue, "there is no folder"),
        ({"save": "/"}, BadValue, "give a file name that ends in .npz"),
        ({"save": "out.txt"}, BadValue, "give a file name that ends in .npz"),
    ],
)
def test_what_cannot_be_meant_is_one_sentence(arguments, error, words):
    with pytest.raises(error, match=words):
        resolve(**{"kernel": "gemm", "devices": [CPU], **arguments})


def test_a_trillion_elements_are_pruned_by_memory():
    request = resolve("gemm", {"M": 10**6, "N": 10**6, "K": 64}, devices=[CPU])
    assert "this problem needs about" in request.broken[0]
    assert client.decided_trial(request).status == "pruned"


def test_float16_on_the_cpu_is_unsupported_by_name():
    request = resolve("gemm", {"dtype": "float16"}, target="cpu", devices=[CPU])
    trial = client.decided_trial(request)
    assert trial.status == "unsupported"
    assert "float32 only" in trial.reason


def test_a_config_that_breaks_a_rule_is_pruned_with_the_rule():
    request = resolve("gemm", config={"num_stages": 64}, kind="compile", target="sm_90a", devices=[CPU])
    assert "shared memory" in client.decided_trial(request).reason


def test_the_key_is_that_of_the_generated_code():
    base = resolve("gemm", devices=[CPU])
    same = resolve("gemm", config={"threads": 256}, devices=[CPU])
    other = resolve("gemm", config={"block_K": 16}, devices=[CPU])
    assert base.key == same.key != other.key
    assert base.key != trial_key("gemm", {**base.problem, "M": 513}, base.config, "cpu")


def test_a_request_comes_back_from_json():
    request = resolve("gemm", config={"num_stages": 64}, kind="compile", target="sm_90a", devices=[CPU])
    assert request_from_json(to_json(request)) == request == request_from_json({**to_json(request), "of_a_later_version": 1})


@pytest.mark.parametrize("target", ["cpu", "sm_90a"])
def test_an_artifact_crosses_to_the_engine_without_tilelang_or_torch(target):
    """Unpickling must import nothing heavy: the engine itself never loads TileLang."""
    import pickle
    import pickletools

    from tileviz.engine.jobs.compile import CompileJob

    small = {"M": 64, "N": 64, "K": 64, "dtype": "float32" if target == "cpu" else "float16"}
    request = resolve(
        "gemm", small, {"block_M": 64, "block_N": 64, "block_K": 32}, kind="compile", target=target, devices=[CPU], until="source"
    )
    messages = []
    messages.append(CompileJob(request)(lambda *message: messages.append(message)))
    names = {arg for op, arg, _ in pickletools.genops(pickle.dumps(messages)) if op.name == "SHORT_BINUNICODE"}
    assert not {name for name in names if name.split(".")[0] in ("tilelang", "tvm", "tvm_ffi", "torch")}
