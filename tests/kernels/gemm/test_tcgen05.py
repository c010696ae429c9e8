"""The tcgen05 variant of gemm: its rules held against what lowers, and the order of its waits read from the CUDA text."""

import inspect
import os
import re
import tempfile

import pytest

from tileviz import kernels
from tileviz.compiler.lowering import lower
from tileviz.compiler.targets import TARGETS, target
from tileviz.errors import CompileFailed
from tileviz.kernels.gemm import tcgen05
from tileviz.kernels.toolkit import base

BLACKWELL = target("sm_100a")
PROBLEM = {"M": 1024, "N": 1024, "K": 512, "dtype": "float16", "layout": "NN"}
CONFIG = {"block_M": 128, "block_N": 256, "block_K": 64, "num_stages": 4, "threads": 128, "enable_swizzle": True, "panel_size": 8}


def lowered(problem: dict, config: dict, arch=BLACKWELL):
    os.environ.setdefault("TILELANG_CACHE_DIR", tempfile.mkdtemp(prefix="tilelang-"))
    return lower(lambda: tcgen05.program(**problem, **config), arch, {})


def tile(M: int, N: int, K: int = 64, stages: int = 2, threads: int = 128) -> dict:
    return {"block_M": M, "block_N": N, "block_K": K, "num_stages": stages, "threads": threads}


RUNS = [
    ({}, {}),
    ({"dtype": "bfloat16", "layout": "NT"}, {}),
    ({}, tile(256, 256, threads=256)),
    ({}, tile(256, 128, K=32, threads=512)),
    ({}, tile(64, 256)),
    ({"layout": "NT"}, tile(64, 64, K=16, stages=1, threads=384)),
    ({}, tile(32, 128, threads=256)),
    ({}, tile(128, 512, K=32)),
    ({}, tile(128, 48)),
    ({"layout": "NT"}, tile(128, 16, K=128, stages=0)),
    ({"M": 1000, "N": 1000, "K": 1000}, {}),
    ({"M": 1, "N": 8, "K": 8}, {}),
    ({"M": 1001, "N": 1003, "K": 1000, "layout": "NT"}, {}),
]


