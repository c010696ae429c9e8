"""Random configs: the same draws for a seed, faults told from results, a file that is gone on with, and two real runs."""

import json
from dataclasses import asdict, replace

import pytest

from benchmarks import random_configs
from benchmarks.random_configs import Plan, Result, main, stored_results, told
from tileviz import kernels
from tileviz.compiler import targets
from tileviz.errors import BadRequest

CPU = Plan(0, kernels.names(), "cpu", "cpu")
HOPPER = Plan(0, kernels.names(), "sm_90a", None)
RIGHT = Result(0, "gemm", {"M": 3}, {"threads": "64"}, "ok", "", 0.1)


@pytest.mark.parametrize("plan", [CPU, HOPPER], ids=["cpu", "sm_90a"])
def test_a_draw_is_the_same_whatever_was_drawn_before_and_makes_sense_or_is_refused_in_a_sentence(plan):
    first = [plan.draw(number) for number in range(60)]
    assert first[30:] == [plan.draw(number) for number in range(30, 60)]
    assert {draw.kernel for draw in first} == set(kernels.names())
    assert any("." in name for draw in first for name in draw.config)
    for draw in first:
        try:
            plan.request(draw)
        except BadRequest as error:
            assert not random_configs.RAW.search(error.message)


def test_sizes_are_odd_too_and_knobs_are_typed_too():
    kernel = kernels.kernel("gemm")
    drawn = [draw for number in range(80) if (draw := Plan(0, ("gemm",), "sm_90a", None).draw(number))]
    assert any(draw.problem["M"] % 2 for draw in drawn) and {draw.problem["dtype"] for draw in drawn} == set(kernel.field("dtype").choices)
    asked = [kernel.config(draw.config, targets.target("sm_90a"), kernel.problem(draw.problem))["block_M"] for draw in drawn]
    assert set(asked) - set(next(knob for knob in kernel.knobs if knob.name == "block_M").choices)


@pytest.mark.parametrize(
    ("changes", "fault"),
    [
        ({}, ""),
        ({"status": "pruned", "reason": "depth 24 is not whole steps"}, ""),
        ({"status": "refused", "reason": "M is 0; give a whole number"}, ""),
        ({"status": "hang", "reason": "running in phase 'lower'"}, "a status without a name"),
        ({"status": "job failed", "reason": "x"}, "a status without a name"),
        ({"status": "wrong_result"}, "no reason"),
        ({"status": "compile_failed", "reason": "KeyError: 'problems'"}, "a reason that is raw Python"),
        ({"status": "crashed", "reason": "Traceback (most recent call last)"}, "a reason that is raw Python"),
        ({"status": "compile_failed", "reason": "no layout for <tir.Buffer object at 0x7f12>"}, "a reason that is raw Python"),
    ],
)
def test_what_no_result_may_be(changes, fault):
    result = replace(RIGHT, **changes)
    assert result.fault == fault
    assert ("FAULT" in told([RIGHT, result])) == bool(fault) and f"{int(bool(fault))} faults" in told([RIGHT, result])


def test_a_file_is_gone_on_with_and_one_of_other_draws_refused(tmp_path):
    path = tmp_path / "out.jsonl"
    assert stored_results(path, CPU) == []
    path.write_text(path.read_text() + json.dumps(asdict(RIGHT)) + "\n" + '{"number": 1, "ker')
    assert stored_results(path, CPU) == [RIGHT]
    with pytest.raises(SystemExit, match="results of other draws"):
        stored_results(path, HOPPER)


def test_real_configs_run_to_their_end_and_are_not_run_again(tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("TILEVIZ_HOME", str(tmp_path))
    out = tmp_path / "out.jsonl"
    words = ["--kernels", "vector_add", "--seed", "3", "--home", str(tmp_path), "--out", str(out), "--count", "2"]
    assert main(words) == 0
    first = out.read_text()
    assert len(first.splitlines()) == 3 and "2 configs, 0 faults" in capsys.readouterr().out
    assert main(words) == 0 and out.read_text() == first
