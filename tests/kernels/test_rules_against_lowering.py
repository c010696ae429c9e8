"""The rules never prune what lowers and fits, and let nothing through that does not: held against TileLang itself.

A config is made to lower with its rules ignored. A pruned one must fail there or be over a limit; any other must lower, fit, and have the
shared memory and threads that were foreseen. Every line stands for a way to go wrong; the offered choices of sm_90a are all tried.
"""

import itertools

import pytest

from tests import long_proofs
from tests.kernels.lowered import lowered

SMALL = {"M": 256, "N": 256, "K": 256}
WS_OFF = {"tl.disable_warp_specialized": True}
WGMMA_OFF = {"tl.disable_wgmma": True}


def tile(M: int, N: int, K: int, stages: int, threads: int, **more) -> dict:
    plain = {"variant": "plain", "store": "direct", "policy": "Square"}
    return {**plain, "block_M": M, "block_N": N, "block_K": K, "num_stages": stages, "threads": threads, **more}


def attention_tile(M: int, N: int, stages: int, threads: int, **more) -> dict:
    return {"block_M": M, "block_N": N, "num_stages": stages, "threads": threads, "schedule": "plain", **more}


def attention(Sq: int, Sk: int, **more) -> dict:
    return {"B": 1, "H": 1, "Sq": Sq, "Sk": Sk, "D": 64, **more}


GEMM = [
    # depth that is not whole steps of the matrix instruction
    ("sm_80", {**SMALL, "layout": "NT"}, tile(64, 64, 24, 1, 128)),
    ("sm_80", {**SMALL, "dtype": "float32"}, tile(64, 64, 24, 1, 128)),
    ("sm_80", SMALL, tile(64, 64, 8, 1, 128)),
    ("sm_80", {**SMALL, "dtype": "float32"}, tile(64, 64, 4, 1, 128)),
    ("sm_75", SMALL, tile(64, 64, 24, 1, 128)),
    ("sm_90a", SMALL, tile(64, 64, 40, 1, 128)),
    ("sm_90a", SMALL, tile(64, 64, 48, 2, 128)),
    ("sm_90a", {**SMALL, "dtype": "bfloat16"}, tile(64, 64, 8, 1, 128)),
    # warps that cannot cover the tile
    ("sm_80", {"M": 16, "N": 104, "K": 64}, tile(16, 104, 64, 1, 384)),
    ("sm_90a", SMALL, tile(128, 128, 32, 2, 96)),
    ("sm_90a", SMALL, tile(8, 64, 32, 1, 128)),
    ("sm_90a", SMALL, tile(16, 20, 32, 1, 32)),
    ("sm_90a", SMALL, tile(100, 64, 32, 1, 128)),
    ("sm_90a", SMALL, tile(16, 64, 32, 1, 128)),
    ("sm_90a", SMALL, tile(96, 48, 32, 1, 384)),
    ("sm_90a", SMALL, tile(192, 96, 64, 2, 384)),
    ("sm_75", {**SMALL, "dtype": "float32"}, tile(48, 96, 16, 0, 1024)),
    ("sm_75", {**SMALL, "dtype": "float32"}, tile(32, 24, 16, 0, 1024)),
    # columns of wgmma
    ("sm_90a", SMALL, tile(64, 24, 64, 1, 128)),
    ("sm_90a", SMALL, tile(128, 48, 64, 1, 256)),
    ("sm_90a", {**SMALL, "layout": "NT"}, tile(128, 48, 64, 1, 256)),
    ("sm_90a", SMALL, tile(128, 48, 64, 1, 256, **WGMMA_OFF)),
    # shared memory: on and over the limit
    ("sm_75", SMALL, tile(128, 128, 64, 2, 256)),
    ("sm_75", SMALL, tile(128, 128, 64, 3, 256)),
    ("sm_120a", {**SMALL, "layout": "NT"}, tile(128, 256, 64, 4, 256)),
    ("sm_90a", SMALL, tile(128, 256, 64, 4, 256)),
    ("sm_90a", SMALL, tile(128, 256, 64, 5, 256)),
    ("sm_90a", {**SMALL, "dtype": "float32"}, tile(128, 128, 32, 7, 256)),
    ("sm_90a", {**SMALL, "dtype": "float32"}, tile(128, 128, 32, 8, 256)),
    # threads really launched
    ("sm_90a", SMALL, tile(128, 128, 32, 2, 1024)),
    ("sm_90a", SMALL, tile(128, 128, 32, 0, 1024)),
    ("sm_90a", SMALL, tile(128, 128, 32, 2, 1024, **WS_OFF)),
    ("sm_80", SMALL, tile(128, 128, 32, 1, 1024)),
    ("sm_90a", {**SMALL, "N": 500}, tile(128, 128, 32, 2, 512)),
    ("sm_90a", {**SMALL, "N": 500}, tile(128, 128, 32, 2, 1024)),
    # C through shared memory, in place of the buffers or larger than they are
    ("sm_75", SMALL, tile(128, 128, 32, 0, 128, store="shared")),
    ("sm_80", SMALL, tile(128, 128, 64, 1, 256, store="shared", policy="FullRow")),
    ("sm_90a", SMALL, tile(256, 256, 64, 1, 256, store="shared")),
    ("sm_90a", {"M": 250, "N": 231, "K": 243}, tile(64, 64, 32, 2, 128, store="shared")),
    ("sm_90a", {**SMALL, "dtype": "float32"}, tile(128, 128, 32, 2, 128, store="shared")),
    ("sm_90a", SMALL, tile(128, 64, 64, 3, 256, store="shared", **WS_OFF)),
    ("sm_120a", SMALL, tile(128, 128, 32, 1, 128, store="shared")),
    # whole rows for each warp, as far as they cover the tile
    ("sm_80", SMALL, tile(32, 128, 64, 1, 256, policy="FullRow")),
    ("sm_90a", SMALL, tile(128, 48, 64, 2, 256, policy="FullRow")),
    # rows that TMA or cp.async cannot copy
    ("sm_90a", {"M": 512, "N": 512, "K": 100}, tile(128, 128, 64, 2, 256)),
    ("sm_90a", {"M": 511, "N": 511, "K": 511}, tile(128, 128, 64, 2, 256)),
    ("sm_80", {"M": 1, "N": 64, "K": 511}, tile(64, 64, 32, 1, 128)),
    ("sm_80", {"M": 1, "N": 64, "K": 511}, tile(64, 64, 32, 0, 128)),
    ("sm_80", {"M": 2, "N": 64, "K": 511}, tile(64, 64, 32, 1, 128)),
    ("sm_90a", {"M": 1, "N": 100, "K": 511, "layout": "NT"}, tile(64, 64, 32, 1, 128)),
]

