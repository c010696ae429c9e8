"""Model bytes level by level, by hand-made numbers."""

import pytest

from tests.ui import examples
from tileviz import kernels
from tileviz.records import MEMORY_LEVELS, Chain

MODELLED = [name for name in kernels.names() if kernels.code(name).traffic is not None]

GEMM = {"M": 8192, "N": 4096, "K": 1024, "dtype": "float16", "epilogue": "bias_gelu_tanh"}
TILES = {"block_M": 128, "block_N": 256, "block_K": 64}


def chains(kernel: str, *args, **kwargs) -> tuple[Chain, ...]:
    return kernels.code(kernel).traffic(*args, **kwargs)


def by_name(*args, **kwargs):
    return {chain.name: chain for chain in chains(*args, **kwargs)}


def test_fusing_saves_four_passes_over_the_output():
    found = by_name("gemm_bias_gelu", GEMM, TILES)
    output, bias = 8192 * 4096 * 2, 4096 * 2
    inputs = (8192 * 1024 + 1024 * 4096) * 2
    assert found["fused"].total("dram") == inputs + output + bias
    assert found["unfused"].total("dram") == inputs + 5 * output + bias
    assert found["half_fused"].total("dram") == inputs + 3 * output + bias


def test_l2_and_shared_memory_follow_the_tiles():
    found = by_name("gemm_bias_gelu", GEMM, TILES)["fused"]
    blocks, tiles = 64 * 16, (128 + 256) * 1024 * 2
    assert found.total("l2") == blocks * tiles + 8192 * 4096 * 2 + 64 * 4096 * 2
    assert found.total("shared") == 2 * blocks * tiles
    assert found.total("registers") == 8192 * 4096 * 4 * 2 * (16 + 2)


def test_larger_tiles_move_less_through_l2_and_the_same_through_dram():
    small, large = (by_name("gemm_bias_gelu", GEMM, {**TILES, "block_M": m})["fused"] for m in (64, 256))
    assert small.total("l2") > large.total("l2") and small.total("dram") == large.total("dram")


def test_with_no_epilogue_there_is_nothing_to_fuse_and_a_bias_alone_has_no_half_way():
    assert [c.name for c in chains("gemm_bias_gelu", {**GEMM, "epilogue": "none"}, TILES)] == ["fused"]
    assert [c.name for c in chains("gemm_bias_gelu", {**GEMM, "epilogue": "bias"}, TILES)] == ["unfused", "fused"]


def test_softmax_takes_six_four_three_or_two_passes():
    problem = {"M": 8192, "N": 32768, "dtype": "bfloat16"}
    one = 8192 * 32768 * 2
    found = by_name("softmax", problem, TILES)
    assert [c.total("dram") / one for c in found.values()] == [6, 4, 3, 2]
    assert found["one_pass"].total("dram") == pytest.approx(1.074e9, rel=1e-3)


def test_a_row_that_stays_in_l2_is_read_from_dram_once():
    problem = {"M": 8192, "N": 32768, "dtype": "bfloat16"}
    found = by_name("softmax", problem, TILES, l2_bytes=50 << 20, sm_count=132)
    one = 8192 * 32768 * 2
    assert [c.total("dram") / one for c in found.values()] == [6, 2, 2, 2]
    assert [c.total("l2") / one for c in found.values()] == [6, 4, 3, 2]
    assert "fit into L2" in found["two_pass"].note
    small = by_name("softmax", {**problem, "N": 262144}, TILES, l2_bytes=50 << 20, sm_count=132)
    assert "do not fit" in small["two_pass"].note and small["two_pass"].total("dram") == 3 * 8192 * 262144 * 2


def test_which_chain_of_softmax_is_ours_follows_the_config():
    problem = {"M": 8, "N": 5000, "dtype": "float32"}

    def ours(config):
        return next(chain.name for chain in chains("softmax", problem, config) if chain.ours)

    assert ours({"block_N": 4096}) == "two_pass" and ours({"block_N": 8192}) == "one_pass"
    assert ours({"variant": "online", "block_N": 8192}) == "two_pass"
    assert ours({"variant": "whole", "block_N": 4096}) == ours({"variant": "cluster", "block_N": 4096}) == "one_pass"


@pytest.mark.parametrize("kernel", MODELLED)
def test_every_number_has_its_formula_and_one_chain_is_ours(kernel):
    trial = examples.trial(kernel)
    found = chains(kernel, trial.problem, trial.config)
    assert sum(chain.ours for chain in found) == 1 and len({chain.name for chain in found}) == len(found)
    for chain in found:
        assert chain.title and chain.steps
        for step in chain.steps:
            assert set(step.moved) <= set(MEMORY_LEVELS)
            assert all(moved.bytes > 0 and moved.formula for moved in step.moved.values())
