"""A warp group's columns that are no multiple of 16 go by 8-wide wgmma: slow, which a check says, and right on a Hopper GPU, though older
versions of TileLang are reported to compute wrong values there (tile-ai/tilelang#2593)."""

import pytest

from tests.kernels.on_gpu import check
from tests.kernels.test_rules_against_lowering import tile

pytestmark = pytest.mark.gpu

PROBLEM = {"M": 256, "N": 240, "K": 256, "layout": "NT"}


@pytest.mark.parametrize(
    "config",
    [
        *(tile(64, 8, 64, 1, 128), tile(128, 16, 64, 2, 256), tile(64, 16, 64, 1, 128), tile(64, 96, 64, 1, 128)),
        *(tile(64, 24, 64, 1, 128), tile(64, 40, 64, 2, 128), tile(128, 48, 64, 1, 256)),
    ],
    ids=str,
)
def test_any_number_of_columns_is_right(config):
    check("gemm", PROBLEM, config)
