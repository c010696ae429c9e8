"""What a terminal says of code beyond its numbers: notes of the rules, and the checks of the Code page, with their reasons."""

from dataclasses import replace

import pytest

from tests.conftest import tileviz
from tests.ui import code_examples, examples
from tileviz.cli.explained import Explained, check_lines, explained

KNOBS = {"variant": "plain", "block_M": 64, "block_N": 64, "block_K": 32, "num_stages": 2}
ODD = (*(word for size in "MNK" for word in ("-p", f"{size}=1001")), *(word for name in KNOBS for word in ("-k", f"{name}={KNOBS[name]}")))


def test_a_row_stride_that_no_async_copy_takes_is_explained_with_the_padding(shared_home):
    done = tileviz("compile", "gemm", "--target", "sm_90a", *ODD)
    assert done.status == 0, done.err
    assert "note       A: async copy: none, row stride 2,002 B is not a multiple of 16; pad to 1,008" in done.out
    assert "no async copy: row stride of A and B is 2,002 B, no multiple of 16 (pad rows of 1,001 to 1,008)" in done.out
    said = tileviz("compile", "gemm", "--target", "sm_90a", *ODD, "--json").json
    (check,) = (each for each in said["checks"] if each["name"] == "async_copy")
    assert (check["found"], check["tone"]) == (False, "bad") and len(said["notes"]) == 2


def test_checks_are_those_of_the_page_with_what_is_bad_first_and_marked():
    request = code_examples.request()
    trial = replace(examples.compiled(), problem=request.problem, config=request.config, key=request.key)
    found = explained(trial, code_examples.artifact())
    lines = check_lines(found.checks)
    assert lines[0] == "  checks" and any("Tensor cores" in line and "detected: HGMMA.64x64x16.F32" in line for line in lines)
    assert [line[4] for line in lines[1:]] == sorted((line[4] for line in lines[1:]), key=lambda mark: mark != "!")


def test_the_c_of_the_cpu_target_has_no_checks():
    trial = examples.trial()
    assert explained(trial, examples.artifact(trial)).checks == () and check_lines(()) == []


@pytest.mark.parametrize("gone", [{"kernel": "gone"}, {"problem": {"X": 1}}])
def test_a_kernel_or_problem_that_is_not_here_explains_nothing(gone):
    assert explained(replace(examples.trial(), **gone), None) == Explained()
