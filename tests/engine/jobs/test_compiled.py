"""What a compile's result means: no launch of it can work where no block fits or the code stops itself, and the trial says so."""

import pytest

from tests.compiler.conftest import environment as environment
from tests.compiler.eight_bits import gemm
from tests.compiler.small_gemm import Gemm
from tileviz.compiler.pipeline import compile_program
from tileviz.compiler.targets import target
from tileviz.engine.jobs.compiled import outcome, with_code
from tileviz.records import Artifact, Resources, SharedBytes, Trial

KEPT_APART = {"tl.disable_shared_memory_reuse": True}
"""Shared memory of C beside that of A and B, which the rules leave to the compile."""


def artifact(name: str, **resources) -> Artifact:
    return Artifact("k", name, "", "cuda", resources=Resources(**resources))


def test_what_fits_is_ok():
    fits = Resources(registers=168, shared_bytes=SharedBytes(1024, 98_304), threads_launched=384, blocks_per_sm=1)
    assert outcome(Artifact("k", "sm_90a", "", "cuda", resources=fits)) == ("ok", "")
    assert outcome(Artifact("k", "cpu", "", "c", resources=Resources(stack_bytes=64))) == ("ok", "")


@pytest.mark.parametrize(
    "resources, words",
    [
        ({"registers": 64, "threads_launched": 1152}, "it launches 1,152 threads, and a block may have 1,024; use fewer threads"),
        (
            {"registers": 64, "threads_launched": 128, "shared_bytes": SharedBytes(1024, 232_448)},
            "it takes 233,472 B of shared memory (1,024 B static, 232,448 B dynamic), and a block may have 232,448 B",
        ),
        ({"registers": 128, "threads_launched": 1024}, "its 1,024 threads have 128 registers each, and an SM has 65,536"),
    ],
)
def test_a_block_that_does_not_fit_is_launch_failed_with_what_it_takes_and_what_there_is(resources, words):
    status, reason = outcome(artifact("sm_90a", **resources, blocks_per_sm=0))
    assert status == "launch_failed" and reason.startswith(f"no block fits on an SM of sm_90a: {words}")


def test_shared_memory_is_told_where_there_is_no_machine_code_either():
    status, reason = outcome(artifact("sm_70", threads_launched=128, shared_bytes=SharedBytes(0, 98_305)))
    assert status == "launch_failed" and "98,305 B" in reason and "98,304 B" in reason


def test_a_real_program_over_the_limit_is_launch_failed_and_keeps_what_it_takes(environment):
    tile = {"store": "shared", "block_M": 256, "block_N": 128, "block_K": 64, "num_stages": 4, "threads": 256}
    built = Gemm("sm_90a", tile)
    trial = Trial("t", "gemm", built.problem, built.config, "sm_90a", None, "ok")
    small = with_code(trial, compile_program(built.build, built.target, key="k"), {})
    large = with_code(trial, compile_program(built.build, built.target, KEPT_APART, key="k"), {"lower": 1.0})
    assert (small.status, small.resources.shared_bytes.dynamic) == ("ok", 196_608)
    assert (large.status, large.resources.shared_bytes.dynamic, large.seconds) == ("launch_failed", 262_144, {"lower": 1.0})
    assert large.instructions == {} and large.artifact == "k"


def test_code_that_stops_itself_for_want_of_an_instruction_is_unsupported_and_named(environment):
    status, reason = outcome(compile_program(gemm, target("sm_80"), key="k"))
    assert status == "unsupported"
    assert reason.startswith("sm_80 lacks SM89_16x8x32_F32E4M3E4M3F32_TN: in 16 places the code stops itself")
