"""The bound of attention and softmax follows the size of their logits: what is right passes at any scale, and faults still fail."""

import math

import pytest
import torch
from torch.nn.attention import SDPBackend, sdpa_kernel

from tests.bench.judged import verify
from tileviz.bench.draws import Draw, torch_dtype
from tileviz.bench.references import Truth
from tileviz.kernels import code

ATTENTION, SOFTMAX = code("flash_attention"), code("softmax")
ROWS = 24
LOG2E = 1.4426950408889634
DTYPES = ("float32", "float16", "bfloat16")
SCALES = (None, 0.0, 1.0, -3.0, 100.0, 1e6, -1e38)
SHAPES = ((64, 130), (256, 64), (128, 300), (64, 8), (64, 2), (64, 1))
"""D and Sk."""


@pytest.fixture(autouse=True)
def one_thread():
    """These tensors are too small for more."""
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(threads)


def attention(dtype="float32", scale=1.0, D=64, Sk=130, seed=1, causal=False, math_mode=None):
    """(inputs, their logits and values in float64, and how to verify)."""
    problem = ATTENTION.problem({"B": 1, "H": 2, "Sq": ROWS, "Sk": Sk, "D": D, "dtype": dtype, "scale": scale, "causal": causal}, "cpu")
    inputs = ATTENTION.inputs(problem, Draw("cpu", seed))
    truth = Truth.of(ATTENTION, problem, inputs)
    how = {"dtype": dtype, "math_mode": math_mode or dtype, "accumulate": Sk, "error_scale": "averages", "inputs": inputs}
    Q, K, V = (t.double() for t in inputs)
    factor = 1 / math.sqrt(D) if scale is None else scale
    return inputs, factor, Q @ K.mT * factor, V, {"reference": truth.reference, "exponents": truth.exponents, **how}


def right_ways(inputs, scale, logits, values):
    """Attention as right programs compute it: each rounds at other places, and adds in another order."""
    Q, K, V = (t.float() for t in inputs)
    scores = Q @ K.mT
    one_by_one = torch.zeros_like(scores)
    for d in torch.randperm(Q.shape[-1]).tolist():
        one_by_one += Q[..., d : d + 1] * K[..., None, :, d]
    yield "float64 softmax of logits rounded once", torch.softmax(logits.float().double(), -1) @ values
    yield "float32 throughout", torch.softmax(scores * scale, -1) @ V
    yield "products one by one, in another order", torch.softmax(one_by_one * scale, -1) @ V
    steep = scores.sign() * scores.abs() * abs(scale) * LOG2E * math.copysign(1.0, scale)
    powers = torch.exp2(steep - steep.amax(-1, keepdim=True))
    yield "base 2, probabilities rounded to the dtype", (powers.to(inputs[0].dtype).float() @ V) / powers.sum(-1, keepdim=True)
    with sdpa_kernel([SDPBackend.FLASH_ATTENTION]):
        yield "SDPA flash", torch.nn.functional.scaled_dot_product_attention(*inputs, scale=scale)
    with sdpa_kernel([SDPBackend.MATH]):
        yield "SDPA math", torch.nn.functional.scaled_dot_product_attention(Q, K, V, scale=scale)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("scale", SCALES[:-1])
def test_right_attention_passes_at_any_scale(dtype, scale):
    for seed, (D, Sk) in enumerate(SHAPES):
        inputs, factor, logits, values, how = attention(dtype, scale, D, Sk, seed)
        for name, output in right_ways(inputs, factor, logits, values):
            found = verify(output.to(torch_dtype(dtype)), **how)
            assert found.ok, (name, D, Sk, seed, found.reason)
            assert f"{how['exponents'].size.max():.3g}" in found.tolerance, "the largest logit is named"


def test_the_case_of_the_report_passes_and_is_not_far_from_a_fault():
    inputs, factor, logits, values, how = attention(D=256, Sk=64)
    rounded = torch.softmax(logits.float().double(), -1) @ values
    assert verify(rounded.float(), **how).ok
    assert not verify((torch.softmax(logits * 1.001, -1) @ values).float(), **how).ok, "a thousandth off the scale"


