"""Baselines run for real on the CPU; whatever goes wrong becomes a status with a sentence."""

from dataclasses import dataclass, field, replace

import pytest
import torch

from tileviz.bench import baselines
from tileviz.bench.baselines import Setting, against, expanded, run_baseline
from tileviz.bench.draws import Draw
from tileviz.bench.pick_timer import pick_timer
from tileviz.bench.timers import Plan, ScriptedTimer, time_callable
from tileviz.bench.verify import verify
from tileviz.errors import CompileFailed
from tileviz.measured import BaselineResult, Timing

QUICK = Plan(warmup=1, max_seconds=0.2, min_samples=6, max_samples=20)


@dataclass(frozen=True)
class Stated:
    """Has the fields of kernels.toolkit.base.Baseline, which this island must not import."""

    name: str = "eager"
    title: str = "PyTorch eager"
    make: object = lambda problem: torch.matmul
    kind: str = "any"
    unavailable: object = lambda problem: None
    math_mode: object = lambda problem: "float32"
    compiles: bool = False
    seen: list = field(default_factory=list)


@pytest.fixture
def setting():
    draw = Draw("cpu", 0)
    A, B = draw(96, 64), draw(64, 80)
    reference = A.double() @ B.double()

    def verdict_of(output, *, math_mode, roundings, reference=reference):
        return verify(
            output, reference, dtype="float32", math_mode=math_mode, accumulate=64, error_scale="sum", inputs=(A, B), roundings=roundings
        )

    def verdict_of_changed(run, **how):
        A.neg_()
        try:
            return verdict_of(run(), reference=-reference, **how)
        finally:
            A.neg_()

    timer = pick_timer("cpu")
    return Setting({"K": 64}, "cpu", (A, B), timer, verdict_of, lambda run: time_callable(run, timer, QUICK), verdict_of_changed)


def test_one_that_gives_back_what_it_computed_first_is_wrong_and_takes_no_turns(setting):
    kept = []
    result = run_baseline(setting, Stated(make=lambda problem: lambda A, B: (kept.append(A @ B), kept[0])[1]))
    assert result.status == "wrong_result" and result.reason.startswith("right at first, wrong once its inputs had changed: ")
    assert result.timing is None and not setting.ready


def test_eager_is_checked_and_timed_on_one_thread(setting):
    threads = torch.get_num_threads()
    used = []
    result = run_baseline(setting, Stated(make=lambda problem: lambda A, B: (used.append(torch.get_num_threads()), A @ B)[1]))
    assert result.status == "ok" and result.verdict.ok and result.timing.n >= 6 and result.timing.timer == "perf_counter"
    assert result.math_mode == "float32" and result.kernel_name == "" and result.compile_s is None
    assert set(used) == {1} and torch.get_num_threads() == threads


@pytest.mark.slow
def test_torch_compile_runs_and_its_seconds_are_apart(setting, tmp_path, monkeypatch):
    monkeypatch.setenv("TORCHINDUCTOR_CACHE_DIR", str(tmp_path))
    monkeypatch.setattr(torch._dynamo.config, "disable", False)
    make = lambda problem: lambda A, B: torch.relu(A @ B) - torch.relu(-(A @ B))
    result = run_baseline(setting, Stated("torch_compile", "torch.compile", make, compiles=True))
    if result.status == "unsupported":
        pytest.skip(result.reason)
    assert result.status == "ok", result.reason
    assert result.compile_s > 0.05 and result.timing.median_us < result.compile_s * 1e6


def test_a_wrong_baseline_is_not_timed(setting):
    result = run_baseline(setting, Stated(make=lambda problem: lambda A, B: (A @ B) * 1.01))
    assert result.status == "wrong_result" and result.timing is None and result.reason == result.verdict.reason != ""


def test_out_of_memory_is_a_reason_and_never_a_zero(setting):
    result = run_baseline(setting, Stated(make=lambda problem: lambda A, B: torch.empty(1 << 62, dtype=torch.uint8)))
    assert result.status == "runtime_failed" and result.reason.startswith("out of memory") and result.timing is None

    def full(A, B):
        raise torch.OutOfMemoryError("CUDA out of memory. Tried to allocate 64 GiB.\nMore text")

    result = run_baseline(setting, Stated(make=lambda problem: full))
    assert result.reason == "out of memory: 68.7 GB were asked for; use smaller sizes" and "More text" in result.detail


