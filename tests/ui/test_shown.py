"""A result says what it is for, where that is not what the form says."""

from dataclasses import replace

from tests.asked import resolve
from tests.ui import examples
from tileviz.ui.parts.shown import stamp_of


def request(**config):
    return resolve("gemm", {}, config, devices=[examples.CPU])


def test_the_stamp_names_the_values_that_differ():
    assert stamp_of(examples.trial(), request(block_M=128)) == "for block_M=64"


def test_the_stamp_names_the_problem_too():
    assert stamp_of(examples.trial(problem={"M": 96}), request()) == "for M=96"


def test_the_stamp_names_the_target():
    assert stamp_of(replace(examples.trial(), target="sm_80", device=None), request()).endswith("on sm_80")


def test_the_stamp_names_what_the_result_lacks():
    assert stamp_of(examples.trial(), request(**{"tl.enable_fast_math": True})) == "for without tl.enable_fast_math"


def test_the_same_knobs_of_another_version_are_said_to_be_so():
    assert "another version" in stamp_of(replace(examples.trial(), key="old"), request())


def test_a_knob_that_came_since_is_no_difference_where_it_stands_at_its_default():
    trial, asked = examples.trial(), request()
    older = {name: value for name, value in asked.config.items() if name not in ("store", "block_M")}
    assert asked.config["store"] == "direct" and asked.config["block_M"] == 64
    assert stamp_of(replace(trial, problem=asked.problem, config=older, key="old"), asked) == "for without block_M"
