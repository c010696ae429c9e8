"""FlashAttention on the CPU target against float64: unlike lengths, masks, padding (C07, C08), scales."""

import math

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from tests import long_proofs
from tests.kernels.run_cpu import draw, rel_error, run
from tileviz import kernels

ONE_HEAD = {"B": 1, "H": 1, "D": 64}


@pytest.mark.parametrize(
    "problem",
    long_proofs.cases(
        [
            {"Sq": 1, "Sk": 1},
            {"Sq": 1, "Sk": 300, "causal": True},
            {"Sq": 127, "Sk": 129},
            {"Sq": 129, "Sk": 127, "causal": True},
            {"Sq": 300, "Sk": 40, "causal": True},
            {"Sq": 40, "Sk": 300, "causal": True},
            {"Sq": 128, "Sk": 128, "causal": True},
            {"Sq": 70, "Sk": 50, "D": 128, "B": 2, "H": 3},
            {"Sq": 33, "Sk": 65, "D": 256},
        ],
        1,
        2,
        4,
        7,
    ),
    ids=str,
)
def test_any_lengths_and_head_sizes_are_right(problem):
    output, reference = run("flash_attention", {**ONE_HEAD, **problem})
    assert rel_error(output, reference) < 2e-6
    assert not output.isnan().any()


def test_early_keys_weigh_what_late_ones_do_however_many_tiles_lie_between():
    """The first key tile holds the maximum: 60 more, in each of which a factor of 1 must be 1."""
    draws = draw("flash_attention", {**ONE_HEAD, "Sq": 32, "Sk": 2000})
    K = draws[1].clone()
    K[:, :, 0] = 3 * draws[0][:, :, 0]
    output, reference = run("flash_attention", {**ONE_HEAD, "Sq": 32, "Sk": 2000, "scale": 1.0}, {"block_N": 32}, (draws[0], K, draws[2]))
    assert rel_error(output, reference) < 4e-6


@pytest.mark.parametrize("S", long_proofs.cases([1, 127, 129, 300], 2))
def test_padded_keys_do_not_leak(S):
    """With Q = 0 every key weighs the same, so the output is the mean of V; padding that counts would shrink it (C07)."""
    Q, K, V = draw("flash_attention", {**ONE_HEAD, "Sq": S, "Sk": S})
    output, _ = run("flash_attention", {**ONE_HEAD, "Sq": S, "Sk": S}, inputs=(torch.zeros_like(Q), K, V))
    torch.testing.assert_close(output, V.mean(dim=2, keepdim=True).expand_as(output), rtol=1e-5, atol=1e-6)


def test_padded_keys_do_not_leak_where_all_scores_are_far_below_zero():
    """A padded key has the score 0 before the mask, which would be the maximum here."""
    Q, K, V = draw("flash_attention", {**ONE_HEAD, "Sq": 5, "Sk": 45})
    output, reference = run("flash_attention", {**ONE_HEAD, "Sq": 5, "Sk": 45}, inputs=(torch.full_like(Q, 5), torch.full_like(K, -5), V))
    assert rel_error(output, reference) < 2e-6


@pytest.mark.parametrize(("Sq", "Sk", "seen"), [(4, 6, [3, 4, 5, 6]), (6, 4, [0, 0, 1, 2, 3, 4]), (5, 5, [1, 2, 3, 4, 5])])
def test_causal_rows_see_keys_aligned_bottom_right(Sq, Sk, seen):
    """With Q = 0 and V one-hot by key, row i holds 1 / (keys it sees) at each key it sees; without a key it holds 0 (C08)."""
    problem = {**ONE_HEAD, "Sq": Sq, "Sk": Sk, "causal": True}
    V = torch.eye(Sk, 64)[None, None]
    output, reference = run("flash_attention", problem, inputs=(torch.zeros(1, 1, Sq, 64), torch.randn(1, 1, Sk, 64), V))
    expected = torch.zeros(Sq, 64)
    for row, keys in enumerate(seen):
        expected[row, :keys] = 1 / max(keys, 1)
    torch.testing.assert_close(output[0, 0], expected, rtol=1e-6, atol=0)
    torch.testing.assert_close(reference[0, 0], expected.double(), rtol=1e-6, atol=0)


SCALES = [(0.0, True), (0.0, False), (-0.3, True), (2.0, False), (1e-45, True), (1e10, False), (-1e38, True)]


@pytest.mark.parametrize(("scale", "causal"), long_proofs.cases(SCALES, 0, 2, 6))
def test_any_scale_is_right(scale, causal):
    output, reference = run("flash_attention", {**ONE_HEAD, "Sq": 50, "Sk": 37, "causal": causal, "scale": scale})
    assert rel_error(output, reference) < 4e-6
    assert not output.isnan().any()


def test_the_usual_scale_is_one_over_the_root_of_the_head():
    Q, K, V = draw("flash_attention", {**ONE_HEAD, "Sq": 9, "Sk": 11})
    usual, _ = run("flash_attention", {**ONE_HEAD, "Sq": 9, "Sk": 11})
    expected = torch.nn.functional.scaled_dot_product_attention(Q, K, V)
    torch.testing.assert_close(usual, expected, rtol=1e-5, atol=1e-6)


def test_a_nan_spreads_over_its_own_row_only():
    problem = {**ONE_HEAD, "Sq": 40, "Sk": 40}
    Q, K, V = draw("flash_attention", problem)
    Q[0, 0, 7, 3] = math.nan
    output, reference = run("flash_attention", problem, inputs=(Q, K, V))
    assert torch.equal(output.isnan(), reference.isnan())
    assert output.isnan().any(dim=3).sum() == 1


def test_large_scores_do_not_overflow():
    Q, K, V = draw("flash_attention", {**ONE_HEAD, "Sq": 20, "Sk": 40})
    output, reference = run("flash_attention", {**ONE_HEAD, "Sq": 20, "Sk": 40}, inputs=(Q * 1e4, K * 1e4, V))
    assert rel_error(output, reference) < 1e-5


@pytest.mark.slow
@given(Sq=st.integers(1, 80), Sk=st.integers(1, 80), causal=st.booleans(), seed=st.integers(0, 2**31 - 1))
@settings(max_examples=6, deadline=None)
def test_random_lengths_are_right(Sq, Sk, causal, seed):
    problem = {**ONE_HEAD, "Sq": Sq, "Sk": Sk, "causal": causal}
    output, reference = run("flash_attention", problem, inputs=draw("flash_attention", problem, seed))
    torch.testing.assert_close(output.double(), reference, rtol=1e-4, atol=1e-5)


def test_the_reference_goes_in_slabs_and_stays_the_same():
    """A reference of 5,000 keys takes several slabs of rows; PyTorch's own attention agrees."""
    kernel = kernels.code("flash_attention")
    problem = kernel.problem({"B": 1, "H": 1, "Sq": 5000, "Sk": 5000, "D": 64, "causal": True, "dtype": "float32"}, "cpu")
    Q, K, V = (t.double() for t in draw("flash_attention", problem))
    expected = torch.nn.functional.scaled_dot_product_attention(Q, K, V, is_causal=True)
    torch.testing.assert_close(kernel.reference(problem, Q, K, V), expected, rtol=1e-9, atol=1e-12)
