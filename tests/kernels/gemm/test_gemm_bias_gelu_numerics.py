"""The epilogues on the CPU target against float64, and the tails where forms of GELU differ (C12)."""

import pytest
import torch

from tests import long_proofs
from tests.kernels.run_cpu import rel_error, run
from tileviz.kernels.gemm.gemm_bias_gelu import EPILOGUES

TILE = {"block_M": 32, "block_N": 32, "block_K": 16}
TAIL = [-4.0, -3.5, -3.0, -2.5, -2.0]
ERF_AT_TAIL = [-0.00013, -0.00081, -0.00405, -0.01552, -0.04550]


def through(epilogue: str, x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """(output, reference) of the epilogue at the values x, with K = 1 and no bias to speak of."""
    n = len(x)
    problem = {"M": 1, "N": n, "K": 1, "epilogue": epilogue}
    return run("gemm_bias_gelu", problem, {"block_M": 16, "block_N": 16, "block_K": 8}, (torch.ones(1, 1), x[None, :], torch.zeros(n)))


@pytest.mark.parametrize("epilogue", long_proofs.cases(list(EPILOGUES), 0, -1))
def test_every_epilogue_is_right_at_odd_sizes(epilogue):
    layout = "NT" if epilogue in ("bias", "bias_silu") else "NN"
    output, reference = run("gemm_bias_gelu", {"M": 50, "N": 61, "K": 43, "layout": layout, "epilogue": epilogue}, TILE)
    assert rel_error(output, reference) < 1e-6


def test_erf_gelu_is_right_in_its_negative_tail():
    output, reference = through("bias_gelu_erf", torch.tensor(TAIL))
    assert output[0].tolist() == pytest.approx(ERF_AT_TAIL, abs=6e-6)
    assert ((output - reference) / reference).abs().max() < 2e-3


def test_tanh_gelu_is_accurate_in_its_negative_tail():
    output, reference = through("bias_gelu_tanh", torch.tensor(TAIL))
    assert ((output - reference) / reference).abs().max() < 1e-5


def test_the_two_forms_are_told_apart():
    x = torch.linspace(-4, 4, 33)
    erf, tanh = through("bias_gelu_erf", x)[0], through("bias_gelu_tanh", x)[0]
    assert 1e-4 < (erf - tanh).abs().max() < 5e-4


@pytest.mark.parametrize("epilogue", long_proofs.cases(["bias_relu", "bias_gelu_tanh", "bias_gelu_erf", "bias_silu"], 0, 1))
def test_large_values_and_nan_come_out_as_in_the_reference(epilogue):
    x = torch.tensor([-1e30, -100.0, -0.0, 0.0, 100.0, 1e30, float("nan"), float("inf")])
    output, reference = through(epilogue, x)
    torch.testing.assert_close(output, reference.float(), rtol=1e-6, atol=1e-37, equal_nan=True)


def test_the_bias_belongs_to_its_column():
    bias = torch.arange(5.0)
    problem = {"M": 3, "N": 5, "K": 2, "epilogue": "bias"}
    output, _ = run("gemm_bias_gelu", problem, {"block_M": 16, "block_N": 16, "block_K": 8}, (torch.zeros(3, 2), torch.zeros(2, 5), bias))
    assert torch.equal(output, bias.expand(3, 5))