def test_truncated_inputs_pass_under_tf32_alone():
    for seed in range(5):
        inputs, factor, _, _, how = attention(scale=1.0, seed=seed, math_mode="TF32")
        Q, K, V = ((t.view(torch.int32) & ~0x1FFF).view(torch.float32) for t in inputs)
        output = torch.softmax(Q @ K.mT * factor, -1) @ V
        assert verify(output, **how).ok
        assert not verify(output, **{**how, "math_mode": "float32"}).ok


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("scale", [None, 0.3, 1.0, 4.0])
def test_faults_of_attention_fail_at_large_scales_too(dtype, scale):
    (Q, K, _), factor, logits, V, how = attention(dtype, scale, seed=3)
    cut = Q[..., :-1].double() @ K[..., :-1].double().mT * factor
    padded = torch.cat([logits, torch.zeros(*logits.shape[:-1], 62)], -1)
    faults = {
        "the keys of a last tile are missing": torch.softmax(logits[..., :-32], -1) @ V[..., :-32, :],
        "a scale of 5 % more": torch.softmax(logits * 1.05, -1) @ V,
        "the last of K is dropped": torch.softmax(cut, -1) @ V,
        "columns of V in another order": torch.softmax(logits, -1) @ V.roll(1, -1),
        "keys with the values of their neighbours": torch.softmax(logits, -1) @ V.roll(1, -2),
        "zeros": torch.zeros_like(how["reference"]),
    }
    if factor < 1:  # else a row whose highest logit is far over 0 does not see a key of 0: it is the same result
        faults["zero padding"] = torch.softmax(padded, -1)[..., : logits.shape[-1]] @ V
    for name, wrong in faults.items():
        assert not verify(wrong.to(torch_dtype(dtype)), **how).ok, name


@pytest.mark.parametrize("scale", [None, 1.0, 4.0])
def test_a_causal_mask_off_by_one_fails_at_large_scales_too(scale):
    inputs, factor, logits, V, how = attention(scale=scale, Sk=60, causal=True)
    for off in (-1, 1):
        mask = torch.ones(ROWS, 60, dtype=torch.bool).tril(60 - ROWS + off)
        assert not verify((torch.softmax(logits.masked_fill(~mask, -math.inf), -1) @ V).float(), **how).ok


@pytest.mark.parametrize("scale", SCALES)
def test_an_all_zero_attention_fails_at_every_scale_and_the_share_is_told(scale):
    *_, how = attention(scale=scale)
    found = verify(torch.zeros(1, 2, ROWS, 64), **how)
    assert not found.ok and found.reason.startswith("all zeros")
    assert "an all-zero output would fail in" in found.tolerance


def test_a_tie_that_no_float32_can_decide_is_told_as_such():
    """Two keys whose logits differ by less than the rounding of either: any mixture may be right, so only what lies outside it is wrong."""
    problem = ATTENTION.problem({"B": 1, "H": 1, "Sq": 4, "Sk": 2, "D": 64, "dtype": "float32", "scale": 1e9}, "cpu")
    Q, K, V = ATTENTION.inputs(problem, Draw("cpu", 0))
    K[0, 0, 1] = K[0, 0, 0]
    K[0, 0, 1, 5] = torch.nextafter(K[0, 0, 1, 5], torch.tensor(9.0))
    V[0, 0] = torch.tensor([[1.0], [3.0]])
    truth = Truth.of(ATTENTION, problem, (Q, K, V))
    how = {"dtype": "float32", "math_mode": "float32", "accumulate": 2, "error_scale": "averages", "exponents": truth.exponents}
    for value, ok in ((1.0, True), (2.0, True), (3.0, True), (5.1, False), (-1.1, False), (math.nan, False)):
        assert verify(torch.full((1, 1, 4, 64), value), truth.reference, **how).ok is ok, value


