"""The variants of GEMM whose warps are told apart by hand: their rules against TileLang, and their generated code read."""

import re

import pytest

from tests import long_proofs
from tests.kernels.lowered import lowered
from tests.kernels.run_cpu import CPU
from tileviz import kernels
from tileviz.compiler import nvrtc
from tileviz.compiler.lowering import lower
from tileviz.compiler.machine_code import compile_cuda
from tileviz.compiler.targets import target
from tileviz.errors import CompileFailed

SQUARE = {"M": 4096, "N": 4096, "K": 4096}
SMALL = {"M": 256, "N": 384, "K": 320}


def config(variant: str, M: int, N: int, K: int, stages: int, threads: int = 256, **more) -> dict:
    return {
        "variant": variant,
        "block_M": M,
        "block_N": N,
        "block_K": K,
        "num_stages": stages,
        "threads": threads,
        "store": "shared",
        **more,
    }


PERSISTENT, PINGPONG = config("persistent", 128, 256, 64, 3, policy="FullRow"), config("pingpong", 64, 128, 64, 3)
SPLIT_K = config("split_k", 64, 64, 64, 2, 128, cluster=4)

CONFIGS = [
    (SQUARE, PERSISTENT),
    (SQUARE, {**PERSISTENT, "num_stages": 4}),
    (SQUARE, {**PERSISTENT, "num_stages": 4, "store": "halves"}),
    (SQUARE, {**PERSISTENT, "cluster": 2}),
    (SMALL, config("persistent", 192, 128, 64, 4, 384)),
    (SMALL, config("persistent", 64, 64, 128, 2, 128)),
    (SMALL, config("persistent", 64, 24, 64, 2, 128)),
    ({**SMALL, "layout": "NT"}, config("persistent", 64, 32, 64, 2, 128)),
    (SMALL, config("persistent", 96, 64, 64, 2, 128)),
    (SMALL, config("persistent", 64, 64, 24, 2, 128)),
    (SMALL, config("persistent", 64, 64, 64, 2, 512)),
    ({**SMALL, "dtype": "bfloat16", "layout": "NT"}, config("persistent", 128, 128, 64, 2, policy="Square")),
    ({"M": 100, "N": 104, "K": 72}, PERSISTENT),
    ({"M": 100, "N": 100, "K": 72}, PERSISTENT),
    ({"M": 100, "N": 104, "K": 70}, PERSISTENT),
    (SMALL, {**PERSISTENT, "tl.disable_warp_specialized": True}),
    (SMALL, {**PERSISTENT, "tl.enable_aggressive_shared_memory_merge": True}),
    (SQUARE, PINGPONG),
    (SQUARE, {**PINGPONG, "store": "halves", "cluster": 2}),
    (SMALL, PINGPONG),
    (SQUARE, config("pingpong", 128, 128, 64, 5)),
    (SQUARE, config("pingpong", 128, 128, 64, 6)),
    (SMALL, SPLIT_K),
    ({**SMALL, "M": 16}, {**SPLIT_K, "cluster": 2}),
    ({**SMALL, "K": 8}, {**SPLIT_K, "cluster": 8}),
    (SMALL, {**SPLIT_K, "tl.enable_aggressive_shared_memory_merge": True}),
]


@pytest.mark.parametrize(("problem", "chosen"), long_proofs.cases(CONFIGS, *range(0, len(CONFIGS), 2)), ids=str)
def test_the_rules_foresee_what_lowers_and_fits(problem, chosen):
    outcome = lowered("gemm", "sm_90a", problem, chosen)
    said = "; ".join(outcome.estimate.broken)
    assert outcome.runs != bool(said), f"pruned: '{said}'; TileLang: '{outcome.error[-300:]}'"
    if not outcome.error:
        assert (outcome.estimate.shared_bytes, outcome.estimate.threads_launched) == (outcome.shared_bytes, outcome.threads)


