"""The hand-made variants really run on a Hopper GPU: odd sizes, few and many tiles, every epilogue, against float64."""

import pytest

from tests.kernels.gemm.test_variants import PERSISTENT, PINGPONG, SPLIT_K, config
from tests.kernels.on_gpu import check

pytestmark = pytest.mark.gpu

SHAPES = [
    {"M": 1, "N": 8, "K": 8},
    {"M": 16, "N": 512, "K": 1024},
    {"M": 200, "N": 264, "K": 72},
    {"M": 1000, "N": 1000, "K": 1000, "layout": "NT"},
    {"M": 2100, "N": 4104, "K": 328, "dtype": "bfloat16"},
]
CONFIGS = [
    PERSISTENT,
    {**PERSISTENT, "num_stages": 4, "store": "halves"},
    {**PERSISTENT, "cluster": 2},
    config("persistent", 64, 128, 128, 4, 256, cluster=4),
    PINGPONG,
    {**PINGPONG, "cluster": 2},
    config("pingpong", 128, 192, 64, 4, store="halves"),
    SPLIT_K,
    {**SPLIT_K, "cluster": 8},
    config("split_k", 128, 128, 64, 3, 256, cluster=2),
]


@pytest.mark.parametrize("chosen", CONFIGS, ids=str)
@pytest.mark.parametrize("problem", SHAPES, ids=str)
def test_a_variant_is_right_at_any_size(problem, chosen):
    check("gemm", problem, chosen)


@pytest.mark.parametrize("chosen", [PERSISTENT, PINGPONG, SPLIT_K], ids=lambda chosen: chosen["variant"])
@pytest.mark.parametrize("epilogue", ["none", "bias", "bias_relu", "bias_gelu_tanh", "bias_gelu_erf", "bias_silu"])
def test_a_variant_takes_every_epilogue(epilogue, chosen):
    check("gemm_bias_gelu", {"M": 700, "N": 1032, "K": 264, "epilogue": epilogue}, chosen)
