"""Rates as a person reads them: one helper picks the unit that a kernel is judged by."""

import math

import pytest

from tileviz.formats import arithmetic, bandwidth, compared_value, compared_with, count, interval, rate, rates
from tileviz.measured import Comparison


@pytest.mark.parametrize(("tflops", "words"), [(640.4, "640 TFLOPS"), (1.0, "1.00 TFLOPS"), (0.999, "999 GFLOPS"), (0.0448, "44.8 GFLOPS")])
def test_arithmetic_below_a_teraflop_is_in_gflops(tflops, words):
    assert arithmetic(tflops) == words


@pytest.mark.parametrize(("gbps", "words"), [(4270.0, "4.27 TB/s"), (98.0, "98.0 GB/s"), (0.525, "0.525 GB/s")])
def test_bandwidth_from_a_thousand_is_in_tb(gbps, words):
    assert bandwidth(gbps) == words


def test_memory_bound_shows_bandwidth_and_compute_bound_shows_arithmetic():
    assert rate(640.0, 940.0, "compute") == "640 TFLOPS"
    assert rate(0.37, 4430.0, "memory") == "4.43 TB/s"


@pytest.mark.parametrize("nothing", [None, math.nan, 0.0])
def test_a_rate_that_is_not_counted_gives_way_to_the_other(nothing):
    assert rate(nothing, 4010.0, "compute") == "4.01 TB/s"
    assert rate(2.0, nothing, "memory") == "2.00 TFLOPS"
    assert rate(nothing, nothing, "compute") == "-"


def test_both_are_listed_where_both_are_counted():
    assert rates(0.0448, 0.525) == ["44.8 GFLOPS", "0.525 GB/s"]
    assert rates(None, 4010.0) == ["4.01 TB/s"] and rates(None, None) == []


@pytest.mark.parametrize(
    ("value", "words"),
    [(2 * 4096**3, "137,438,953,472"), (0, "0"), (2.0**40, "1,099,511,627,776"), (1.5, "1.50e+00"), (2.0**60, "1.15e+18")],
)
def test_a_count_has_every_digit_or_looks_rounded(value, words):
    assert count(value) == words


@pytest.mark.parametrize(
    ("verdict", "low", "high", "cell", "sentence"),
    [
        ("faster", 1.04, 1.06, "1.05\u00d7", "1.05 times as fast as cuBLAS"),
        ("same", 1.001, 1.009, "tie", "tied with cuBLAS"),
        ("faster", 1.0, 1.1, "tie", "tied with cuBLAS"),
        ("unclear", 0.9, 1.2, "tie", "tied with cuBLAS"),
        ("unclear", 1.01, 1.2, "unclear", "neither clearly faster nor slower than cuBLAS"),
    ],
)
def test_a_ratio_is_told_only_where_it_cannot_be_one(verdict, low, high, cell, sentence):
    found = Comparison(verdict, 1.05, low, high)
    assert (compared_value(found), compared_with(found, "cuBLAS")) == (cell, sentence)
    assert interval(found).endswith("meet") == (cell == "unclear")


def test_an_interval_is_told_to_three_digits():
    assert interval(Comparison("faster", 1.05, 1.04, 1.06)) == "1.04 to 1.06"