@pytest.mark.parametrize(
    ("chosen", "said"),
    [
        ({**PINGPONG, "threads": 384}, "pingpong has two warp groups that take turns"),
        ({**PERSISTENT, "num_stages": 1}, "one product is always in flight"),
        ({**PERSISTENT, "num_stages": 4, "store": "halves", "policy": "Square"}, "wrong where warp groups share its columns"),
        ({**PERSISTENT, "cluster": 2, "blocks": 131}, "not whole clusters of 2"),
        ({**SPLIT_K, "cluster": 1}, "shares the depth among 2, 4 or 8 blocks"),
        ({**SPLIT_K, "cluster": 3}, "shares the depth among 2, 4 or 8 blocks"),
    ],
    ids=str,
)
def test_what_lowers_and_would_hang_or_be_wrong_is_refused(chosen, said):
    """Seen on an H200: one stage waits forever; halves of a tile that warp groups share by columns are wrong."""
    kernel, hopper = kernels.code("gemm"), target("sm_90a")
    problem = kernel.problem(SQUARE)
    assert any(said in rule for rule in kernel.rules(problem, kernel.config(chosen, hopper, problem), hopper).broken)


@pytest.mark.parametrize("chosen", [PERSISTENT, PINGPONG, SPLIT_K], ids=lambda chosen: chosen["variant"])
def test_one_product_is_in_flight_while_the_next_begins(chosen):
    source = lowered("gemm", "sm_90a", SQUARE, chosen).source
    assert "tl::wait_wgmma<1>()" in source and "tl::wait_wgmma<0>()" in source
    assert source.index("tl::wgmma_ss") < source.index("tl::wait_wgmma<1>()") < source.index("].arrive(")


def test_whole_rows_make_the_widest_instruction():
    wide, square = (lowered("gemm", "sm_90a", SQUARE, {**PERSISTENT, "policy": policy}).source for policy in ("FullRow", "Square"))
    assert re.search(r"wgmma_ss<[^;]*, 64, 256, 16,", wide)
    assert re.search(r"wgmma_ss<[^;]*, 64, 128, 16,", square)


def test_the_ring_of_buffers_runs_on_from_tile_to_tile():
    """With 3 stages and 64 steps a tile, the second tile begins at buffer 64 % 3 = 1: the step counts both loops."""
    source = lowered("gemm", "sm_90a", SQUARE, PERSISTENT).source
    loads = re.search(r"empty\[\(\(\((\w+) \* 64\) \+ (\w+)\) % 3\)\]\.wait\(\(\(\(\(\(\1 \* 64\) \+ \2\) % 6\) / 3\) \^ 1\)\)", source)
    products = re.search(r"full\[\(\(\((\w+) \* 64\) \+ (\w+)\) % 3\)\]\.wait\(\(\(\(\(\1 \* 64\) \+ \2\) % 6\) / 3\)\)", source)
    assert loads and products


def test_a_cluster_loads_the_columns_of_B_once():
    source = lowered("gemm", "sm_90a", SQUARE, {**PERSISTENT, "cluster": 2}).source
    assert re.search(r"tma_load_multicast\(B_desc[^;]*\(uint16_t\)\(3\)", source)
    assert "tma_load_multicast(A_desc" not in source
    assert "empty[0].init(4)" in source, "two warp groups of each of two blocks"
    assert source.rstrip().removesuffix("}").rstrip().endswith("tl::cluster_sync();")


def test_the_two_groups_of_pingpong_meet_at_barriers_of_their_own():
    source = lowered("gemm", "sm_90a", SQUARE, PINGPONG).source
    used = re.findall(r"__sync_thread_partial\((\d+), (\d+)\)", source)
    assert len({name for name, _ in used}) == 2 and {threads for _, threads in used} == {"128"}


def test_a_warp_group_of_pingpong_waits_for_its_turn_before_it_waits_for_loads():
    """A barrier tells a phase from the one before only: without turns the second group took the first group's loads for its own."""
    source = lowered("gemm", "sm_90a", SQUARE, PINGPONG).source
    for group in (0, 1):
        mine, loads = source.index(f"may_multiply[{group}].wait("), source.index("full[", source.index(f"may_multiply[{group}].wait("))
        handed_on = source.index(f"may_multiply[{1 - group}].arrive(")
        assert mine < loads < handed_on


def test_the_copy_out_runs_on_while_the_next_tile_is_multiplied():
    source = lowered("gemm", "sm_90a", SQUARE, PERSISTENT).source
    wait, write, send = (source.index(text) for text in ("tl::tma_store_wait<0, true>()", "ptx_stmatrix", "tl::tma_store(C_desc"))
    assert wait < source.index("__sync_thread_partial", wait) < write < send
    assert "tma_store_wait" not in source[send : source.index("tl::tma_store_arrive()", send)]


