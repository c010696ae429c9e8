"""The schedules of attention laid out by hand: their rules against TileLang itself, and the order of the work in the generated text."""

import re

import pytest

from tests import long_proofs
from tests.kernels.lowered import lowered
from tileviz import kernels
from tileviz.compiler import disassembly, machine_code
from tileviz.compiler.targets import target
from tileviz.errors import CompileFailed

SMALL = {"B": 1, "H": 1, "Sq": 300, "Sk": 300, "D": 64}


def tile(M: int, N: int, stages: int, threads: int, schedule: str = "pingpong", **more) -> dict:
    return {"block_M": M, "block_N": N, "num_stages": stages, "threads": threads, "schedule": schedule, **more}


RULES = [
    # rows of a warp group: 64, no more and no less
    ("sm_90a", SMALL, tile(64, 64, 2, 128)),
    ("sm_90a", SMALL, tile(128, 48, 2, 128)),
    ("sm_90a", SMALL, tile(192, 64, 2, 384)),
    ("sm_90a", SMALL, tile(256, 64, 2, 256)),
    ("sm_90a", SMALL, tile(64, 64, 2, 256)),
    ("sm_90a", SMALL, tile(96, 64, 2, 192)),
    ("sm_90a", SMALL, tile(32, 64, 2, 64)),
    # keys of a tile
    ("sm_90a", SMALL, tile(128, 24, 2, 256)),
    ("sm_90a", SMALL, tile(64, 256, 2, 128, "overlap")),
    ("sm_90a", SMALL, tile(64, 272, 2, 128, "overlap")),
    # shared memory, threads, slots
    ("sm_90a", {**SMALL, "D": 128}, tile(128, 176, 2, 256)),
    ("sm_90a", {**SMALL, "D": 256}, tile(128, 96, 2, 256)),
    ("sm_90a", SMALL, tile(512, 64, 2, 1024)),
    ("sm_90a", SMALL, tile(128, 64, 1, 256)),
    ("sm_90a", SMALL, tile(128, 64, 3, 256, blocks=132, heads_together=4)),
    ("sm_90a", {**SMALL, "D": 128}, tile(128, 160, 2, 256, store="shared")),
    ("sm_90a", {**SMALL, "D": 128}, tile(128, 176, 2, 256, store="shared")),
    ("sm_90a", {**SMALL, "D": 128}, tile(128, 176, 2, 256, store="queries")),
    # where wgmma and TMA are not
    ("sm_90a", {**SMALL, "dtype": "float32"}, tile(128, 64, 2, 256)),
    ("sm_90a", {**SMALL, "dtype": "bfloat16"}, tile(128, 64, 2, 256)),
    ("sm_90a", SMALL, tile(128, 64, 2, 256, **{"tl.disable_wgmma": True})),
    ("sm_90a", SMALL, tile(128, 64, 2, 256, **{"tl.disable_warp_specialized": True})),
    ("sm_80", SMALL, tile(128, 64, 2, 256)),
    ("sm_100a", SMALL, tile(128, 64, 2, 256)),
    # problems that are not whole tiles
    ("sm_90a", {**SMALL, "Sq": 6, "Sk": 4, "causal": True}, tile(64, 64, 2, 128, blocks=132)),
    ("sm_90a", {**SMALL, "Sq": 1, "Sk": 1000, "scale": -1.0}, tile(64, 64, 4, 128)),
]


ALWAYS = (1, 2, 5, 6, 7, 9, 13, 18, 20, 22, 23, 24)
"""Of the rules, those that are quickly refused, and the least of the configs that lower."""


@pytest.mark.parametrize(("arch", "problem", "config"), long_proofs.cases(RULES, *ALWAYS), ids=str)
def test_a_config_is_pruned_exactly_when_it_cannot_run(arch, problem, config):
    outcome = lowered("flash_attention", arch, problem, config)
    said = "; ".join(outcome.estimate.broken)
    assert outcome.runs != bool(outcome.estimate.broken), f"pruned: '{said}'; TileLang: '{outcome.error[-300:]}'"
    if not outcome.error:
        assert (outcome.estimate.shared_bytes, outcome.estimate.threads_launched) == (outcome.shared_bytes, outcome.threads)


