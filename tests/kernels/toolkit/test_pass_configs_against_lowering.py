"""The rules under every pass config: what one changes in shared memory, threads and copies is foreseen, or left to the compile.

Each is set to what it is not by default and lowered; a small GEMM whose C takes the place of A and B shows the most of them.
"""

import pytest

from tests import long_proofs
from tests.kernels.lowered import lowered
from tileviz import kernels
from tileviz.compiler.lowering import lower
from tileviz.compiler.targets import target
from tileviz.errors import BadValue, CompileFailed
from tileviz.kernels.toolkit.pass_configs import NOT_TAKEN, choices, known_pass_configs, parse_pass_config
from tileviz.kernels.toolkit.rules import LAID_OUT_ANEW
from tileviz.texts.source import blank_comments

GEMM = {
    "variant": "plain",
    "store": "shared",
    "policy": "Square",
    "block_M": 64,
    "block_N": 64,
    "block_K": 32,
    "num_stages": 1,
    "threads": 128,
}
ATTENTION = {"schedule": "plain", "block_M": 64, "block_N": 64, "num_stages": 0, "threads": 128}

ON = ("tirx.use_async_copy", "tl.enable_async_copy", "tirx.noalias", "tirx.merge_static_smem")
"""True by default, as far as code shows it."""

PRINT = ("tl.ast_print_enable", "tl.layout_visualization_enable", "tl.pass_profile", "tl.enable_dump_ir", "tl.enable_auto_schedule")

CHANGED = [name for name in known_pass_configs() if choices(name) == ("true", "false") and name not in PRINT]


@pytest.mark.parametrize("name", NOT_TAKEN)
def test_tilelang_refuses_what_is_not_offered(name):
    """Where this fails, the installed TileLang takes it, and it may be offered."""
    with pytest.raises(BadValue, match="not taken by its compiler"):
        parse_pass_config(name, "true")
    hopper, kernel = target("sm_90a"), kernels.code("vector_add")
    problem = kernel.problem({"N": 1024})
    with pytest.raises(CompileFailed, match="could not lower"):
        lower(lambda: kernel.build(problem, kernel.config({}, hopper, problem), hopper), hopper, {name: True})


USUAL = [place for place, name in enumerate(CHANGED) if name in (*LAID_OUT_ANEW, *ON)]


@pytest.mark.parametrize("name", long_proofs.cases(CHANGED, 0, *USUAL))
def test_what_a_block_takes_is_foreseen_or_left_to_the_compile(name):
    outcome = lowered("gemm", "sm_90a", {"M": 128, "N": 128, "K": 64}, {**GEMM, name: name not in ON})
    assert outcome.runs and not outcome.estimate.broken
    foreseen = (outcome.estimate.shared_bytes, outcome.estimate.threads_launched) == (outcome.shared_bytes, outcome.threads)
    assert foreseen or (name in LAID_OUT_ANEW and not outcome.estimate.shared_known)


@pytest.mark.parametrize(
    ("arch", "problem", "config", "shared"),
    [
        ("sm_89", {"B": 1, "H": 1, "Sq": 128, "Sk": 4096, "D": 256}, {**ATTENTION, "block_M": 128, "threads": 256}, 98_304),
        ("sm_86", {"B": 1, "H": 1, "Sq": 128, "Sk": 4096, "D": 128}, {**ATTENTION, "block_M": 128, "block_N": 144, "threads": 256}, 69_632),
    ],
)
def test_attention_that_fits_when_buffers_share_room_is_not_pruned(arch, problem, config, shared):
    """tile-ai/TileOPs#1821"""
    outcome = lowered("flash_attention", arch, problem, {**config, "tl.enable_aggressive_shared_memory_merge": True})
    assert outcome.runs and outcome.shared_bytes == shared and not outcome.estimate.broken
    assert any(note.startswith("tl.enable_aggressive_shared_memory_merge changes") for note in outcome.estimate.notes)
    assert outcome.estimate.shared_bytes > outcome.limit_bytes >= shared


@pytest.mark.parametrize(
    ("name", "arch", "problem", "config"),
    [
        ("gemm", "sm_80", {"M": 1, "N": 64, "K": 511}, {**GEMM, "store": "direct"}),
        ("flash_attention", "sm_90a", {"B": 1, "H": 1, "Sq": 300, "Sk": 300, "D": 64, "causal": True}, {**ATTENTION, "num_stages": 2}),
    ],
)
def test_what_cp_async_cannot_do_lowers_where_there_is_none(name, arch, problem, config):
    outcome = lowered(name, arch, problem, {**config, "tl.disable_warp_specialized": True, "tirx.use_async_copy": False})
    assert outcome.runs and not outcome.estimate.broken and "cp_async_gs" not in blank_comments(outcome.source)
