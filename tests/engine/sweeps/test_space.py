"""The space of a sweep: what was asked for, what is left of it, and why."""

import math

import pytest

from tests.asked import resolve, resolve_sweep
from tileviz import kernels
from tileviz.bench.facts import cpu_device
from tileviz.compiler import targets
from tileviz.engine.sweeps.budget import Budget, budget_of
from tileviz.engine.sweeps.model import machine_of, predict_us
from tileviz.engine.sweeps.request import sweep_from_json
from tileviz.engine.sweeps.search import Search
from tileviz.engine.sweeps.space import MOST_BY_DEFAULT, offered_values, rule_kind
from tileviz.errors import BadValue, UnknownName
from tileviz.kernels import kernel
from tileviz.records import Device, TunedConfig
from tileviz.records_json import to_json

H200 = Device("cuda:0", "NVIDIA H200", "sm_90a", {"sm_count": 132, "memory_bytes": 140 << 30})
ADA = Device("cuda:0", "NVIDIA GeForce RTX 4090", "sm_89", {"sm_count": 128, "memory_bytes": 24 << 30})
OLD = {
    "block_M": [128], "block_N": [128], "block_K": [64], "num_stages": [3], "threads": [256], "enable_swizzle": [True], "panel_size": [10],
}  # fmt: skip
ONE = {knob.name: [knob.default] for knob in kernel("gemm").knobs} | OLD
"""Every knob of GEMM at one value."""


def space(values, device=H200, problems=None, name="gemm", **more):
    return resolve_sweep(name, problems, values, devices=[device], **more)


def test_five_requested_with_two_repeats_are_three_unique():
    request, found = space({**ONE, "block_M": [64, 128, 64, 256, 128]})
    assert (request.counted["requested"], request.counted["unique"], request.counted["duplicates"]) == (5, 3, 2)
    points = list(found.points())
    assert [p.same_as for p in points] == [None, None, 0, None, 1]
    assert [p.config["block_M"] for p in points] == [64, 128, 64, 256, 128]


def test_a_list_of_configs_is_kept_in_order_repeats_and_all():
    configs = [{"block_M": m} for m in (64, 128, 64, 256, 128)]
    request, found = space(None, configs=configs, fixed={"block_N": 128, "block_K": 64, "num_stages": 3, "threads": 256})
    assert (found.size, request.counted["unique"]) == (5, 3)
    assert [p.config["block_M"] for p in found.points()] == [64, 128, 64, 256, 128]
    assert all(p.config["threads"] == 256 for p in found.points())


def test_knobs_that_are_idle_here_make_no_new_configs():
    request, _ = space({**ONE, "enable_swizzle": [False], "panel_size": [4, 8, 10, 16]})
    assert (request.counted["requested"], request.counted["unique"]) == (4, 1)
    small, tile = {"M": 64, "N": 64, "K": 64}, {"block_N": 16, "block_K": 16}
    values = {"block_M": [16, 32], "threads": [128, 256], "num_stages": [0, 2], "panel_size": [4, 10]}
    others = {name: found[0] for name, found in ONE.items() if name not in values}
    on_cpu, _ = resolve_sweep("gemm", small, values, target="cpu", fixed={**others, **tile})
    assert (on_cpu.counted["requested"], on_cpu.counted["unique"]) == (16, 2)


def test_four_configs_that_break_different_rules_give_four_reasons():
    configs = [
        {"threads": 96},
        {"block_K": 24},
        {"block_M": 256, "block_N": 256, "block_K": 128, "num_stages": 4},
        {"threads": 2048},
    ]
    usual = {"block_M": 128, "block_N": 128, "block_K": 32, "num_stages": 2, "threads": 128}
    request, found = space(None, ADA, configs=configs, fixed=usual)
    reasons = [point.reason for point in found.points()]
    assert [point.status for point in found.points()] == ["pruned"] * 4
    assert len(set(reasons)) == 4 and all(reasons)
    assert request.counted["pruned"] == 4 and len(request.counted["rules"]) >= 4


def test_a_rule_is_counted_by_kind_whatever_its_numbers():
    one = "shared memory 196,608 B is over the 101,376 B a block of sm_89 may use; use fewer stages or smaller tiles"
    assert rule_kind(one) == "shared memory # B is over the # B a block of sm_89 may use; use fewer stages or smaller tiles"
    request, _ = space({**ONE, "block_K": [128], "num_stages": [3, 4], "block_N": [128, 256]}, ADA)
    assert list(request.counted["rules"].values()) == [4]


