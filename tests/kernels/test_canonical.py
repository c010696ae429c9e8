"""Configs that are equal in canonical form generate the same code, and idle knobs are found: held against the generated text."""

import pytest

from tests.kernels.lowered import lowered
from tests.kernels.run_cpu import CPU
from tileviz import kernels
from tileviz.compiler.lowering import lower
from tileviz.compiler.targets import target

GEMM = {
    "variant": "plain",
    "store": "direct",
    "policy": "Square",
    "block_M": 64,
    "block_N": 64,
    "block_K": 32,
    "num_stages": 2,
    "threads": 128,
    "enable_swizzle": False,
    "panel_size": 8,
}
SHAPE = {"M": 256, "N": 256, "K": 64}


def same(name: str, arch: str, problem: dict, one: dict, other: dict) -> bool:
    kernel, chosen = kernels.code(name), target(arch)
    full = kernel.problem(problem, chosen.kind)
    forms = [kernel.same_code(full, kernel.config(config, chosen, full), chosen) for config in (one, other)]
    return forms[0] == forms[1]


def c_text(name: str, problem: dict, config: dict) -> str:
    kernel = kernels.code(name)
    full = kernel.problem({"dtype": "float32", **problem}, "cpu")
    return lower(lambda: kernel.build(full, kernel.config(config, CPU, full), CPU), CPU, {}).source


def test_a_panel_without_a_swizzle_is_idle():
    other = {**GEMM, "panel_size": 4}
    assert same("gemm", "sm_90a", SHAPE, GEMM, other)
    assert lowered("gemm", "sm_90a", SHAPE, GEMM).source == lowered("gemm", "sm_90a", SHAPE, other).source


@pytest.mark.parametrize("knob", [{"num_stages": 3}, {"num_stages": 1}, {"enable_swizzle": True}, {"threads": 256}], ids=str)
def test_what_changes_the_code_stays_apart(knob):
    """Stages beyond the iterations of the loop do change it: they take shared memory all the same."""
    other = {**GEMM, **knob}
    assert not same("gemm", "sm_90a", SHAPE, GEMM, other)
    one, two = lowered("gemm", "sm_90a", SHAPE, GEMM), lowered("gemm", "sm_90a", SHAPE, other)
    assert (one.source, one.shared_bytes) != (two.source, two.shared_bytes)


def test_columns_beyond_the_row_are_idle():
    one, other = ({"variant": "online", "block_N": n, "threads": 128} for n in (1024, 8192))
    assert same("softmax", "sm_90a", {"M": 4, "N": 1000}, one, other)
    assert lowered("softmax", "sm_90a", {"M": 4, "N": 1000}, one).source == lowered("softmax", "sm_90a", {"M": 4, "N": 1000}, other).source
    assert not same("softmax", "sm_90a", {"M": 4, "N": 1025}, one, other)


@pytest.mark.parametrize(
    ("variant", "knobs"),
    [
        ("whole", {"block_N": 2048, "cluster": 4}),
        ("cluster", {"block_M": 8, "block_N": 2048}),
        ("online", {"hold": "input", "blocks_per_sm": 2, "cluster": 4}),
    ],
)
def test_knobs_of_other_variants_are_idle(variant, knobs):
    one, other = {"variant": variant, "threads": 128}, {"variant": variant, "threads": 128, **knobs}
    assert same("softmax", "sm_90a", {"M": 16, "N": 4000}, one, other)
    texts = [lowered("softmax", "sm_90a", {"M": 16, "N": 4000}, config).source for config in (one, other)]
    assert texts[0] == texts[1] != ""


@pytest.mark.parametrize(
    ("name", "problem", "knobs"),
    [
        ("vector_add", {"N": 100}, {"threads": 512}),
        ("gemm", {"M": 40, "N": 40, "K": 40}, {"threads": 512, "num_stages": 3, "enable_swizzle": False, "panel_size": 4}),
        ("gemm_bias_gelu", {"M": 40, "N": 40, "K": 40}, {"threads": 512, "num_stages": 3, "enable_swizzle": False, "panel_size": 4}),
        ("softmax", {"M": 4, "N": 100}, {"blocks_per_sm": 2, "block_N": 16384, "hold": "input"}),
        ("flash_attention", {"B": 1, "H": 1, "Sq": 9, "Sk": 40, "D": 64}, {"threads": 256, "num_stages": 2}),
    ],
)
def test_threads_and_stages_are_idle_on_the_cpu(name, problem, knobs):
    assert same(name, "cpu", {"dtype": "float32", **problem}, {}, knobs)
    assert c_text(name, problem, {}) == c_text(name, problem, knobs)


def test_pass_configs_stay_in_the_canonical_form():
    assert not same("gemm", "sm_90a", SHAPE, GEMM, {**GEMM, "tl.enable_fast_math": True})
