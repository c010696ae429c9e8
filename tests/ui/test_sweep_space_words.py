"""What is typed into a sweep's set-up: lists, doublings, problems from sizes, and the count in words."""

import pytest

from tileviz import kernels
from tileviz.errors import BadValue
from tileviz.ui.sweeps.space_words import EVERY, IN_STEP, count_words, effort_words, parsed, problems_of, rule_lines, words_in


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("64, 128 256", ["64", "128", "256"]),
        ("64;64", ["64"]),
        ("", []),
        ("64..512", ["64", "128", "256", "512"]),
        ("48..100, 7", ["48", "96", "7"]),
        ("9..4", ["9"]),
        ("abc", ["abc"]),
    ],
)
def test_a_list_is_read_as_a_person_means_it(text, words):
    assert words_in(text) == words


def test_a_value_that_a_knob_cannot_take_is_a_sentence_and_the_others_stand():
    knob = next(k for k in kernels.kernel("gemm").knobs if k.name == "block_M")
    good, wrong = parsed(knob, ["64", "abc", "0064"])
    assert good == ["64"] and "block_M is 'abc'" in wrong


def test_sizes_with_several_values_make_every_combination_or_go_in_step():
    values = {"M": ["64", "128"], "N": ["64", "128"], "dtype": ["float32"]}
    assert len(problems_of(values, EVERY)) == 4
    assert problems_of(values, IN_STEP) == [{"M": "64", "N": "64", "dtype": "float32"}, {"M": "128", "N": "128", "dtype": "float32"}]


def test_sizes_that_cannot_go_in_step_say_so():
    with pytest.raises(BadValue, match="M has 3, N has 2"):
        problems_of({"M": ["1", "2", "3"], "N": ["1", "2"]}, IN_STEP)


def test_too_many_problems_are_refused_before_they_are_made():
    with pytest.raises(BadValue, match="1,000,000 problems"):
        problems_of({name: [str(i) for i in range(100)] for name in "MNK"})


def test_the_count_names_every_fate_that_there_is():
    counted = {"requested": 5, "unique": 3, "duplicates": 2, "pruned": 0, "unsupported": 0, "rules": {}}
    assert count_words(counted) == "3 to run of 5 requested: 2 the same code as another"
    rules = {**counted, "pruned": 9, "rules": {f"rule {i}": 9 - i for i in range(8)}}
    assert rule_lines(rules)[0] == "9: rule 0" and rule_lines(rules)[-1] == "and 2 more rules"


def test_the_budget_is_said_as_it_will_bind():
    assert effort_words("full", {}, 10) == "effort full: all of them"
    assert effort_words("normal", {"trials": 200}, 10) == "effort normal: all of them"
    assert effort_words("normal", {"trials": 200, "seconds": 5.0}, 999) == "effort normal: at most 200 of them, at most 5 s of search"
