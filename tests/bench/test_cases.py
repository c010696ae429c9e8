"""Cases that went wrong for people who time GPU kernels: counting work (F01 to F05) and fair benchmarks (B01 to B07, B11)."""

from dataclasses import replace

import pytest

from tests.bench.judged import verify
from tileviz import kernels
from tileviz.bench import baselines
from tileviz.bench.baselines import COMPILE_MODES, against, expanded
from tileviz.bench.draws import Draw
from tileviz.bench.peaks import peaks_of
from tileviz.bench.roofline import implausible, l2_resident, marked, rates
from tileviz.bench.statistics import compare, tied_best
from tileviz.bench.timers import Plan, ScriptedTimer, empty_kernel_us, time_callable
from tileviz.errors import NotComparable
from tileviz.measured import BaselineResult, Timing
from tileviz.records import Cost
from tileviz.records_json import to_json, trial_from_json

H200 = peaks_of("NVIDIA H200")


def cost(name, **problem):
    kernel = kernels.code(name)
    return kernel.cost(kernel.problem(problem))


def timing(us, l2="cold", n=50, flush="read"):
    return Timing((us,) * n, "cupti", l2, flush=flush if l2 == "cold" else "none")


# F: counting


@pytest.mark.parametrize(
    ("problem", "flops"),
    [
        ({"Sq": 1024, "Sk": 1024}, 8.590e9),
        ({"Sq": 1024, "Sk": 1024, "causal": True}, 4.295e9),
        ({"Sq": 1024, "Sk": 4096, "causal": True}, 30.06e9),
        ({"Sq": 1024, "Sk": 4096}, 34.36e9),
    ],
)
def test_f01_f02_attention_counts_as_papers_do(problem, flops):
    found = cost("flash_attention", B=1, H=16, D=128, **problem)
    assert found.flops == pytest.approx(flops, rel=5e-4)
    assert ("max(0, Sk - Sq)" in found.flops_formula) == problem.get("causal", False)


def test_f03_decode_shows_both_rates():
    tflops, gbps = rates(Cost(2 * 128 * 1 * 128 * 1151 * (576 + 512), 2 * (128 * 1151 * 576 + 128 * 1 * 128 * (576 + 512))), timing(145))
    assert tflops == pytest.approx(283, abs=0.5) and gbps == pytest.approx(1414, abs=5)


def test_f04_memory_bound_kernels_count_the_minimum_traffic():
    assert cost("softmax", M=8192, N=32768, dtype="bfloat16").bytes == pytest.approx(1.074e9, rel=1e-3)
    assert cost("vector_add", N=1 << 20, dtype="float32").bytes == 12_582_912
    plain, fused = (cost(name, M=4096, N=2048, K=1024, dtype="float16") for name in ("gemm", "gemm_bias_gelu"))
    assert plain.bytes == 2 * (4096 * 1024 + 1024 * 2048 + 4096 * 2048)
    assert fused.flops == plain.flops == 2 * 4096 * 2048 * 1024 and fused.bytes == plain.bytes + 2048 * 2


def test_f05_missing_is_no_number():
    lost = BaselineResult("eager", "PyTorch eager", "runtime_failed", "out of memory")
    assert against(lost, timing(10)).speedup is None and against(lost, timing(10)).comparison is None
    assert rates(Cost(41.03e9, 205e6), timing(100_160))[0] == pytest.approx(0.41, abs=0.001)
    assert rates(Cost(1e9, 1e9), Timing((), "cupti", "cold")) == (None, None)


def test_b11_the_unit_is_microseconds_and_stands_in_every_name():
    tflops, _ = rates(cost("gemm", M=8192, N=8192, K=256, dtype="float16"), timing(0.089056e3))
    assert tflops == pytest.approx(385.8, abs=0.05)
    doc = to_json(timing(89.056))
    assert {"median_us", "p10_us", "p90_us", "samples_us", "floor_us"} <= set(doc)


# B: fair


def test_b01_a_warm_rate_over_the_memory_is_marked_and_a_cold_one_is_refused():
    work = cost("vector_add", N=1 << 20, dtype="float32")
    warm = marked(timing(2.3, "warm"), work, H200, "float32", 0.9)
    assert warm.l2_resident and not warm.implausible and warm.l2 == "warm"
    cold = marked(timing(2.3), work, H200, "float32", 0.9)
    assert cold.implausible and not cold.l2_resident
    assert not marked(timing(4.2), work, H200, "float32", 0.9).l2_resident and l2_resident(work, timing(2.3, "warm"), H200)


def test_b01_unlike_modes_and_flushes_are_not_compared():
    with pytest.raises(NotComparable, match="unlike L2 modes: cold and warm"):
        compare(timing(5), timing(5, "warm"))
    with pytest.raises(NotComparable, match="unlike flushes of L2: read and write"):
        compare(timing(5), timing(5, flush="write"))
    assert compare(timing(5), timing(5, flush="")).verdict == "same"