def test_what_other_blocks_send_has_memory_of_its_own():
    """A block may send while another still multiplies, so the inbox must not lie on buffers that are only later free."""
    for merge in (False, True):
        source = lowered("gemm", "sm_90a", SMALL, {**SPLIT_K, "tl.enable_aggressive_shared_memory_merge": merge}).source
        starts = {name: int(at) for name, at in re.findall(r"void\* (\w+) = \(\(void\*\)\(\(char\*\)buf_dyn_shmem \+ (\d+)\)\)", source)}
        ends = {"A_shared": 2 * 64 * 64 * 2, "B_shared": 2 * 64 * 64 * 2, "inbox": 64 * 64 * 4, "outbox": 64 * 64 * 4}
        spans = sorted((starts[name], starts[name] + size) for name, size in ends.items())
        assert all(end <= start for (_, end), (start, _) in zip(spans, spans[1:], strict=False))


def test_a_plain_store_through_shared_memory_takes_the_place_of_the_buffers():
    outcome = lowered("gemm", "sm_90a", SQUARE, {"store": "shared"})
    assert "tma_store(C_desc" in outcome.source
    assert outcome.shared_bytes == lowered("gemm", "sm_90a", SQUARE, {"store": "direct"}).shared_bytes


@pytest.mark.parametrize("variant", ["persistent", "pingpong", "split_k"])
@pytest.mark.parametrize("where", ["cpu", "sm_80", "sm_89", "sm_100a", "sm_120a"])
def test_other_targets_say_where_the_variant_exists(variant, where):
    kernel, chosen = kernels.code("gemm"), CPU if where == "cpu" else target(where)
    problem = kernel.problem({}, chosen.kind)
    broken = kernel.rules(problem, kernel.config({"variant": variant}, chosen, problem), chosen).broken
    assert any(f"variant {variant} is made for sm_90a" in said for said in broken)


def same(one: dict, other: dict) -> bool:
    """Whether two configs are one by their canonical form; then their texts are one, too."""
    kernel, chosen = kernels.code("gemm"), target("sm_90a")
    problem = kernel.problem(SMALL)
    forms = [kernel.same_code(problem, kernel.config(c, chosen, problem), chosen) for c in (one, other)]
    alike = forms[0] == forms[1]
    if alike:
        assert lowered("gemm", "sm_90a", SMALL, one).source == lowered("gemm", "sm_90a", SMALL, other).source
    return alike


@pytest.mark.slow
def test_idle_knobs_of_a_persistent_kernel_are_found():
    assert same({**PERSISTENT, "store": "direct"}, {**PERSISTENT, "store": "shared"})
    assert same({**PERSISTENT, "blocks": 132}, {**PERSISTENT, "blocks": 4})


def test_idle_knobs_of_a_variant_are_found():
    assert same({**PINGPONG, "policy": "Square"}, {**PINGPONG, "policy": "FullRow"})
    assert same({**SPLIT_K, "blocks": 132}, {**SPLIT_K, "blocks": 64, "enable_swizzle": False})
    assert not same({**PERSISTENT, "blocks": 132}, {**PERSISTENT, "blocks": 2})
    plain = config("plain", 64, 64, 64, 2)
    assert same({**plain, "blocks": 132}, {**plain, "store": "halves", "blocks": 64, "cluster": 2})
    assert not same(PERSISTENT, {**PERSISTENT, "store": "halves"})


@pytest.mark.parametrize("epilogue", ["none", "bias_gelu_tanh"])
@pytest.mark.parametrize("chosen", [PERSISTENT, PINGPONG, SPLIT_K], ids=lambda chosen: chosen["variant"])
def test_every_variant_takes_an_epilogue(chosen, epilogue):
    outcome = lowered("gemm_bias_gelu", "sm_90a", {**SMALL, "epilogue": epilogue}, chosen)
    assert outcome.runs, outcome.error
    assert ("fast_rcp" in outcome.source) == (epilogue != "none")


