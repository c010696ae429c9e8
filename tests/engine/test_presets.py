"""The nearest problem wins: which preset a problem starts from, and what of it stands."""

import math
from dataclasses import replace

import pytest

from tests import recordings
from tests.asked import resolve
from tests.recordings import SMALL, SQUARE
from tileviz import kernels
from tileviz.compiler import targets
from tileviz.engine import presets
from tileviz.errors import BadRequest, UnknownName
from tileviz.records import Device, TunedConfig
from tileviz.store import Store, StoreWithRecorded

GEMM, SM_90A = kernels.kernel("gemm"), targets.target("sm_90a")
CPU = Device("cpu", "a CPU", "cpu", {"memory_bytes": 8 << 30})
H200 = Device("cuda:0", "NVIDIA H200", "sm_90a", {"memory_bytes": 150 << 30})


def tuned(problem: dict, name: str = "", created: float = 1.0, *, device: str = "NVIDIA H200", recorded: bool = False, **config):
    full = GEMM.problem(problem)
    values = recordings.config_of(full, **config)
    return TunedConfig(name or str(problem["M"]), "gemm", full, values, "sm_90a", device, 100.0, created=created, recorded=recorded)


def start(problem: dict, *offered: TunedConfig, **more):
    return presets.start(GEMM, GEMM.problem(problem), SM_90A, offered, **more)


def test_the_nearest_problem_wins():
    small, large = tuned(SMALL, block_M=64), tuned(SQUARE, block_M=256, num_stages=2)
    assert start({"M": 1024, "N": 1024, "K": 2048}, large, small)[1] == small
    config, found = start({"M": 4096, "N": 8192, "K": 4096}, large, small)
    assert found == large and config == large.config


def test_sizes_count_in_doublings_and_another_dtype_or_layout_is_another_kernel():
    one = GEMM.problem(SQUARE)
    assert presets.distance(GEMM, one, one) == 0
    assert presets.distance(GEMM, one, {**one, "M": 16384}) == presets.distance(GEMM, {**one, "M": 16384}, one) == 2
    assert presets.distance(GEMM, one, {**one, "M": 8192, "N": 2048}) == pytest.approx(math.sqrt(2))
    assert presets.distance(GEMM, one, {**one, "dtype": "bfloat16"}) == presets.distance(GEMM, one, {**one, "layout": "NT"}) == math.inf


def test_more_of_the_same_blocks_weighs_little():
    softmax, attention = kernels.kernel("softmax"), kernels.kernel("flash_attention")
    rows, columns = softmax.problem({"M": 8192, "N": 8192}), {"M": 8192, "N": 16384}
    assert presets.distance(softmax, rows, {**rows, "M": 16384}) < presets.distance(softmax, rows, {**rows, **columns})
    long = attention.problem({})
    assert presets.distance(attention, long, {**long, "B": 2 * long["B"]}) < presets.distance(attention, long, {**long, "Sq": 8192})
    assert presets.distance(attention, long, {**long, "causal": not long["causal"]}) == math.inf
    assert presets.distance(attention, long, {**long, "scale": 0.5}) == 0


def test_beyond_the_limit_the_plain_defaults_stand():
    far = tuned({"M": 16, "N": 4096, "K": 4096}, block_M=64)
    assert start(SQUARE, far) == (GEMM.config({}, SM_90A, GEMM.problem(SQUARE)), None)


def test_the_users_own_wins_a_tie_and_a_nearer_recorded_one_wins_over_it():
    own, recorded = tuned(SQUARE, "own", block_M=64), tuned(SQUARE, "recorded", recorded=True)
    assert start(SQUARE, recorded, own)[1] == own
    further = tuned({"M": 8192, "N": 8192, "K": 8192}, "further")
    assert start(SQUARE, recorded, further)[1] == recorded


def test_of_two_of_ones_own_the_newer_wins():
    older, newer = tuned(SQUARE, "older", 1.0), tuned(SQUARE, "newer", 2.0)
    assert start(SQUARE, older, newer)[1] == newer


def test_another_device_stands_behind_by_a_doubling():
    here, elsewhere = tuned({"M": 8192, "N": 4096, "K": 4096}, "here"), tuned(SQUARE, "elsewhere", device="NVIDIA H100")
    assert start(SQUARE, here, elsewhere, device="NVIDIA H200")[1] == here
    assert start(SQUARE, here, elsewhere)[1] == elsewhere


def test_a_preset_that_breaks_a_rule_here_is_passed_over():
    wide = tuned(SQUARE, "wide", block_M=128, block_N=256, block_K=64, num_stages=4)
    broken = replace(wide, id="broken", config={**wide.config, "num_stages": 64})
    assert start(SQUARE, broken)[1] is None
    assert start(SQUARE, broken, replace(wide, created=0.5))[1].id == "wide"