@pytest.mark.parametrize(
    ("mode", "l2", "recorded"),
    [
        ("read", "cold", ("cold", "read")),
        ("write", "cold", ("cold", "write")),
        ("none", "cold", ("warm", "none")),
        ("read", "warm", ("warm", "none")),
    ],
)
def test_b01_the_flush_is_stored_and_without_one_the_l2_is_called_warm(mode, l2, recorded):
    timer = ScriptedTimer([1.0] * 500)
    timer.flush_mode = mode
    found = time_callable(None, timer, Plan(1, 9.0), l2=l2)
    assert (found.l2, found.flush) == recorded


def test_b02_the_floor_travels_with_the_value_and_what_is_near_it_is_never_ranked():
    timer = ScriptedTimer([0.9] * 1000)
    floor = empty_kernel_us(timer)
    tiny = marked(timing(1.3), Cost(1024, 12288), H200, "float32", floor)
    large = marked(timing(43.9), Cost(1 << 24, 3 << 26), H200, "float32", floor)
    assert tiny.floor_us == large.floor_us == 0.9 and tiny.launch_bound and not large.launch_bound
    assert tied_best({"tiny": tiny, "large": large}) == ["large"]


def test_b03_a_lost_or_a_doubled_measurement_is_seen():
    work = cost("vector_add", N=1 << 24, dtype="float32")
    assert "no time" in implausible(work, timing(0.0), H200) and "41.94 us" in implausible(work, timing(5), H200)
    assert implausible(work, timing(43.9), H200) == ""
    with pytest.raises(NotComparable, match="implausible"):
        compare(timing(50), replace(timing(5), implausible="implausible: 5 us"))


def test_b05_clocks_and_the_reason_for_measuring_again_survive_the_store():
    seen = replace(
        timing(5),
        sm_clock_mhz=1755.0,
        throttled=True,
        throttle_reasons=("power brake",),
        earlier_us=(6.0, 7.0),
        note="measured again once",
        floor_us=0.9,
    )
    trial = trial_from_json(
        {
            "trial": "t",
            "kernel": "gemm",
            "problem": {},
            "config": {},
            "target": "sm_90a",
            "device": "cuda:0",
            "status": "ok",
            "timing": to_json(seen),
        }
    )
    assert trial.timing == seen


def test_b06_attention_has_every_backend_by_name_beside_what_auto_chose():
    offered = [b.name for b in expanded(kernels.code("flash_attention").baselines, "cuda:0")]
    assert {"eager", "sdpa_flash", "sdpa_cudnn", "sdpa_efficient", "sdpa_math", "triton"} <= set(offered)
    assert "auto" in next(b.title for b in kernels.code("flash_attention").baselines if b.name == "eager")


@pytest.mark.parametrize("name", ["sdpa_cudnn"])
def test_b06_unlike_masks_are_not_compared(name):
    kernel = kernels.code("flash_attention")
    baseline = next(b for b in kernel.baselines if b.name == name)
    assert "not comparable" in baseline.unavailable(kernel.problem({"Sq": 128, "Sk": 256, "causal": True}))
    assert baseline.unavailable(kernel.problem({"Sq": 128, "Sk": 128, "causal": True})) is None


def test_b07_torch_compile_is_run_in_both_modes_on_a_gpu():
    offered = [b.name for b in expanded(kernels.code("softmax").baselines, "cuda:0")]
    assert offered == ["eager", "torch_compile", "torch_compile_max_autotune", "triton"]
    assert COMPILE_MODES["_max_autotune"] == "max-autotune-no-cudagraphs"


def test_b07_every_compile_is_static_and_dynamo_starts_afresh_once_a_trial(monkeypatch):
    import torch

    compiled, resets = [], []
    monkeypatch.setattr(torch, "compile", lambda call, **how: (compiled.append(how), call)[1])
    monkeypatch.setattr(torch._dynamo, "reset", lambda: resets.append(1))
    monkeypatch.setattr(baselines, "no_compiler", lambda kind: "")
    kernel = kernels.code("softmax")
    both = [replace(b, kind="any") for b in expanded(kernel.baselines, "cuda:0") if b.compiles]
    for N in (1024, 2048):
        problem = kernel.problem({"M": 4, "N": N}, "cpu")
        inputs = kernel.inputs(problem, Draw("cpu", 0))
        right = torch.softmax(inputs[0].double(), 1)
        check = lambda output, right=right, N=N, **how: verify(output, right, dtype="float32", accumulate=N, error_scale="shares", **how)
        again = lambda run, check=check, **how: check(run(), **how)
        setting = baselines.Setting(problem, "cpu", inputs, ScriptedTimer([]), check, lambda run: timing(5), again)
        assert [baselines.run_baseline(setting, b).status for b in both] == ["ok", "ok"]
    assert compiled == [{"dynamic": False, "mode": mode} for mode in ("default", "max-autotune-no-cudagraphs")] * 2
    assert len(resets) == 2


def test_b04_the_distribution_of_the_inputs_is_part_of_the_trial():
    trial = trial_from_json(
        {
            "trial": "t",
            "kernel": "gemm",
            "problem": {},
            "config": {},
            "target": "cpu",
            "device": "cpu",
            "status": "ok",
            "inputs": "zeros",
            "seed": 7,
        }
    )
    assert (trial.inputs, trial.seed) == ("zeros", 7)
