"""The default of every kernel lowers and fits on every target, with the instructions that its target is known for (V01)."""

import re

import pytest

from tests import long_proofs
from tests.kernels.lowered import lowered
from tileviz import kernels

TARGETS = ("sm_75", "sm_80", "sm_89", "sm_90a", "sm_100a", "sm_120a")
GEMM_CORE = {
    "sm_75": "mma_sync",
    "sm_80": "mma_sync",
    "sm_89": "mma_sync",
    "sm_90a": "wgmma_ss",
    "sm_100a": "tcgen05mma_ss",
    "sm_120a": "mma_sync",
}
COPY = {"sm_75": None, "sm_80": "cp_async_gs", "sm_89": "cp_async_gs", "sm_90a": "tma_load", "sm_100a": "tma_load", "sm_120a": "tma_load"}
CALLS = ("tcgen05mma_ss", "wgmma_ss", "wgmma_rs", "mma_sync", "cp_async_gs", "tma_load")


def calls(source: str) -> set[str]:
    return {name for name in CALLS if re.search(rf"\btl::{name}\b", source)}


def instructions(name: str, arch: str) -> set[str] | None:
    """The calls that a kernel of ours is known for on a target; None for any other kernel."""
    if name in ("vector_add", "softmax"):
        return set()
    if name not in ("gemm", "gemm_bias_gelu", "flash_attention"):
        return None
    if name == "flash_attention" and arch == "sm_100a":
        return {"mma_sync", "tma_load"}
    second_product = {"wgmma_rs"} if name == "flash_attention" and arch == "sm_90a" else set()
    return ({GEMM_CORE[arch], COPY[arch]} - {None}) | second_product


PAIRS = [(name, arch) for name in kernels.names() for arch in TARGETS]
USUAL = [place for place, (_, arch) in enumerate(PAIRS) if arch in ("sm_80", "sm_90a", "sm_100a")]


@pytest.mark.parametrize(("name", "arch"), long_proofs.cases(PAIRS, *USUAL))
def test_the_default_lowers_and_fits(name, arch):
    outcome = lowered(name, arch)
    assert outcome.runs, outcome.error
    assert outcome.estimate.broken == ()
    assert instructions(name, arch) in (None, calls(outcome.source))


LENGTHS = [(arch, N) for arch in TARGETS for N in (1, 7, 1000, 100_001, 262_144)]


@pytest.mark.parametrize(("arch", "N"), long_proofs.cases(LENGTHS, *range(0, len(LENGTHS), 7)))
def test_softmax_lowers_for_any_length(arch, N):
    outcome = lowered("softmax", arch, {"N": N, "M": 5})
    assert outcome.runs, outcome.error


@pytest.mark.parametrize(
    ("arch", "problem"),
    long_proofs.cases(
        [
            ("sm_75", {"D": 256}),
            ("sm_80", {"causal": True}),
            ("sm_89", {"D": 128, "dtype": "float32"}),
            ("sm_90a", {"D": 256, "causal": True}),
            ("sm_90a", {"dtype": "float32"}),
            ("sm_100a", {"D": 64, "Sq": 77, "Sk": 131, "causal": True}),
            ("sm_120a", {"D": 256, "dtype": "float32"}),
        ],
        0,
        4,
    ),
    ids=str,
)
def test_attention_has_a_tile_that_fits_every_head_and_dtype(arch, problem):
    outcome = lowered("flash_attention", arch, problem)
    assert outcome.runs, outcome.error


@pytest.mark.parametrize(
    ("arch", "problem"), [("sm_90a", {"dtype": "float32"}), ("sm_80", {"M": 1, "K": 511}), ("sm_90a", {"M": 1001, "N": 1003, "K": 999})]
)
def test_gemm_has_a_config_for_any_problem(arch, problem):
    outcome = lowered("gemm", arch, problem)
    assert outcome.runs, outcome.error
