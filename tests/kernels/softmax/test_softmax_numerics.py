"""Softmax on the CPU target, for rows of 1 to 262,144, against float64. Errors are relative to each value, so zeros never pass (C06)."""

import math

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from tests import long_proofs
from tests.kernels.run_cpu import run

INF = math.inf
LONG = {"M": 2, "N": 100}
WHOLE = {"variant": "whole"}
ONLINE = {"variant": "online", "block_N": 32, "threads": 32}
EACH = pytest.mark.parametrize("config", [WHOLE, {**WHOLE, "threads": 32}, ONLINE], ids=["whole", "one warp", "online"])


def assert_close(output: torch.Tensor, reference: torch.Tensor) -> None:
    torch.testing.assert_close(output.double(), reference, rtol=3e-5, atol=1e-37, equal_nan=True)


@pytest.mark.parametrize("N", long_proofs.cases([1, 7, 1000, 1024, 8193, 100_001, 262_144], 0, 2, 5))
def test_rows_of_any_length_are_right(N):
    output, reference = run("softmax", {"M": 2, "N": N})
    assert_close(output, reference)
    assert output.double().sum(dim=1).tolist() == pytest.approx([1, 1], abs=1e-5)


ROWS = [(M, block_M, variant) for M, block_M in ((1, 1), (1, 4), (5, 4), (8, 4)) for variant in ("whole", "online")]


@pytest.mark.parametrize(("M", "block_M", "variant"), long_proofs.cases(ROWS, 2, 5))
def test_rows_share_a_block(M, block_M, variant):
    output, reference = run("softmax", {"M": M, "N": 36}, {"variant": variant, "block_M": block_M})
    assert_close(output, reference)


@pytest.mark.parametrize("threads", long_proofs.cases([32, 256], 0))
def test_a_row_has_fewer_threads_than_a_warp_or_many_warps(threads):
    output, reference = run("softmax", {"M": 9, "N": 300}, {"block_M": 8, "threads": threads})
    assert_close(output, reference)


@EACH
def test_padding_leaks_into_neither_maximum_nor_sum(config):
    """Where all values are far below zero, a column padded with 0 would be the maximum."""
    output, _ = run("softmax", LONG, config, (torch.full((2, 100), -200.0),))
    assert output.flatten().tolist() == pytest.approx([0.01] * 200, rel=1e-6)


@EACH
@pytest.mark.parametrize(
    "places",
    [
        {},
        {0: -INF},
        {99: -INF},
        {50: INF},
        {3: math.nan},
        dict.fromkeys(range(40), -INF),
        dict.fromkeys(range(40, 100), -INF),
        dict.fromkeys(range(100), -INF),
    ],
    ids=["finite", "first -inf", "last -inf", "one +inf", "one nan", "whole first steps -inf", "whole last steps -inf", "all -inf"],
)
def test_nan_and_infinity_come_out_as_in_the_reference(config, places):
    X = torch.randn(2, 100, generator=torch.Generator().manual_seed(1))
    for column, value in places.items():
        X[0, column] = value
    output, reference = run("softmax", LONG, config, (X,))
    assert_close(output, reference)


@given(values=st.lists(st.floats(-(2.0**127), 2.0**127, width=32), min_size=100, max_size=100), config=st.sampled_from([WHOLE, ONLINE]))
@settings(max_examples=8, deadline=None)
def test_any_finite_values_give_probabilities(values, config):
    X = torch.tensor([values, values[::-1]], dtype=torch.float32)
    output, _ = run("softmax", LONG, config, (X,))
    assert ((output >= 0) & (output <= 1)).all()
    assert output.double().sum(dim=1).tolist() == pytest.approx([1, 1], abs=1e-5)


@pytest.mark.slow
@given(N=st.integers(1, 300), width=st.sampled_from([16, 64, 512]), variant=st.sampled_from(["whole", "online"]))
@settings(max_examples=6, deadline=None)
def test_random_lengths_are_right(N, width, variant):
    output, reference = run("softmax", {"M": 3, "N": N}, {"block_N": width, "variant": variant})
    assert_close(output, reference)