@pytest.mark.parametrize(("problem", "config"), RUNS, ids=str)
def test_what_breaks_no_rule_lowers_with_the_shared_and_tensor_memory_foreseen(problem, config):
    problem, config = {**PROBLEM, **problem}, {**CONFIG, **config}
    estimate = tcgen05.estimate(problem, config, BLACKWELL)
    assert estimate.broken == ()
    made = lowered(problem, config)
    (launch,) = made.launches
    assert launch.dynamic_shared_bytes == estimate.shared_bytes - 1024
    assert launch.threads == estimate.threads_launched == config["threads"]
    (columns,) = re.findall(r"tmem_allocate\(\(&\(acc\[0\]\)\), (\d+)\)", made.source)
    needed = -(-config["block_M"] * config["block_N"] // 128)
    assert int(columns) == max(32, 1 << (needed - 1).bit_length()), "a power of two, at least 32"
    assert ("tl::tma_store(C_desc" in made.source) == (problem["N"] % 8 == 0)


@pytest.mark.parametrize(
    ("problem", "config", "words"),
    [
        ({"dtype": "float32"}, tile(128, 128, 32), "multiplies float16 and bfloat16, not float32"),
        ({"K": 1004}, {}, "rows of A in multiples of 8 elements, not 1,004"),
        ({"N": 1003}, {}, "rows of B in multiples of 8 elements, not 1,003"),
        ({}, tile(16, 64), "takes 32, 64 or a multiple of 128 rows, not 16"),
        ({}, tile(64, 32), "64 rows takes columns in multiples of 64, not 32"),
        ({}, tile(128, 24), "128 rows takes columns in multiples of 16, not 24"),
        ({}, tile(128, 128, K=24), "depth in multiples of 16, not 24"),
        ({}, tile(256, 384, K=16), "over the 65,536 cells of tensor memory"),
        ({}, tile(128, 128, threads=64), "not whole warp groups of 128"),
    ],
    ids=str,
)
def test_what_a_rule_forbids_does_not_lower(problem, config, words):
    problem, config = {**PROBLEM, **problem}, {**CONFIG, **config}
    assert words in "; ".join(tcgen05.estimate(problem, config, BLACKWELL).broken)
    with pytest.raises(CompileFailed):
        lowered(problem, config)


def test_a_tile_over_the_shared_memory_is_refused():
    (broken,) = tcgen05.estimate(PROBLEM, {**CONFIG, "num_stages": 5}, BLACKWELL).broken
    assert broken.startswith("shared memory 246,784 B is over the 232,448 B")


def test_a_second_half_that_would_start_inside_a_panel_of_B_is_refused():
    """It lowers: 320 columns are multiplied as 2 times 160, and the second part of B is looked for 2.5 panels of 64 columns further."""
    (broken,) = tcgen05.estimate(PROBLEM, {**CONFIG, **tile(128, 320)}, BLACKWELL).broken
    assert "columns in multiples of 128, not 320" in broken


@pytest.mark.parametrize("arch", ["sm_80", "sm_90a", "sm_120a"])
def test_other_architectures_are_told_what_it_needs(arch):
    assert "needs tcgen05: sm_100a or sm_103a" in tcgen05.estimate(PROBLEM, CONFIG, target(arch)).broken[0]
    with pytest.raises(CompileFailed):
        lowered(PROBLEM, CONFIG, target(arch))


def test_gemm_takes_it_where_it_can_and_the_plain_variant_elsewhere():
    for name in ("gemm", "gemm_bias_gelu"):
        described = kernels.code(name)
        for arch, problem, variant in (
            ("sm_100a", {}, "tcgen05"),
            ("sm_103a", {"dtype": "bfloat16", "layout": "NT"}, "tcgen05"),
            ("sm_100a", {"dtype": "float32"}, "plain"),
            ("sm_100a", {"K": 243}, "plain"),
            ("sm_120a", {}, "plain"),
        ):
            full = described.problem(problem)
            config = described.config({}, target(arch), full)
            assert config["variant"] == variant
            assert described.rules(full, config, target(arch)).broken == ()


def test_it_is_offered_only_where_it_can_be():
    (knob,) = (knob for knob in kernels.code("gemm").knobs if knob.name == "variant")
    assert [arch for arch in TARGETS if "tcgen05" in knob.offered(arch)] == ["sm_100a", "sm_103a"]


def test_its_sums_take_a_bias_and_an_activation_on_their_way_out():
    described = kernels.code("gemm_bias_gelu")
    problem = described.problem({**PROBLEM, "epilogue": "bias_relu"})
    config = described.config({}, BLACKWELL, problem)
    os.environ.setdefault("TILELANG_CACHE_DIR", tempfile.mkdtemp(prefix="tilelang-"))
    text = lower(lambda: described.build(problem, config, BLACKWELL), BLACKWELL, {}).source
    read, bias, written = (text.index(words) for words in ("tl::tcgen05_ld_32dp32bNx<64", "(float)added[", "tl::tma_store(C_desc"))
    assert read < bias < written


def test_the_lines_of_its_code_are_counted_in_its_own_file():
    described = kernels.code("gemm")
    problem = described.problem(PROBLEM)
    made = lower(lambda: described.build(problem, described.config({}, BLACKWELL, problem), BLACKWELL), BLACKWELL, {})
    assert made.program == inspect.getsource(tcgen05)
    program = [""] + made.program.splitlines()
    linked = {program[line].strip() for text, line in zip(made.source.split("\n"), made.lines) if "tl::tcgen05mma_ss<" in text}
    assert linked == {"T.tcgen05_gemm("}


def test_a_change_of_its_file_is_a_change_of_gemm(monkeypatch):
    before = {name: kernels.code(name).source_hash for name in kernels.names()}
    real = inspect.getsource
    monkeypatch.setattr(inspect, "getsource", lambda of: real(of) + ("#" if of is tcgen05 else ""))
    monkeypatch.setattr(base, "_hashed", {})
    changed = {name for name in kernels.names() if kernels.code(name).source_hash != before[name]}
    assert changed == {"gemm", "gemm_bias_gelu"}


def test_it_says_that_we_never_ran_it():
    assert any("never run by us" in note for note in tcgen05.estimate(PROBLEM, CONFIG, BLACKWELL).notes)


def test_waits_come_in_an_order_in_which_nothing_is_read_early():
    """Everyone waits for the last product before the sums are read, and for each other before the tensor memory is given back, by the
    warp that took it; each product waits for its operands, each copy for its place."""
    text = lowered(PROBLEM, CONFIG).source
    order = (
        "tl::tmem_allocate", "if (((int)threadIdx.x) < 32)", "free[(k & 3)].wait(", "filled[(k & 3)].expect_transaction(",
        "tl::tma_load(A_desc", "tl::tma_load(B_desc", "filled[(k & 3)].arrive()", "filled[(k_1 & 3)].wait(",
        "tl::tcgen05_after_thread_sync", "tl::tcgen05mma_ss<", "tl::tcgen05_mma_arrive((&(free[(k_1 & 3)])))",
        "tl::tcgen05_mma_arrive((&(finished[0])))", "finished[0].wait(0)", "tl::tcgen05_after_thread_sync",
        "tl::tcgen05_ld_32dp32bNx<64", "__syncthreads", "tl::fence_proxy_async", "tl::tma_store(C_desc",
        "__syncthreads", "if (((int)threadIdx.x) < 32)", "tl::tmem_deallocate",
    )  # fmt: skip
    at = 0
    for words in order:
        found = text.find(words, at)
        assert found >= 0, f"'{words}' does not come after character {at}"
        at = found + 1
    assert text.count("tl::tmem_deallocate") == 1


@pytest.mark.parametrize("stages", [1, 3, 4])
def test_barriers_are_awaited_in_the_phase_of_their_round(stages):
    """The expressions of the CUDA text, counted through a loop of 64 steps."""
    text = lowered({**PROBLEM, "K": 2048}, {**CONFIG, **tile(128, 128, K=32, stages=stages)}).source
    (free,) = re.findall(r"\bfree\[(.+?)\]\.wait\((.+)\);", text)
    (filled,) = re.findall(r"\bfilled\[(.+?)\]\.wait\((.+)\);", text)
    for k in range(64):
        buffer, phase = (int(eval(words.replace("/", "//").replace("k_1", "k"), {"k": k})) for words in filled)
        assert (buffer, phase) == (k % stages, k // stages % 2)
        buffer, phase = (int(eval(words.replace("/", "//"), {"k": k})) for words in free)
        assert (buffer, phase) == (k % stages, (k // stages + 1) % 2)


def test_the_instruction_is_told_the_shape_types_and_storage_of_its_operands():
    """PTX ISA 9, instruction descriptor of kind::f16: float32 sums in bit 4, bfloat16 in bits 7 and 10, B not along K in bit 16, N / 8 from
    bit 17, M / 16 from bit 24."""
    for dtype, layout in (("float16", "NN"), ("float16", "NT"), ("bfloat16", "NN"), ("bfloat16", "NT")):
        text = lowered({**PROBLEM, "dtype": dtype, "layout": layout}, CONFIG).source
        (word,) = set(re.findall(r"static_cast<uint32_t>\((\d+)\)", text))
        half = (1 << 7 | 1 << 10) if dtype == "bfloat16" else 0
        assert int(word) == 1 << 4 | half | (layout == "NN") << 16 | 256 // 8 << 17 | 128 // 16 << 24