@pytest.mark.parametrize(("variant", "cluster", "blocks"), [("persistent", 1, 128), ("persistent", 2, 128), ("pingpong", 1, 128)])
def test_no_block_is_left_without_a_tile(variant, cluster, blocks):
    """TileLang 0.1.15 takes a loop of at most one round as always taken: on an H200 such a block divided by zero."""
    kernel, hopper = kernels.code("gemm"), target("sm_90a")
    problem = kernel.problem({"M": 2048, "N": 2048, "K": 256})
    knobs = kernel.config({**config(variant, 128, 256, 64, 2), "store": "halves", "policy": "FullRow", "cluster": cluster}, hopper, problem)
    (launch,) = lower(lambda: kernel.build(problem, knobs, hopper), hopper, {}).launches
    assert launch.grid == (blocks, 1, 1)


def test_the_second_group_of_pingpong_knows_whether_its_block_has_a_second_tile():
    """176 tiles for 132 blocks: 44 blocks have two."""
    source = lowered("gemm", "sm_90a", {"M": 2048, "N": 2048, "K": 256}, config("pingpong", 128, 192, 64, 3, store="halves")).source
    assert "if (((int)blockIdx.x) < 44)" in source


@pytest.mark.parametrize("name", ["gemm", "gemm_bias_gelu"])
@pytest.mark.parametrize(
    ("problem", "variant"),
    [
        ({"M": 16, "N": 4096, "K": 4096}, "plain"),
        ({"M": 64, "N": 8192, "K": 8192}, "plain"),
        ({"M": 512, "N": 512, "K": 512}, "persistent"),
        ({"M": 1024, "N": 1024, "K": 1024}, "persistent"),
        ({"M": 1000, "N": 1000, "K": 1000}, "persistent"),
        ({"M": 512, "N": 4096, "K": 4096}, "persistent"),
        ({"M": 4096, "N": 4096, "K": 4096, "dtype": "bfloat16", "layout": "NT"}, "persistent"),
        ({"M": 16384, "N": 4096, "K": 1024}, "pingpong"),
        ({"M": 4096, "N": 4096, "K": 4097}, "plain"),
        ({"M": 4096, "N": 4096, "K": 4096, "dtype": "float32"}, "plain"),
    ],
    ids=str,
)
def test_a_problem_begins_with_the_tile_that_suits_it(name, problem, variant):
    outcome = lowered(name, "sm_90a", problem)
    kernel, hopper = kernels.code(name), target("sm_90a")
    assert kernel.config({}, hopper, kernel.problem(problem))["variant"] == variant
    assert outcome.runs and not outcome.estimate.broken, outcome.error


def test_a_knob_that_does_not_go_with_the_suggestion_brings_the_target_s_own_defaults():
    """64 rows among two warp groups cannot go out in halves, so the rest of the persistent tile is not forced upon them."""
    kernel, hopper = kernels.code("gemm"), target("sm_90a")
    problem = kernel.problem(SQUARE)
    assert kernel.config({"num_stages": 3}, hopper, problem)["variant"] == "persistent"
    knobs = kernel.config({"block_M": 64}, hopper, problem)
    assert (knobs["variant"], knobs["block_M"]) == ("plain", 64)
    assert kernel.rules(problem, knobs, hopper).broken == ()
    assert kernel.config({"tl.disable_wgmma": True}, hopper, problem)["variant"] == "plain"


@pytest.mark.skipif(not nvrtc.is_available(), reason="NVRTC is not installed")
@pytest.mark.parametrize(
    "chosen",
    long_proofs.cases(
        [
            config("persistent", 192, 192, 32, 3, 384, policy="FullRow"),
            config("persistent", 192, 208, 32, 3, 384, policy="FullRow"),
            config("plain", 256, 128, 32, 2, 512, policy="FullRow"),
            config("plain", 256, 160, 32, 2, 512, policy="FullRow"),
            config("plain", 64, 256, 32, 2, 256),
        ],
        0,
        -1,
    ),
    ids=str,
)
def test_an_instruction_must_fit_the_registers_of_a_thread(chosen):
    """Held against ptxas, which refuses: lowering alone does not tell."""
    kernel, hopper = kernels.code("gemm"), target("sm_90a")
    problem = kernel.problem({**SMALL, "layout": "NT"})
    knobs = kernel.config(chosen, hopper, problem)
    broken = kernel.rules(problem, knobs, hopper).broken
    source = lower(lambda: kernel.build(problem, knobs, hopper), hopper, {}).source
    if broken:
        assert "registers a thread" in broken[0]
        with pytest.raises(CompileFailed, match="Insufficient registers"):
            compile_cuda(source, hopper, {})
    else:
        assert compile_cuda(source, hopper, {}).cubin