ATTENTION = [
    # rows of a warp
    ("sm_90a", attention(300, 300), attention_tile(64, 64, 1, 256)),
    ("sm_90a", attention(300, 300), attention_tile(128, 128, 2, 256)),
    ("sm_90a", attention(300, 300), attention_tile(192, 64, 1, 256)),
    ("sm_90a", attention(300, 300), attention_tile(256, 64, 1, 256)),
    ("sm_90a", attention(300, 300), attention_tile(256, 64, 1, 128)),
    ("sm_90a", attention(300, 300), attention_tile(64, 24, 1, 128)),
    ("sm_120a", attention(300, 300), attention_tile(64, 64, 2, 128)),
    # float32 goes by shared memory, so warps may share a row
    ("sm_90a", attention(300, 300, dtype="float32"), attention_tile(64, 64, 1, 256)),
    ("sm_90a", attention(300, 300, dtype="float32"), attention_tile(128, 64, 2, 256)),
    ("sm_90a", attention(300, 300, dtype="float32"), attention_tile(16, 16, 1, 128)),
    # a loop whose length depends on the block
    ("sm_80", attention(300, 300, causal=True), attention_tile(64, 64, 2, 128)),
    ("sm_80", attention(300, 300, causal=True), attention_tile(64, 64, 1, 128)),
    ("sm_80", attention(300, 40, causal=True), attention_tile(64, 64, 2, 128)),
    ("sm_80", attention(40, 300, causal=True), attention_tile(64, 64, 2, 128)),
    ("sm_75", attention(300, 300, causal=True), attention_tile(64, 64, 2, 128)),
    ("sm_90a", attention(300, 300, causal=True), attention_tile(64, 64, 2, 128)),
    ("sm_90a", attention(300, 300, causal=True), attention_tile(64, 64, 2, 128, **WS_OFF)),
    # shared memory
    ("sm_90a", attention(300, 300, D=128), attention_tile(192, 128, 2, 384)),
    ("sm_90a", attention(300, 300, D=256), attention_tile(128, 128, 2, 256)),
    ("sm_90a", attention(6, 4), attention_tile(64, 64, 0, 128)),
    ("sm_90a", attention(6, 4), attention_tile(64, 64, 2, 128)),
]

