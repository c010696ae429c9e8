"""Triton programs as baselines: listed with their reason where they cannot run, picked by check and time where they can."""

from dataclasses import replace

import pytest
import torch

from tests.bench.judged import verify
from tileviz import kernels
from tileviz.bench.baselines import Setting, expanded, run_baseline
from tileviz.bench.draws import Draw
from tileviz.bench.pick_timer import pick_timer
from tileviz.bench.references import Truth, reference_of
from tileviz.bench.timers import ScriptedTimer, time_callable
from tileviz.bench.triton_baselines import words
from tileviz.kernels.toolkit import triton_baseline
from tileviz.kernels.toolkit.triton_baseline import TritonBaseline
from tileviz.measured import Timing

HOPPER, AMPERE = (9, 0), (8, 0)


def triton_of(kernel: str) -> TritonBaseline:
    """The Triton program that a kernel is set against."""
    return next(b for b in kernels.code(kernel).baselines if isinstance(b, TritonBaseline))


def test_the_kernels_that_come_with_tileviz_have_one_and_it_comes_last():
    for name in ("vector_add", "gemm", "gemm_bias_gelu", "softmax", "flash_attention"):
        listed = expanded(kernels.code(name).baselines, "cpu")
        assert listed[-1] is triton_of(name) and listed[-1].name == "triton"


def setting(device="cpu", problem=None):
    A, B = torch.ones(4, 4), torch.ones(4, 4)
    check = lambda output, **how: verify(output, A.double() @ B.double(), dtype="float32", accumulate=4, error_scale="sum", **how)
    again = lambda run, **how: check(run(), **how)
    time = lambda run: Timing((1.0,), "scripted", "cold")
    return Setting(problem or {"dtype": "float32"}, device, (A, B), ScriptedTimer(iter(())), check, time, again)


def test_on_the_cpu_it_is_listed_with_its_reason():
    result = run_baseline(setting(), triton_of("gemm"))
    assert (result.name, result.title, result.status, result.reason) == ("triton", "Triton", "unsupported", "runs on a GPU only")


def test_without_triton_the_line_that_gets_it_is_said(monkeypatch):
    monkeypatch.setattr(triton_baseline.importlib.util, "find_spec", lambda name: None)
    assert run_baseline(setting("cuda:0"), triton_of("gemm")).reason == "Triton is not installed; pip install triton"


def test_a_scale_that_is_not_positive_is_not_taken(monkeypatch):
    monkeypatch.setattr(triton_baseline.importlib.util, "find_spec", lambda name: object())
    assert "positive scale" in triton_of("flash_attention").unavailable({"scale": -0.5})
    assert triton_of("flash_attention").unavailable({"scale": None}) is None and triton_of("gemm").unavailable({}) is None


def test_float32_products_are_in_tf32_as_ours_are_and_sums_stay_float32():
    assert triton_of("gemm").math_mode({"dtype": "float32"}) == "TF32"
    assert triton_of("flash_attention").math_mode({"dtype": "bfloat16"}) == "bfloat16 in, float32 accumulate"
    assert triton_of("softmax").math_mode({"dtype": "float32"}) == "float32"


class Timed(ScriptedTimer):
    """Reads the microseconds that run() gives."""

    def __init__(self):
        super().__init__(iter(()))

    def sample(self, run, count, l2="cold"):
        return [float(run().us)] * count

    def settle(self, run, count):
        run()


class Slow(torch.Tensor):
    us = 0.0


def program_of(times, wrong=(), broken=()):
    """A stand-in for a Triton program: the config's number says how long it takes."""

    def program(problem, config):
        number = config["number"]

        def call(A, B):
            if number in broken:
                raise RuntimeError("out of resource: shared memory, Required: 278552, Hardware limit: 232448\nmore")
            output = (A @ B + (1 if number in wrong else 0)).as_subclass(Slow)
            output.us = times[number]
            return output

        return call

    return program


def tuned(monkeypatch, times, **faults):
    monkeypatch.setattr(triton_baseline.importlib.util, "find_spec", lambda name: object())
    monkeypatch.setattr(torch.cuda, "get_device_capability", lambda device: HOPPER)
    configs = tuple({"number": n} for n in range(len(times)))
    baseline = TritonBaseline(lambda problem, capability: configs, program_of(times, **faults), kind="any")
    return run_baseline(replace(setting(problem={"dtype": "float32"}), timer=Timed()), baseline)


def test_the_fastest_right_config_is_taken_and_named(monkeypatch):
    result = tuned(monkeypatch, [9.0, 3.0, 5.0, 1.0, 2.0], wrong=(3,), broken=(4,))
    assert result.status == "ok" and result.verdict.ok and result.compile_s is not None
    assert result.kernel_name.endswith("(number=1: the fastest of 3 right configs of 5)")


def test_near_configs_are_timed_again_in_turn_and_a_tie_takes_the_first():
    from types import SimpleNamespace

    from tileviz.bench.timers import ScriptedTimer
    from tileviz.bench.triton_baselines import FINAL_ROUNDS, Attempt, picked

    def attempts(*medians):
        made = []
        for number, median in enumerate(medians):
            attempt = Attempt({"number": number})
            attempt.call, attempt.median_us = lambda *inputs: None, median
            made.append(attempt)
        return made

    def pick(medians, finals):
        """finals: what each near config reads in every final round."""
        script = [value for _ in range(FINAL_ROUNDS) for value in finals for _ in range(25)]
        setting = SimpleNamespace(run_of=lambda call: call, timer=ScriptedTimer(script), l2="cold")
        return picked(attempts(*medians), setting).config["number"]

    assert pick([10.0, 9.9, 20.0], [10.0, 10.01]) == 0
    assert pick([10.0, 9.9, 20.0], [10.2, 9.9]) == 1
    assert pick([10.0, 30.0], []) == 0


