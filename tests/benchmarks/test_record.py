"""What is recorded on a GPU, and the file made of it."""

import time
from dataclasses import replace
from pathlib import Path

import pytest

from benchmarks import record
from benchmarks.recorded_plans import PLANS, Plan, full_problems, neighbours, shared_configs, starts, wide_configs
from tests import recordings
from tests.recordings import SM_90A, SMALL, SQUARE
from tileviz import kernels
from tileviz.engine.requests import local_devices
from tileviz.store import Store
from tileviz.store.recorded import Recorded


def test_a_plan_is_of_a_kernel_that_is_here_and_has_eight_problems_or_more():
    assert {plan.kernel for plan in PLANS} <= set(kernels.names())
    for plan in PLANS:
        problems = full_problems(plan)
        assert 8 <= len(problems) <= 30 and len({str(problem) for problem in problems}) == len(problems)
        assert {knob.name for knob in kernels.kernel(plan.kernel).knobs} >= set(plan.plane)


@pytest.mark.parametrize("plan", PLANS, ids=lambda plan: plan.kernel)
def test_a_wide_sweep_holds_allowed_configs_once_and_some_that_a_rule_forbids(plan):
    kernel, problem, configs = kernels.kernel(plan.kernel), full_problems(plan)[0], wide_configs(plan, SM_90A)
    broken = [bool(kernel.rules(problem, config, SM_90A).broken) for config in configs]
    codes = [str(sorted(kernel.same_code(problem, config, SM_90A).items(), key=str)) for config in configs]
    assert len(set(codes)) == len(codes) and 15 <= broken.count(False) <= plan.wide and broken.count(True) <= plan.wide // 2
    assert kernel.config({}, SM_90A, problem) in configs
    assert configs == wide_configs(plan, SM_90A)


@pytest.mark.parametrize("plan", PLANS, ids=lambda plan: plan.kernel)
def test_a_shared_sweep_holds_what_the_kernel_takes_for_each_problem_and_the_best_so_far(plan):
    kernel, problems = kernels.kernel(plan.kernel), full_problems(plan)
    best = [config for config in wide_configs(plan, SM_90A) if not kernel.rules(problems[0], config, SM_90A).broken][-3:]
    configs = shared_configs(plan, SM_90A, best)
    own = [kernel.config({}, SM_90A, problem) for problem in problems]
    assert all(any(kernel.same_code(problems[0], c, SM_90A) == kernel.same_code(problems[0], o, SM_90A) for c in configs) for o in own)
    assert len(configs) <= max(plan.shared, len(starts(kernel, problems, SM_90A, plan.extra)))
    assert best[0] in configs or len(own) >= plan.shared


def test_a_neighbour_differs_in_one_knob():
    plan, kernel = PLANS[0], kernels.kernel(PLANS[0].kernel)
    base = kernel.config({}, SM_90A, full_problems(plan)[0])
    assert {sum(base[name] != config[name] for name in base) for config in neighbours(plan, kernel, SM_90A, base)} == {1}


@pytest.fixture
def store(tmp_path) -> Store:
    store = Store(tmp_path / "home")
    recordings.sweep(store, (SQUARE, SMALL), "both", created=recordings.CREATED + 10)
    recordings.sweep(store, (SQUARE,), "deep")
    return store


def test_a_problem_that_was_swept_widely_has_its_preset_from_there(store):
    record.keep_presets(store, [store.sweep("deep"), store.sweep("both")])
    assert {(tuned.problem["M"], tuned.sweep) for tuned in store.tuned()} == {(4096, "deep"), (1024, "both")}


def test_the_best_few_and_the_default_keep_their_code_and_the_report_counts_the_bytes(store, tmp_path):
    record.keep_presets(store, record.gpu_sweeps(store))
    made = record.made(store, record.gpu_sweeps(store), tmp_path / "data" / "recorded.db")
    assert (made.sweeps, made.trials, made.with_code, made.presets) == (2, 12, 3, 2)
    said = record.report(store, record.gpu_sweeps(store), made)
    assert "gemm M=4096 N=4096 K=4096" in said and "0.900 times as fast as cuBLAS" in said and f"{made.parts['trial']:,}" in said
    assert len(Recorded(made.path).sweeps()) == 2


def test_another_home_is_left_as_it_is(store, tmp_path, capsys):
    before = {path: path.read_bytes() for path in store.home.rglob("*") if path.is_file()}
    out = tmp_path / "recorded.db"
    assert record.main(["--from", str(store.home), "--out", str(out)]) == 0
    assert "2 sweeps" in capsys.readouterr().out and len(Recorded(out).tuned("gemm")) == 2
    assert {path: path.read_bytes() for path in before} == before and store.tuned() == []


def test_without_a_gpu_it_says_so(tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("TILEVIZ_HOME", str(tmp_path))
    assert record.main(["--out", str(tmp_path / "x.db"), "--device", "cuda:9"]) == 1
    assert "there is no GPU 'cuda:9' here" in capsys.readouterr().err


def test_a_sweep_of_another_form_of_the_kernel_is_not_taken_for_this_one(store):
    full = full_problems(Plan("gemm", (SQUARE,), ()))
    assert record.stored_sweep(store, "gemm", full) is None
    for trial in store.trials("gemm", limit=100):
        own = {**trial.fingerprint, "kernel_source": kernels.kernel("gemm").source_hash}
        store.save_trial(replace(trial, fingerprint=own))
    assert record.stored_sweep(store, "gemm", full).id == "deep"


def test_a_recording_runs_its_sweeps_and_then_has_nothing_left_to_do(home, capsys):
    sizes = ({"N": 4096, "dtype": "float32"}, {"N": 1 << 16, "dtype": "float32"})
    plan = Plan("vector_add", sizes, plane=("block_N",), wide=3, shared=2)
    store, device = Store(home), next(device for device in local_devices() if device.id == "cpu")
    left = record.Recorder(store, device, time.monotonic() + 150, "none").run([plan])
    views = record.planned_sweeps(store, [plan])
    assert left == [] and [len(view.request["problems"]) for view in views] == [1, 2] and all(view.counts.get("ok") for view in views)
    capsys.readouterr()
    record.Recorder(store, device, time.monotonic() + 30, "none").run([plan])
    assert capsys.readouterr().err.count("recorded before") == 2 and len(store.sweeps()) == 2
    record.keep_presets(store, views)
    made = record.made(store, views, Path(home) / "recorded.db")
    assert made.with_code >= 2 and {tuned.problem["N"] for tuned in Recorded(made.path).tuned()} == {4096, 1 << 16}


def test_when_no_time_is_left_what_is_missing_is_named(store, monkeypatch):
    monkeypatch.setattr(record.Recorder, "_ceilings", lambda self: None)
    recorder = record.Recorder(store, recordings.H200, time.monotonic() - 1, "all")
    assert recorder.run(PLANS[:1]) == ["wide sweep of gemm", "shared sweep of gemm"]
