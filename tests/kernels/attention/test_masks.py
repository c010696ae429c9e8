"""The causal mask: how many pairs it leaves, and how it is told from PyTorch's."""

import pytest

from tileviz import kernels
from tileviz.kernels.attention.masks import conventions, pairs

SIZES = [(4, 6), (6, 4), (1, 1), (5, 1), (1, 5), (7, 7), (64, 70)]


@pytest.mark.parametrize(("Sq", "Sk"), SIZES)
def test_pairs_are_those_of_the_mask_written_out(Sq, Sk):
    assert pairs(Sq, Sk) == sum(j <= i + Sk - Sq for i in range(Sq) for j in range(Sk))


@pytest.mark.parametrize(("Sq", "Sk"), SIZES)
def test_the_reference_uses_the_same_mask(Sq, Sk):
    """Weights are uniform over the keys that a row sees, and V is one-hot, so the output is not 0 where it sees one."""
    import torch

    kernel = kernels.code("flash_attention")
    problem = kernel.problem({"B": 1, "H": 1, "Sq": Sq, "Sk": Sk, "D": 128, "causal": True})
    Q, K = torch.zeros(1, 1, Sq, 128, dtype=torch.float64), torch.zeros(1, 1, Sk, 128, dtype=torch.float64)
    seen = kernel.reference(problem, Q, K, torch.eye(Sk, 128, dtype=torch.float64)[None, None]) > 0
    assert int(seen.sum()) == pairs(Sq, Sk)


def test_bottom_right_of_4_queries_and_6_keys_leaves_18_pairs():
    assert pairs(4, 6) == 18 and pairs(6, 4) == 10


def test_exact_flops_are_four_times_the_pairs():
    kernel = kernels.code("flash_attention")
    cost = kernel.cost(kernel.problem({"B": 1, "H": 16, "Sq": 1024, "Sk": 1024, "D": 128, "causal": True}))
    assert cost.flops == pytest.approx(4.295e9, rel=1e-4) and cost.exact_flops == pytest.approx(4.299e9, rel=1e-4)
    assert cost.counted("halved") == cost and cost.counted("exact").flops == cost.exact_flops
    assert "pairs" in cost.counted("exact").flops_formula


def test_exact_flops_of_unlike_lengths_agree_with_the_case():
    kernel = kernels.code("flash_attention")
    cost = kernel.cost(kernel.problem({"B": 1, "H": 16, "Sq": 1024, "Sk": 4096, "D": 128, "causal": True}))
    assert cost.exact_flops == pytest.approx(30.07e9, rel=1e-3)


def test_without_a_mask_there_is_one_count_and_nothing_to_say():
    kernel = kernels.code("flash_attention")
    problem = kernel.problem({})
    cost = kernel.cost(problem)
    assert cost.exact_flops is None and cost.counted("exact") is cost and kernel.conventions(problem) == ()


@pytest.mark.parametrize(
    ("Sq", "Sk", "words"),
    [
        (64, 64, "that is the mask of PyTorch's is_causal, too"),
        (64, 70, "is_causal aligns top-left (j <= i), so it was not used here: PyTorch's baselines get a bottom-right mask"),
        (70, 64, "the first 6 rows see no key and give 0"),
    ],
)
def test_the_alignment_is_said_with_what_pytorch_does(Sq, Sk, words):
    (sentence,) = conventions({"causal": True, "Sq": Sq, "Sk": Sk})
    assert sentence.startswith("Causal mask aligned bottom-right") and words in sentence


def test_pytorch_aligns_is_causal_top_left_as_the_sentence_says():
    import torch
    import torch.nn.functional as F

    values = torch.eye(6, 8)[None, None]
    seen = F.scaled_dot_product_attention(torch.zeros(1, 1, 4, 8), torch.zeros(1, 1, 6, 8), values, is_causal=True)[0, 0] > 0
    assert int(seen.sum()) == 10, "1 + 2 + 3 + 4, not 3 + 4 + 5 + 6"
