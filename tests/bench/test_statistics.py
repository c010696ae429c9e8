"""How sure a median is, and the verdicts of a comparison."""

import dataclasses
import math
import random

import pytest

from tileviz.bench.statistics import compare, relative_error, tied_best
from tileviz.errors import NotComparable
from tileviz.measured import Timing


def timing(centre, spread=1.0, n=60, seed=0, **fields):
    generator = random.Random(f"{centre} {seed}")
    return Timing(
        tuple(generator.gauss(centre, spread) for _ in range(n)), fields.pop("timer", "cupti"), fields.pop("l2", "cold"), **fields
    )


def test_the_error_of_a_median_follows_order_statistics():
    assert relative_error(list(range(951, 1051))) == pytest.approx((60 - 40 + 1) / 2 / 1000.5, rel=0.05)
    assert relative_error([7.0] * 50) == 0.0


def test_few_samples_have_no_interval():
    assert math.isinf(relative_error([1.0, 1.0, 1.0]))


def test_the_interval_of_the_median_covers_the_truth_about_19_times_in_20():
    generator = random.Random(1)
    hits = 0
    for _ in range(400):
        samples = [generator.expovariate(1.0) + 10 for _ in range(50)]
        ordered = sorted(samples)
        hits += ordered[17] <= 10 + math.log(2) <= ordered[32]
    assert 0.93 <= hits / 400 <= 0.99


def test_three_percent_apart_is_faster_and_seen_from_the_other_side_slower():
    ours, theirs = timing(100), timing(103)
    mine, other = compare(ours, theirs), compare(theirs, ours)
    assert mine.verdict == "faster" and 1.0 < mine.low < mine.ratio < mine.high
    assert mine.ratio == pytest.approx(1.03, abs=0.01)
    assert other.verdict == "slower" and other.high < 1


def test_within_one_percent_is_the_same_though_the_interval_leaves_out_one():
    comparison = compare(timing(100, 0.1), timing(100.5, 0.1))
    assert comparison.low > 1 and comparison.verdict == "same"


def test_an_interval_that_holds_one_is_a_tie_however_wide_it_is():
    wide = compare(timing(100, 30), timing(103, 30))
    assert wide.low < 1 < wide.high and wide.high - wide.low > 0.1 and wide.verdict == "same"


def test_the_same_samples_give_the_same_interval():
    assert compare(timing(100), timing(103)) == compare(timing(100), timing(103))


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"timer": "cuda_events"}, "unlike timers: cupti and cuda_events"),
        ({"l2": "warm"}, "unlike L2 modes: cold and warm"),
        ({"samples_us": ()}, "no samples"),
        ({"implausible": "implausible: too fast"}, "too fast"),
    ],
)
def test_unlike_timings_are_not_compared(change, words):
    with pytest.raises(NotComparable, match=words):
        compare(timing(100), dataclasses.replace(timing(100), **change))


def test_ties_are_a_set_and_not_a_crown():
    timings = {"a": timing(100, seed=1), "b": timing(100.2, seed=2), "c": timing(110), "tiny": timing(1, launch_bound=True)}
    assert sorted(tied_best(timings)) == ["a", "b"]
    assert tied_best({}) == []


def test_by_the_wall_clock_ranges_that_meet_are_no_verdict():
    ours = Timing(tuple(5.0 + 0.1 * (i % 20) for i in range(200)), "perf_counter", "n/a")
    near = Timing(tuple(s * 1.15 for s in ours.samples_us), "perf_counter", "n/a")
    far = Timing(tuple(s * 2 for s in ours.samples_us), "perf_counter", "n/a")
    assert compare(ours, near).verdict == "unclear"
    assert compare(ours, far).verdict == "faster"
    assert compare(dataclasses.replace(ours, timer="cupti"), dataclasses.replace(near, timer="cupti")).verdict == "faster"