@pytest.mark.parametrize(
    ("D", "config"),
    long_proofs.cases(
        [
            (256, tile(192, 16, 2, 384)),
            (128, tile(256, 32, 2, 512, "overlap", store="shared")),
            (64, tile(192, 208, 1, 384, "plain")),
            (256, tile(192, 16, 0, 384, "plain")),
        ],
        3,
    ),
    ids=str,
)
def test_both_products_must_fit_the_registers_of_a_thread(D, config):
    """Held against ptxas, which refuses: lowering alone does not tell."""
    outcome = lowered("flash_attention", "sm_90a", {**SMALL, "D": D}, config)
    assert outcome.runs
    if outcome.estimate.broken:
        (said,) = outcome.estimate.broken
        assert "registers a thread" in said
        with pytest.raises(CompileFailed, match="Insufficient registers"):
            machine_code.compile_cuda(outcome.source, target("sm_90a"), {})
    else:
        assert machine_code.compile_cuda(outcome.source, target("sm_90a"), {}).cubin


def same(one: dict, other: dict, **problem) -> bool:
    kernel, hopper = kernels.code("flash_attention"), target("sm_90a")
    full = kernel.problem({**SMALL, **problem})
    forms = [kernel.same_code(full, kernel.config(config, hopper, full), hopper) for config in (one, other)]
    texts = [lowered("flash_attention", "sm_90a", {**SMALL, **problem}, config).source for config in (one, other)]
    assert (forms[0] == forms[1]) == (texts[0] == texts[1] != "")
    return forms[0] == forms[1]


def test_a_knob_that_changes_nothing_is_found():
    assert same(tile(64, 64, 2, 128), tile(64, 64, 2, 128, "overlap")), "a lone warp group has nobody to take turns with"


@pytest.mark.slow
def test_knobs_that_change_nothing_are_found():
    assert same(tile(64, 64, 2, 128), tile(64, 64, 2, 128, blocks=132)), "more blocks than tiles of rows"
    assert same(tile(64, 64, 2, 128), tile(64, 64, 2, 128, heads_together=4)), "without a mask all tiles are alike"
    assert same(tile(64, 64, 1, 128, "plain"), tile(64, 64, 1, 128, "plain", blocks=132, heads_together=4, rescale="vote", store="shared"))


def test_a_knob_that_changes_the_code_stays_apart():
    assert not same(tile(64, 64, 2, 128), tile(64, 64, 2, 128, blocks=2))


@pytest.mark.slow
def test_knobs_that_change_the_code_stay_apart():
    assert not same(tile(128, 64, 2, 256), tile(128, 64, 2, 256, "overlap"))
    assert not same(tile(64, 64, 2, 128, rescale="always"), tile(64, 64, 2, 128, rescale="vote"))
    assert not same(tile(64, 64, 2, 128, store="shared"), tile(64, 64, 2, 128, store="queries"))
    assert not same(tile(64, 64, 2, 128, heads_together=1), tile(64, 64, 2, 128, heads_together=4), causal=True, H=4)


@pytest.mark.parametrize(("D", "causal"), long_proofs.cases([(64, False), (128, False), (128, True), (256, False)], 0))
def test_the_softmax_stays_between_the_two_waits(D, causal):
    """ptxas is free to wait for P V first: then nothing overlaps, and the numbers are right all the same. The machine code tells."""
    kernel, hopper = kernels.code("flash_attention"), target("sm_90a")
    problem = kernel.problem({"D": D, "causal": causal})
    config = kernel.config({}, hopper, problem)
    source = lowered("flash_attention", "sm_90a", {"D": D, "causal": causal}).source
    made = machine_code.compile_cuda(source, hopper, kernel.pass_configs(config))
    assert "serialized" not in made.log
    between = re.split(r"WARPGROUP\.DEPBAR\.LE gsb0, 0x([01])", disassembly.sass(made.cubin).text)
    loop = between[between.index("1") + 1]
    exponentials = config["block_M"] * config["block_N"] // config["threads"]
    assert loop.count("MUFU.EX2") >= exponentials