def softmax(dtype="float32", size=1.0, N=1000, seed=0):
    """(input, its truth, and how to verify): `size` times standard normal values."""
    problem = SOFTMAX.problem({"M": 24, "N": N, "dtype": dtype}, "cpu")
    X = (SOFTMAX.inputs(problem, Draw("cpu", seed))[0].float() * size).clamp(-6e4, 6e4).to(torch_dtype(dtype))
    truth = Truth.of(SOFTMAX, problem, (X,))
    how = {"dtype": dtype, "math_mode": dtype, "accumulate": N, "error_scale": "shares", "exponents": truth.exponents}
    return X, {"reference": truth.reference, **how}


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("size", [0.01, 1.0, 10.0, 300.0, 1e4])
def test_right_softmax_passes_for_inputs_of_any_size(dtype, size):
    for seed, N in enumerate([1000, 257, 8, 2, 1]):
        X, how = softmax(dtype, size, N, seed)
        scaled = X.float() * LOG2E
        parts = torch.exp2(scaled - scaled.amax(1, keepdim=True))
        ways = {
            "PyTorch": torch.softmax(X, 1),
            "the maximum first": torch.exp(X.float() - X.float().amax(1, keepdim=True)),
            "base 2, scaled first": parts,
        }
        for name, output in ways.items():
            output = output.float() / output.float().flip(1).sum(1, keepdim=True) if name != "PyTorch" else output
            found = verify(output.to(torch_dtype(dtype)), **how)
            assert found.ok, (name, N, found.reason)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("size", [0.01, 1.0, 10.0, 300.0])
def test_faults_of_softmax_fail_for_inputs_of_any_size(dtype, size):
    X, how = softmax(dtype, size, N=64, seed=2)
    right = torch.softmax(X.double(), 1)
    faults = {
        "zeros": torch.zeros_like(right),
        "a column late": right.roll(1, 1),
        "without the maximum's share": torch.where(right == right.amax(1, keepdim=True), right * 0.99, right),
        "the highest column is left out": torch.softmax(X.double().scatter(1, X.argmax(1, keepdim=True), -math.inf), 1),
    }
    for name, wrong in faults.items():
        assert not verify(wrong.to(torch_dtype(dtype)), **how).ok, name


def test_each_row_of_a_softmax_is_judged_by_its_own_size():
    X, how = softmax()
    X[0] *= 1e4
    problem = SOFTMAX.problem({"M": 24, "N": 1000, "dtype": "float32"}, "cpu")
    truth = Truth.of(SOFTMAX, problem, (X,))
    how |= {"reference": truth.reference, "exponents": truth.exponents}
    output = torch.softmax(X, 1)
    assert verify(output, **how).ok
    output[5, 7] *= 1 + 3e-5
    assert verify(output, **how).worst_index == (5, 7) and not verify(output, **how).ok


@pytest.mark.parametrize(("dtype", "math_mode", "roundings"), [("float32", "TF32", 1), ("float32", "TF32", 4), ("bfloat16", "bfloat16", 4)])
def test_with_many_keys_at_the_usual_scale_the_bound_is_no_wider_than_the_output(dtype, math_mode, roundings):
    """An output of 2,000 keys is small beside V: errors of so many logits are of either sign, and no more than that is allowed for."""
    _, _, logits, V, how = attention(dtype, None, Sk=2000, math_mode=math_mode)
    how["roundings"] = roundings
    zeros = verify(torch.zeros_like(how["reference"]).to(torch_dtype(dtype)), **how)
    assert not zeros.ok and zeros.wrong_fraction > 0.6
    truncated = torch.softmax(logits[..., :-64], -1) @ V[..., :-64, :]
    assert not verify(truncated.to(torch_dtype(dtype)), **how).ok
    rounded = torch.softmax(logits.to(torch.bfloat16 if dtype == "bfloat16" else torch.float32).double(), -1) @ V
    assert verify(rounded.to(torch_dtype(dtype)), **how).ok
