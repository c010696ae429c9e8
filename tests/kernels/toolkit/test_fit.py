"""Fitting a config to a target: fewer stages until it fits, or the sentence that says why it cannot."""

import pytest

from tileviz import kernels
from tileviz.compiler.targets import target
from tileviz.errors import Pruned
from tileviz.kernels.toolkit.fit import fit

GEMM = kernels.kernel("gemm")
BIG = {"block_M": 128, "block_N": 256, "block_K": 64, "num_stages": 4, "threads": 256}


def fitted(name: str, arch: str, problem: dict, config: dict):
    kernel, chosen = kernels.kernel(name), target(arch)
    full = kernel.problem(problem, chosen.kind)
    return fit(kernel, full, kernel.config(config, chosen, full), chosen)


@pytest.mark.parametrize(("arch", "stages"), [("sm_90a", 4), ("sm_80", 3), ("sm_89", 2), ("sm_75", 1), ("sm_120a", 2)])
def test_stages_go_down_to_the_most_that_fit(arch, stages):
    assert fitted("gemm", arch, {}, BIG)["num_stages"] == stages


def test_nothing_else_changes():
    before = GEMM.config(BIG, target("sm_89"))
    after = fit(GEMM, GEMM.problem(), before, target("sm_89"))
    assert {k: v for k, v in after.items() if k != "num_stages"} == {k: v for k, v in before.items() if k != "num_stages"}


def test_a_causal_loop_gets_the_one_stage_it_may_have():
    config = {"block_M": 64, "block_N": 64, "num_stages": 3, "threads": 128}
    assert fitted("flash_attention", "sm_80", {"causal": True}, config)["num_stages"] == 1


def test_a_rule_that_stages_cannot_mend_is_told():
    with pytest.raises(Pruned, match="3 warps cannot cover 128 x 256"):
        fitted("gemm", "sm_90a", {}, {**BIG, "threads": 96})


def test_tiles_that_never_fit_are_told_with_their_size():
    with pytest.raises(Pruned, match=r"shared memory 196,608 B is over the 65,536 B a block of sm_75 may use"):
        fitted("gemm", "sm_75", {}, {**BIG, "block_M": 256, "block_K": 192})


def test_a_kernel_without_stages_is_checked_as_it_is():
    assert fitted("softmax", "sm_90a", {}, {})["threads"] == 512
    with pytest.raises(Pruned, match="2,048 threads a block is over the limit"):
        fitted("softmax", "sm_90a", {}, {"threads": 2048})