@pytest.mark.parametrize(
    ("failure", "status", "reason"),
    [
        (ValueError("no kernel for this\nlong text"), "runtime_failed", "ValueError: no kernel for this"),
        (CompileFailed("the compiler refused it", "log"), "compile_failed", "the compiler refused it"),
        (RuntimeError(), "runtime_failed", "RuntimeError: RuntimeError"),
    ],
)
def test_any_failure_becomes_one_sentence_with_the_text_kept(setting, failure, status, reason):
    def fail(problem):
        raise failure

    result = run_baseline(setting, Stated(make=fail))
    assert (result.status, result.reason) == (status, reason) and "\n" not in result.reason


def test_a_failure_of_the_compiler_is_told_from_one_of_the_run():
    class Refused(RuntimeError):
        pass

    Refused.__module__ = "torch._dynamo.exc"
    assert baselines.sentence_of(Refused("cannot trace")) == ("compile_failed", "torch.compile failed: cannot trace")


def test_what_cannot_run_here_is_listed_with_its_reason(setting, monkeypatch):
    assert run_baseline(setting, Stated(kind="cuda")).reason == "runs on a GPU only"
    unlike = run_baseline(setting, Stated(unavailable=lambda problem: "its mask is aligned top-left"))
    assert (unlike.status, unlike.reason) == ("unsupported", "its mask is aligned top-left")
    monkeypatch.setenv("CXX", "no-such-compiler")
    result = run_baseline(setting, Stated(compiles=True))
    assert result.status == "unsupported" and "no-such-compiler was not found; apt-get install g++" in result.reason


def test_on_a_gpu_torch_compile_is_run_once_a_mode():
    stated = (Stated(), Stated("torch_compile", "torch.compile", compiles=True))
    assert [b.name for b in expanded(stated, "cpu")] == ["eager", "torch_compile"]
    assert [b.name for b in expanded(stated, "cuda:0")] == ["eager", "torch_compile", "torch_compile_max_autotune"]
    assert expanded(stated, "cuda:0")[2].title == "torch.compile max-autotune"


def test_speed_up_is_their_median_over_ours_and_missing_where_it_means_nothing():
    ours = time_callable(None, ScriptedTimer([10.0, 10.1] * 100), Plan(1, 9.0))
    theirs = time_callable(None, ScriptedTimer([20.0, 20.1] * 100), Plan(1, 9.0))
    result = against(BaselineResult("eager", "PyTorch eager", "ok", timing=theirs), ours)
    assert result.speedup == pytest.approx(2, rel=0.01) and result.comparison.verdict == "faster"
    assert against(replace(result, comparison=None, speedup=None, timing=replace(theirs, implausible="too fast")), ours).speedup is None
    assert against(BaselineResult("x", "x", "runtime_failed"), ours).speedup is None
    assert against(BaselineResult("x", "x", "ok", timing=Timing((1.0,), "cuda_events", "cold")), ours).speedup is None
    assert against(BaselineResult("x", "x", "ok", timing=theirs), None).comparison is None


@pytest.mark.gpu
def test_a_gpu_baseline_records_the_kernel_it_launched():
    draw = Draw("cuda:0", 0)
    A, B = draw(1024, 1024, dtype="float16"), draw(1024, 1024, dtype="float16")
    reference = A.double() @ B.double()

    def verdict_of(output, *, math_mode, roundings):
        return verify(output, reference, dtype="float16", math_mode=math_mode, accumulate=1024, error_scale="sum", roundings=roundings)

    timer = pick_timer("cuda:0")
    again = lambda run, **how: verdict_of(run(), **how)
    at = Setting({}, "cuda:0", (A, B), timer, verdict_of, lambda run: time_callable(run, timer), again)
    result = run_baseline(at, Stated(math_mode=lambda problem: "float16 in, float32 accumulate"))
    assert result.status == "ok", result.reason
    assert result.kernel_name and result.timing.timer == timer.name