def test_a_preset_of_another_form_of_the_kernel_is_passed_over():
    made = tuned(SQUARE)
    less = replace(made, config={name: value for name, value in made.config.items() if name != "panel_size"})
    more = replace(made, config={**made.config, "no_such_knob": 3})
    assert start(SQUARE, less)[1] is None and start(SQUARE, more)[1] is None


def test_what_is_given_stands_and_the_preset_fills_the_rest():
    wide = tuned(SQUARE, block_M=256, num_stages=2)
    config, found = start(SQUARE, wide, given={"panel_size": 16, "tl.enable_fast_math": "true"})
    assert found == wide and config == {**wide.config, "panel_size": 16, "tl.enable_fast_math": True}
    assert start(SQUARE, wide, given={"num_stages": 4, "block_K": 128})[1] is None, "together they break a rule"
    with pytest.raises(UnknownName):
        start(SQUARE, wide, given={"block_Q": 3})


def test_another_target_takes_nothing():
    assert presets.start(GEMM, GEMM.problem(SQUARE), targets.target("sm_80"), [tuned(SQUARE)])[1] is None


# requests


def test_run_compile_and_every_page_agree():
    offered = [tuned(SQUARE, block_M=256, num_stages=2)]
    run = resolve("gemm", SQUARE, devices=[H200, CPU], presets=offered)
    compiled = resolve("gemm", SQUARE, kind="compile", target="sm_90a", devices=[CPU], presets=offered)
    assert run.config == compiled.config == offered[0].config
    assert run.preset == compiled.preset == "your sweep on NVIDIA H200 for this problem"


def test_a_request_says_where_its_knobs_are_from():
    offered = [tuned(SQUARE, created=1_795_900_000.0, recorded=True)]
    asked = {"kind": "compile", "target": "sm_90a", "devices": [CPU], "presets": offered}
    near = resolve("gemm", {**SQUARE, "M": 2048}, **asked)
    assert near.preset == "recorded on NVIDIA H200, 2026-11-28, at M=4096 N=4096 K=4096"
    assert resolve("gemm", SQUARE, near.config, **asked).preset == "", "every knob was given"
    assert resolve("gemm", SQUARE, kind="compile", target="sm_90a", devices=[CPU]).preset == ""


# from a sweep


@pytest.fixture
def swept(tmp_path) -> Store:
    store = Store(tmp_path)
    recordings.sweep(store, (SQUARE, SMALL))
    return store


def test_the_best_of_each_problem_is_kept(swept):
    found = presets.keep(swept, "r1")
    assert [(t.problem["M"], t.config["block_M"], t.device, t.baseline) for t in found] == [
        (4096, 128, "NVIDIA H200", "cuBLAS"),
        (1024, 128, "NVIDIA H200", "cuBLAS"),
    ]
    assert found[0].median_us == pytest.approx(204.8, rel=0.01) and found[0].speedup == pytest.approx(0.9) and found[0].sweep == "r1"
    assert {t.id for t in swept.tuned()} == {t.id for t in found}
    presets.keep(swept, "r1")
    assert len(swept.tuned()) == 2
    assert len(presets.kept(swept, swept.sweep("r1"))) == 2


def test_nothing_is_kept_of_a_sweep_that_is_not_there_or_found_nothing(swept):
    with pytest.raises(BadRequest, match="no sweep 'x'"):
        presets.keep(swept, "x")
    swept.create_sweep("empty", {"kernel": "gemm", "target": "cpu", "problems": [{}]}, [], state="done")
    with pytest.raises(BadRequest, match="no config with a time"):
        presets.keep(swept, "empty")


def test_the_best_of_another_form_of_the_kernel_is_not_kept(swept):
    """Its configs lack a knob that came since: nothing would start from them."""
    with swept.database.transaction() as connection:
        connection.execute("UPDATE trial SET doc=json_remove(doc, '$.config.store')")
    with pytest.raises(BadRequest, match="r1 is of another form of gemm, knobs store: nothing starts from it; sweep again"):
        presets.keep(swept, "r1")
    assert swept.tuned() == []


def test_the_recorded_ones_come_after_the_users_own(tmp_path, monkeypatch):
    monkeypatch.setenv("TILEVIZ_RECORDED", str(recordings.made(tmp_path)))
    store = StoreWithRecorded(tmp_path / "own")
    store.save_tuned(tuned(SMALL, "own"))
    assert [t.recorded for t in presets.known(store, "gemm")] == [False, True]
    assert presets.known(store, "softmax") == ()
    with pytest.raises(BadRequest, match="comes with tileviz"):
        presets.keep(store, "r1")