def test_when_no_config_is_right_the_first_reason_is_given_and_all_are_kept(monkeypatch):
    result = tuned(monkeypatch, [1.0, 2.0], wrong=(1,), broken=(0,))
    assert result.status == "compile_failed" and result.timing is None
    assert result.reason.startswith("none of 2 Triton configs ran and was right; the first: RuntimeError: out of resource: shared memory")
    assert "number=1: wrong: " in result.detail


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32"])
def test_every_problem_has_configs_and_tma_only_where_it_can_be(dtype):
    problem = {"M": 4096, "N": 4096, "K": 4096, "dtype": dtype, "layout": "NN"}
    assert any(c["tma"] for c in triton_of("gemm").configs(problem, HOPPER))
    for odd in (triton_of("gemm").configs(problem, AMPERE), triton_of("gemm").configs({**problem, "K": 1001}, HOPPER)):
        assert odd and not any(c["tma"] for c in odd)
    for D in (64, 128, 256):
        assert len(triton_of("flash_attention").configs({"D": D, "dtype": dtype}, AMPERE)) >= 2


@pytest.mark.parametrize("N", [1, 7, 1000, 4096, 32768, 65536, 65537, 262144])
def test_a_softmax_of_any_length_has_configs(N):
    found = triton_of("softmax").configs({"N": N}, HOPPER)
    whole, steps = [c for c in found if "rows" in c], [c for c in found if "step" in c]
    assert all(c["width"] >= N for c in whole) and all(c["step"] < N for c in steps)
    assert bool(whole) == (N <= 65536) and found


def test_a_config_in_words():
    assert words({"block_M": 128, "num_warps": 8, "tma": True}) == "block_M=128 num_warps=8 tma"
    assert words({"block_M": 64, "tma": False}) == "block_M=64"


SMALL = [
    ("vector_add", {"N": 100_003, "dtype": "float16"}),
    ("gemm", {"M": 250, "N": 232, "K": 240, "dtype": "float16"}),
    ("gemm", {"M": 250, "N": 231, "K": 243, "dtype": "float32", "layout": "NT"}),
    ("gemm_bias_gelu", {"M": 256, "N": 384, "K": 320, "dtype": "bfloat16", "layout": "NT"}),
    ("gemm_bias_gelu", {"M": 130, "N": 103, "K": 87, "dtype": "float16", "epilogue": "bias_gelu_erf"}),
    ("softmax", {"M": 37, "N": 1000, "dtype": "float16"}),
    ("softmax", {"M": 5, "N": 70001, "dtype": "float32"}),
    ("flash_attention", {"B": 1, "H": 2, "Sq": 300, "Sk": 300, "D": 64, "dtype": "float16"}),
    ("flash_attention", {"B": 1, "H": 2, "Sq": 100, "Sk": 300, "D": 128, "dtype": "bfloat16", "causal": True}),
    ("flash_attention", {"B": 2, "H": 1, "Sq": 300, "Sk": 100, "D": 256, "dtype": "float16", "causal": True}),
    ("flash_attention", {"B": 2, "H": 1, "Sq": 70, "Sk": 90, "D": 64, "dtype": "float32"}),
]


@pytest.mark.gpu
@pytest.mark.parametrize(("name", "problem"), SMALL, ids=lambda v: v if isinstance(v, str) else " ".join(map(str, v.values())))
def test_every_config_that_launches_is_right_and_most_do(name, problem):
    pytest.importorskip("triton")
    kernel = kernels.code(name)
    problem = kernel.problem(problem)
    inputs = kernel.inputs(problem, Draw("cuda:0", 0))
    truth = Truth.of(kernel, problem, inputs)
    how = {"accumulate": kernel.accumulate(problem), "error_scale": kernel.error_scale, "math_mode": triton_of(name).math_mode(problem)}
    failed, offered = [], triton_of(name).configs(problem, torch.cuda.get_device_capability())
    for config in offered:
        try:
            output = triton_of(name).program(problem, config)(*inputs)
            torch.cuda.synchronize()
        except Exception as failure:
            failed.append(f"{words(config)}: {failure}")
            continue
        verdict = verify(output, truth.reference, dtype=problem["dtype"], inputs=inputs, exponents=truth.exponents, **how)
        assert verdict.ok, f"{words(config)}: {verdict.reason}"
    assert len(failed) <= len(offered) // 2, failed


@pytest.mark.gpu
def test_the_picked_triton_gemm_is_timed_like_any_other():
    pytest.importorskip("triton")
    kernel = kernels.code("gemm")
    problem = kernel.problem({"M": 1024, "N": 1024, "K": 1024, "dtype": "float16"})
    inputs = kernel.inputs(problem, Draw("cuda:0", 0))
    reference, timer = reference_of(kernel.reference, problem, inputs), pick_timer("cuda:0")
    check = lambda output, **how: verify(output, reference, dtype="float16", accumulate=1024, error_scale="sum", inputs=inputs, **how)
    again = lambda run, **how: check(run(), **how)
    result = run_baseline(Setting(problem, "cuda:0", inputs, timer, check, lambda run: time_callable(run, timer), again), triton_of("gemm"))
    assert result.status == "ok", (result.reason, result.detail)
    assert "the fastest of" in result.kernel_name and result.timing.n >= 50 and result.compile_s > 0