def test_counts_add_up_for_a_space_of_432_with_illegal_configs():
    tiles = {"block_M": [64, 128, 256], "block_N": [64, 128, 256], "block_K": [32, 64, 128]}
    request, found = space({**ONE, **tiles, "num_stages": [2, 3, 4, 5], "threads": [128, 256, 512, 1024]}, ADA)  # case U05
    counted = request.counted
    assert found.size == counted["requested"] == 432
    assert counted["unique"] + counted["duplicates"] + counted["pruned"] + counted["unsupported"] == 432
    assert 0.3 < counted["pruned"] / 432 < 0.9


def test_several_problems_share_the_knobs_and_are_told_apart():
    request, found = space({**ONE, "block_M": [64, 128]}, problems=[{"M": 1024}, {"M": 2048}, {"M": 1024}])
    assert len(request.problems) == 2 and found.size == 4
    assert [p.problem for p in found.points()] == [0, 0, 1, 1] and [p.same_as for p in found.points()] == [None] * 4


def test_pass_configs_are_knobs():
    request, found = space({**ONE, "tl.enable_fast_math": ["true", "false"]})
    assert [p.config["tl.enable_fast_math"] for p in found.points()] == [True, False] and request.counted["unique"] == 2


def test_a_target_that_cannot_express_the_problem_is_said_once_for_all():
    request, _ = resolve_sweep("gemm", {"dtype": "float16"}, target="cpu")
    assert request.counted["unsupported"] == request.counted["requested"] > 0


def test_wrong_words_are_one_sentence():
    with pytest.raises(UnknownName, match="no knob of gemm 'block_Z'"):
        space({"block_Z": [1]})
    with pytest.raises(BadValue, match="threads"):
        space({"threads": [33]})
    with pytest.raises(BadValue, match="no values for block_M"):
        space({"block_M": []})
    with pytest.raises(BadValue, match="at most 100,000"):
        space({"block_M": list(range(1, 2000)), "block_N": list(range(1, 200))})
    with pytest.raises(UnknownName, match="no strategy"):
        space(ONE, strategy="luck")
    with pytest.raises(BadValue, match="patience is -1"):
        space(ONE, patience=-1)


def test_ten_thousand_configs_are_counted():
    values = {**ONE, "block_M": [16 * n for n in range(1, 17)], "block_N": [16 * n for n in range(1, 17)], "block_K": [16, 32, 64, 128]}
    request, _ = space({**values, "num_stages": [1, 2, 3, 4], "threads": [128, 256, 384]})
    assert request.counted["requested"] == 12288


@pytest.mark.parametrize("name", kernels.names())
@pytest.mark.parametrize("device", [H200, ADA, cpu_device()], ids=lambda device: device.target)
def test_a_sweep_of_which_nothing_is_said_has_ten_thousand_configs_at_most(name, device):
    request, found = resolve_sweep(name, devices=[device], device=device.id)
    assert 1 < found.size <= MOST_BY_DEFAULT
    described = kernel(name)
    usual = described.config({}, found.target)
    for knob in described.knobs:
        values = request.values[knob.name]
        assert values == tuple(knob.offered(device.target)) or values == (usual[knob.name],), "all of them, or the default"


def test_knobs_that_are_declared_last_give_way_and_those_that_are_asked_for_never():
    described = kernel("gemm")
    everything = {knob.name: list(knob.offered("sm_90a")) for knob in described.knobs}
    assert math.prod(map(len, everything.values())) > MOST_BY_DEFAULT
    found = offered_values(described, targets.target("sm_90a"))
    kept = [name for name in everything if len(found[name]) < len(everything[name])]
    assert kept and kept[-1] == [name for name, values in everything.items() if len(values) > 1][-1]
    request, _ = space({kept[-1]: everything[kept[-1]]})
    assert list(request.values[kept[-1]]) == everything[kept[-1]]


def test_knobs_that_are_not_named_stand_where_a_run_would_start():
    """18 configs were asked for, and 2,880 were swept."""
    values = {"block_M": [64, 128], "block_N": [64, 128, 256], "num_stages": [2, 3, 4]}
    request, found = space(values, problems={"M": 4096, "N": 4096, "K": 4096}, all_knobs=False)
    suggested = resolve("gemm", {"M": 4096, "N": 4096, "K": 4096}, devices=[H200]).config
    assert (request.counted["requested"], found.size) == (18, 18)
    assert all(len(set(map(repr, found_values))) == 1 for name, found_values in request.values.items() if name not in values)
    for point in found.points():
        assert list(point.config) == list(suggested)
        assert {name: value for name, value in point.config.items() if name not in values} == {
            name: value for name, value in suggested.items() if name not in values
        }
    everything, _ = space(values, problems={"M": 4096, "N": 4096, "K": 4096})
    assert everything.counted["requested"] > 1000