SOFTMAX = [
    ("sm_75", {"M": 3, "N": 1}, {"block_M": 1, "threads": 128}),
    ("sm_80", {"M": 3, "N": 1000, "dtype": "float32"}, {"block_M": 4, "threads": 1024}),
    ("sm_90a", {"M": 3, "N": 31}, {"block_M": 64, "threads": 32}),
    ("sm_90a", {"M": 3, "N": 31}, {"block_M": 32, "threads": 32}),
    ("sm_90a", {"M": 3, "N": 100_001}, {"variant": "online", "block_M": 2, "block_N": 8192, "threads": 512}),
    ("sm_90a", {"M": 3, "N": 262_144}, {"variant": "online", "block_M": 1, "block_N": 65536, "threads": 1024}),
    ("sm_120a", {"M": 3, "N": 8193, "dtype": "bfloat16"}, {"variant": "whole", "block_M": 1, "threads": 2048}),
    # clusters of blocks
    ("sm_90a", {"M": 3, "N": 100_001}, {"variant": "cluster", "cluster": 8, "threads": 512, "hold": "input"}),
    ("sm_90a", {"M": 3, "N": 4096, "dtype": "float32"}, {"variant": "cluster", "cluster": 2, "threads": 64, "blocks_per_sm": 4}),
]

VECTOR_ADD = [
    ("sm_75", {"N": 1000}, {"block_N": 100, "threads": 33}),
    ("sm_90a", {"N": 1 << 20, "dtype": "float16"}, {"block_N": 4096, "threads": 1024}),
    ("sm_90a", {"N": 1 << 20}, {"block_N": 4096, "threads": 1056}),
]

OFFERED_TILES = [tile(M, N, 64, 2, threads) for M, N, threads in itertools.product((64, 128, 256), (64, 128, 256), (128, 256, 512))]


def foreseen(name: str, arch: str, problem: dict, config: dict) -> None:
    outcome = lowered(name, arch, problem, config)
    said = "; ".join(outcome.estimate.broken)
    assert outcome.runs != bool(outcome.estimate.broken), f"pruned: '{said}'; TileLang: '{outcome.error[-300:]}'"
    if not outcome.error and name != "softmax":
        assert (outcome.estimate.shared_bytes, outcome.estimate.threads_launched) == (outcome.shared_bytes, outcome.threads)


@pytest.mark.parametrize(("arch", "problem", "config"), long_proofs.cases(GEMM, *range(0, len(GEMM), 2)), ids=str)
def test_gemm(arch, problem, config):
    foreseen("gemm", arch, problem, config)


@pytest.mark.slow
def test_every_offered_tile_of_gemm_on_hopper():
    for config in OFFERED_TILES:
        foreseen("gemm", "sm_90a", SMALL, config)


@pytest.mark.parametrize(("arch", "problem", "config"), GEMM[14:30:5], ids=str)
def test_gemm_with_an_epilogue_has_the_same_rules(arch, problem, config):
    foreseen("gemm_bias_gelu", arch, {**problem, "epilogue": "bias_gelu_erf"}, config)


@pytest.mark.parametrize(("arch", "problem", "config"), long_proofs.cases(ATTENTION, *range(0, len(ATTENTION), 3)), ids=str)
def test_attention(arch, problem, config):
    foreseen("flash_attention", arch, problem, config)


@pytest.mark.parametrize(("arch", "problem", "config"), long_proofs.cases(SOFTMAX, *range(0, len(SOFTMAX), 2)), ids=str)
def test_softmax(arch, problem, config):
    foreseen("softmax", arch, problem, config)
    outcome = lowered("softmax", arch, problem, config)
    if outcome.runs:
        assert outcome.shared_bytes <= outcome.estimate.shared_bytes and outcome.threads == outcome.estimate.threads


@pytest.mark.parametrize(("arch", "problem", "config"), VECTOR_ADD, ids=str)
def test_vector_add(arch, problem, config):
    foreseen("vector_add", arch, problem, config)


@pytest.mark.parametrize("config", [attention_tile(64, 64, 0, 128), attention_tile(16, 16, 1, 32)])
def test_attention_on_volta_is_unsupported_because_it_does_not_lower(config):
    assert "Layout infer conflict" in lowered("flash_attention", "sm_70", attention(64, 64), config).error
