"""Whether what the rules and checks say of 8-wide wgmma is true on a Hopper GPU: a share of columns that is no multiple of 16."""

import pytest

from tests.kernels.on_gpu import check
from tests.kernels.test_rules_against_lowering import tile
from tileviz import kernels
from tileviz.compiler.targets import target

pytestmark = pytest.mark.gpu

PROBLEM = {"M": 256, "N": 240, "K": 256, "layout": "NT"}


def warned(config: dict) -> bool:
    kernel, hopper = kernels.kernel("gemm"), target("sm_90a")
    problem = kernel.problem(PROBLEM)
    return any("wrong values" in note for note in kernel.rules(problem, kernel.config(config, hopper, problem), hopper).notes)


@pytest.mark.parametrize(
    "config", [tile(64, 8, 64, 1, 128), tile(128, 16, 64, 2, 256), tile(64, 16, 64, 1, 128), tile(64, 96, 64, 1, 128)], ids=str
)
def test_columns_that_nothing_is_said_of_are_right(config):
    assert not warned(config)
    check("gemm", PROBLEM, config)


@pytest.mark.parametrize("config", [tile(64, 24, 64, 1, 128), tile(64, 40, 64, 2, 128), tile(128, 48, 64, 1, 256)], ids=str)
def test_columns_that_the_rules_warn_of_are_wrong(config):
    """Where this fails, the installed TileLang has mended it: then the note and the check have had their day."""
    assert warned(config)
    with pytest.raises(AssertionError, match="Verdict"):
        check("gemm", PROBLEM, config)