def test_each_problem_starts_from_its_own_preset_and_its_pass_configs_come_along():
    large, small = ({name: size for name in "MNK"} for size in (8192, 1024))
    start = kernel("gemm").config({**{n: f[0] for n, f in ONE.items()}, "tl.enable_fast_math": True}, targets.target("sm_90a"))
    tuned = TunedConfig("p1", "gemm", kernel("gemm").problem(large), start, "sm_90a", H200.name, 1.0)
    request, found = space({"block_K": [32, 64]}, problems=[large, small], all_knobs=False, presets=[tuned])
    first, _, other, _ = found.points()
    assert first.config == {**start, "block_K": 32} and first.config["tl.enable_fast_math"] is True
    assert other.config == {**resolve("gemm", small, devices=[H200]).config, "block_K": 32}
    assert request.values["block_K"] == (32, 64) and request.counted["requested"] == 4


def test_a_knob_that_stays_is_not_swept_as_well():
    with pytest.raises(BadValue, match="block_M is to stay at 64 and to be swept"):
        space({"block_M": [64, 128]}, fixed={"block_M": 64})


def test_word_knobs_are_swept_as_numbers_are():
    """case: `variant=persistent` is a value like another."""
    request, found = space({**ONE, "variant": ["plain", "persistent"], "block_M": [64, 128]})
    assert request.counted["requested"] == 4
    assert [(p.config["variant"], p.config["block_M"]) for p in found.points()] == [
        ("plain", 64), ("plain", 128), ("persistent", 64), ("persistent", 128),
    ]  # fmt: skip
    with pytest.raises(BadValue, match="variant is 'luck'"):
        space({**ONE, "variant": ["luck"]})


def test_a_request_survives_the_store():
    request, _ = space({**ONE, "block_M": [64, 128]}, trials=7, seconds=3.5)
    again = sweep_from_json(to_json(request))
    assert again == request and again.budget == Budget(7, 3.5, None)
    later = {**to_json(request), "of_a_later_version": 1, "budget": {**to_json(request)["budget"], "of_a_later_version": 1}}
    assert sweep_from_json(later) == request


def test_efforts_have_budgets_that_a_hand_given_one_replaces():
    assert budget_of("quick", None, None, None) == Budget(None, 10.0, None)
    assert budget_of("normal", None, None, None, problems=2) == Budget(400, None, None)
    assert budget_of("full", None, None, None) == Budget()
    assert budget_of("quick", 5, None, None) == Budget(5, None, None)
    assert not Budget(seconds=1.0).spent(trials=0, seconds=9.0, since_best=0), "at least one config is tried"


@pytest.mark.parametrize("size, best", [(2048, (128, 256, 64, 4, 256)), (4096, (128, 256, 64, 4, 256))])
def test_the_model_puts_what_was_fastest_on_an_h200_near_the_front(size, best):
    values = {"block_M": [64, 128, 256], "block_N": [64, 128, 256], "block_K": [32, 64, 128], "num_stages": [0, 1, 2, 3, 4]}
    values |= {"threads": [128, 256, 384, 512], "enable_swizzle": [True, False], "panel_size": [4, 8, 10, 16]}
    request, found = space({**ONE, **values}, problems={"M": size, "N": size, "K": size}, strategy="model")
    gemm, machine = kernel("gemm"), machine_of(found.target, H200)
    rows = [frame_row(p) for p in found.points()]
    search = Search("model", 0, rows, lambda number, configs: predict_us(gemm, request.problems[number], configs, machine))
    asked = [search.config[search.next()] for _ in range(60)]
    assert best in [tuple(config[name] for name in list(OLD)[:5]) for config in asked]


def test_problems_take_turns_and_equal_configs_follow_their_first():
    _, found = space({**ONE, "block_M": [64, 128, 64]}, problems=[{"M": 1024}, {"M": 2048}])
    search = Search("grid", 0, [frame_row(p) for p in found.points()])
    order = [search.problem[search.next()] for _ in range(4)]
    assert order in ([0, 1, 0, 1], [1, 0, 1, 0]) and search.next() is None
    assert search.followers == {0: [2], 3: [5]}


def frame_row(point):
    return {
        "ordinal": point.ordinal, "problem_index": point.problem, "config": point.config, "same_as": point.same_as,
        "status": point.status or "not_run", "median_us": None,
    }  # fmt: skip
