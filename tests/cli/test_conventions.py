"""What a terminal says of a causal mask: how it lies, and which count of FLOPs a rate follows."""

import pytest

from tests.ui import examples
from tileviz.cli import sweep, tables
from tileviz.cli.explained import explained

UNLIKE = {"B": 1, "H": 2, "Sq": 4, "Sk": 6, "D": 64, "causal": True}


def text_of(**problem) -> str:
    found = examples.trial("flash_attention", problem={**UNLIKE, **problem}, tflops=0.016, gbps=3.0, roofline=None)
    return tables.trial_text(found, found=explained(found, None))


def test_a_causal_trial_says_which_count_its_rate_follows_and_the_other():
    assert "  FLOPs      causal, halved as papers count: 4 B H Sq D (max(0, Sk - Sq) + Sk) / 2; by exact pairs" in text_of()
    assert "by exact pairs the rate is 18.0 GFLOPS" in text_of(), "18 pairs where the papers count 4 x 4"


def test_a_causal_trial_says_how_its_mask_lies():
    assert (
        "  convention Causal mask aligned bottom-right: row i sees keys j <= i + Sk - Sq. PyTorch's is_causal aligns top-left" in text_of()
    )


def test_without_a_mask_nothing_is_said():
    assert "convention" not in text_of(causal=False) and "FLOPs  " not in text_of(causal=False)


def test_a_sweep_says_both_once_a_problem():
    problem = examples.trial("flash_attention", problem=UNLIKE).problem
    mask, count = sweep._counted("flash_attention", problem)
    assert "bottom-right" in mask and count == "    TFLOPS: causal, halved as papers count"


@pytest.mark.parametrize(("kernel", "problem"), [("gemm", {}), ("gone", {}), ("flash_attention", {"M": 1})])
def test_a_kernel_or_problem_that_is_not_here_is_no_failure(kernel, problem):
    assert sweep._counted(kernel, problem) == []
