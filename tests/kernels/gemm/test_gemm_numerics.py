"""GEMM on the CPU target against float64."""

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from tests import long_proofs
from tests.kernels.run_cpu import rel_error, run

TILE = {"block_M": 32, "block_N": 32, "block_K": 16}


@pytest.mark.parametrize(
    ("M", "N", "K", "layout"),
    long_proofs.cases(
        [
            (1, 1, 1, "NN"),
            (1, 61, 1, "NT"),
            (61, 1, 33, "NN"),
            (32, 32, 16, "NT"),
            (33, 31, 17, "NN"),
            (250, 231, 243, "NN"),
            (250, 231, 243, "NT"),
        ],
        0,
        1,
        4,
    ),
)
def test_any_shape_is_right(M, N, K, layout):
    output, reference = run("gemm", {"M": M, "N": N, "K": K, "layout": layout}, TILE)
    assert rel_error(output, reference) < 1e-6


def test_no_part_of_the_depth_is_lost():
    """A tail of K that is dropped shows as a smaller whole number (C01)."""
    output, _ = run("gemm", {"M": 8, "N": 8, "K": 24}, {"block_M": 8, "block_N": 8, "block_K": 24}, (torch.ones(8, 24), torch.ones(24, 8)))
    assert torch.equal(output, torch.full((8, 8), 24.0))


def test_every_column_is_written():
    """The output is NaN before the launch, so a column left out would still be NaN (C03)."""
    output, _ = run("gemm", {"M": 16, "N": 104, "K": 64}, {"block_M": 16, "block_N": 104, "block_K": 64})
    assert not output.isnan().any()


@pytest.mark.parametrize(("stages", "swizzle"), [(0, True), (3, False)])
def test_stages_and_swizzle_change_nothing_on_the_cpu(stages, swizzle):
    shape = {"M": 70, "N": 45, "K": 50}
    usual, _ = run("gemm", shape, TILE)
    other, _ = run("gemm", shape, {**TILE, "num_stages": stages, "enable_swizzle": swizzle})
    assert torch.equal(usual, other)


def test_nan_and_infinity_spread_as_in_the_reference():
    A, B = torch.randn(20, 12), torch.randn(12, 9)
    A[3, 5], A[7, 0], B[2, 4] = float("nan"), float("inf"), float("-inf")
    output, reference = run("gemm", {"M": 20, "N": 9, "K": 12}, {"block_M": 16, "block_N": 16, "block_K": 8}, (A, B))
    assert torch.equal(output.isnan(), reference.isnan())
    assert torch.equal(output.isinf(), reference.isinf())


@pytest.mark.slow
@given(M=st.integers(1, 70), N=st.integers(1, 70), K=st.integers(1, 70))
@settings(max_examples=6, deadline=None)
def test_random_shapes_are_right(M, N, K):
    output, reference = run("gemm", {"M": M, "N": N, "K": K}, TILE)
    assert not output.isnan().any()
    assert torch.allclose(output.double(), reference, rtol=0, atol=1e-6 * K + 1e-5)


@given(scale=st.sampled_from([0.0, 1e-20, 1e-3, 1e6, 1e15]), seed=st.integers(0, 2**31 - 1))
@settings(max_examples=8, deadline=None)
def test_values_of_any_size_are_right(scale, seed):
    generator = torch.Generator().manual_seed(seed)
    A, B = (torch.randn(shape, generator=generator) * scale for shape in ((33, 29), (29, 31)))
    output, reference = run("gemm", {"M": 33, "N": 31, "K": 29}, TILE, (A, B))
    bound = 1e-6 * 29 * A.abs().max().item() * B.abs().max().item()
    assert (output.double() - reference).abs().max().item() <= bound
