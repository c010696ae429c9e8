"""The verifier: right outputs pass in every dtype, and each planted fault is caught and named."""

import math

import pytest
import torch

from tests.bench.judged import verify
from tileviz.bench.draws import Draw, nan_filled, torch_dtype
from tileviz.bench.verify import BLIND
from tileviz.errors import UnknownName
from tileviz.kernels import code as code_of
from tileviz.kernels.toolkit.exponents import Exponents

DTYPES = ("float16", "bfloat16", "float32")


def gemm_how(K, dtype="float32", math_mode=None):
    return {"dtype": dtype, "math_mode": math_mode or dtype, "accumulate": K, "error_scale": "sum"}


def softmax_how(N, dtype="float32"):
    return {"dtype": dtype, "math_mode": dtype, "accumulate": N, "error_scale": "shares"}


def attention_how(Sk, dtype="float32"):
    return {"dtype": dtype, "math_mode": dtype, "accumulate": Sk, "error_scale": "averages"}


def gemm(M, N, K, dtype="float32", seed=0):
    """Inputs, the reference and a right output."""
    draw = Draw("cpu", seed)
    A, B = draw(M, K, dtype=dtype), draw(K, N, dtype=dtype)
    return A, B, A.double() @ B.double(), (A.float() @ B.float()).to(torch_dtype(dtype))


@pytest.mark.parametrize("dtype", DTYPES)
def test_a_right_gemm_at_511_cubed_passes(dtype):
    A, B, reference, _ = gemm(511, 511, 511, dtype)
    verdict = verify(A @ B, reference, **gemm_how(511, dtype))
    assert verdict.ok and verdict.reason == "" and verdict.wrong_count == 0
    assert verdict.rel_error < {"float16": 2e-3, "bfloat16": 1e-2, "float32": 1e-6}[dtype]
    assert "K = 511" in verdict.tolerance and verdict.reference == "float64"


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape", [(1, 1, 511), (1, 300, 64), (7, 5, 1), (3, 2000, 33)])
def test_a_right_gemm_of_few_elements_passes_though_sums_cancel(dtype, shape):
    for seed in range(20):
        A, B, reference, output = gemm(*shape, dtype, seed)
        verdict = verify(output, reference, inputs=(A, B), **gemm_how(shape[2], dtype))
        assert verdict.ok, verdict.reason


def test_rows_and_columns_of_unlike_size_are_judged_by_their_own_scale():
    A, B, _, _ = gemm(256, 256, 128)
    A[:128] *= 1e-4
    B[:, ::2] *= 1e3
    reference = A.double() @ B.double()
    output = A @ B
    assert verify(output, reference, **gemm_how(128)).ok
    output[3, 5] += 1e-5  # a hundredth of the row's values, and nothing beside the other rows'
    assert "(3, 5)" in verify(output, reference, **gemm_how(128)).reason


@pytest.mark.parametrize("dtype", DTYPES)
def test_a_dropped_k_tail_is_caught_even_of_one_step(dtype):
    A, B, reference, _ = gemm(256, 256, 511, dtype)
    short = (A[:, :510].float() @ B[:510].float()).to(torch_dtype(dtype))
    verdict = verify(short, reference, **gemm_how(511, dtype))
    assert not verdict.ok and verdict.reason.startswith("wrong: worst at") and verdict.wrong_fraction > 0.5


def test_a_dropped_k_tail_is_caught_under_tf32_too():
    A, B, reference, _ = gemm(256, 256, 511)
    how = gemm_how(511, math_mode="TF32")
    truncated = [(t.view(torch.int32) & ~0x1FFF).view(torch.float32) for t in (A, B)]
    assert verify(truncated[0] @ truncated[1], reference, **how).ok
    assert not verify(truncated[0] @ truncated[1], reference, **gemm_how(511)).ok
    assert not verify(A[:, :510] @ B[:510], reference, **how).ok


def test_a_half_precision_accumulator_is_caught():
    A, B, reference, _ = gemm(64, 64, 512, "float16")
    total = torch.zeros(64, 64, dtype=torch.float16)
    for k in range(512):
        total += A[:, k : k + 1] * B[k : k + 1]
    assert verify(total, reference, **gemm_how(512, "float16")).reason.startswith(("wrong", "inaccurate"))


def test_eight_unwritten_columns_of_4096_are_counted_and_named():
    _, _, reference, right = gemm(64, 4096, 32)
    output = nan_filled((64, 4096), "float32", "cpu")
    output[:, :4088] = right[:, :4088]
    verdict = verify(output, reference, **gemm_how(32))
    assert verdict.reason == "8 of 4,096 columns never written (4088-4095)"
    assert verdict.unwritten_count == 8 * 64 and verdict.wrong_fraction == 8 / 4096


def test_unwritten_rows_elements_and_everything_are_named():
    _, _, reference, right = gemm(64, 48, 32)
    output = nan_filled((64, 48), "float32", "cpu")
    assert verify(output, reference, **gemm_how(32)).reason.startswith("never written: every element")
    output[:60] = right[:60]
    assert verify(output, reference, **gemm_how(32)).reason == "4 of 64 rows never written (60-63)"
    output[60:, :20] = right[60:, :20]
    assert "112 of 3,072 elements never written, in rows 60-63, columns 20-47" in verify(output, reference, **gemm_how(32)).reason
    vector = nan_filled((100,), "float32", "cpu")
    vector[:96] = 1
    how = {"dtype": "float32", "math_mode": "float32", "accumulate": 1, "error_scale": "exact"}
    assert verify(vector, torch.ones(100).double(), **how).reason == "4 of 100 elements never written (96-99)"


def test_one_wrong_tile_is_found_where_it_lies():
    _, _, reference, output = gemm(1024, 1024, 64)
    output[128:256, 0:128] = output[0:128, 0:128].clone()
    verdict = verify(output, reference, **gemm_how(64))
    assert verdict.reason == "one tile wrong: rows 128-255, columns 0-127"
    assert 0.015 < verdict.wrong_fraction <= 1 / 64


def test_one_wrong_element_is_enough():
    _, _, reference, output = gemm(512, 512, 64, "float16")
    output[17, 400] = torch.nextafter(
        torch.nextafter(output[17, 400], torch.tensor(99, dtype=torch.float16)), torch.tensor(99, dtype=torch.float16)
    )
    verdict = verify(output, reference, **gemm_how(64, "float16"))
    assert verdict.wrong_count == 1 and verdict.worst_index == (17, 400) and "inaccurate: worst at (17, 400)" in verdict.reason


def test_computed_nan_is_told_from_unwritten():
    _, _, reference, output = gemm(64, 64, 32)
    output[5, 7:19] = math.nan
    verdict = verify(output, reference, **gemm_how(32))
    assert verdict.reason == "NaN in 12 elements, first at (5, 7)" and verdict.unwritten_count == 0
    output[5, 7:19] = math.inf
    assert verify(output, reference, **gemm_how(32)).reason.startswith("infinity in 12 elements")


@pytest.mark.parametrize("kind", ["nan", "inf"])
def test_nan_and_infinity_of_the_inputs_must_come_out_as_they_should(kind):
    draw = Draw("cpu", 3, kind)
    A, B = draw(64, 48), draw(48, 64)
    reference, output = A.double() @ B.double(), A @ B
    assert not reference.isfinite().all()
    assert verify(output, reference, **gemm_how(48)).ok
    assert not verify(torch.nan_to_num(output, 0.0, 0.0, 0.0), reference, **gemm_how(48)).ok


def test_an_overflow_of_float16_is_right_where_the_reference_overflows():
    how = {"dtype": "float16", "math_mode": "float16", "accumulate": 1, "error_scale": "exact"}
    reference = torch.tensor([[65504.0, 65519.0, 65521.0, 1e6, -1e6, 3.0]], dtype=torch.float64)
    assert verify(reference.half(), reference, **how).ok
    assert not verify(torch.tensor([[65504.0, 65504.0, math.inf, math.inf, math.inf, 3.0]]).half(), reference, **how).ok
    assert not verify(torch.tensor([[math.inf, 65504.0, math.inf, math.inf, -math.inf, 3.0]]).half(), reference, **how).ok
    assert not verify(torch.tensor([[65504.0, 65504.0, math.inf, 65504.0, -math.inf, 3.0]]).half(), reference, **how).ok


@pytest.mark.parametrize("dtype", DTYPES)
def test_an_all_zero_gemm_fails(dtype):
    _, _, reference, output = gemm(64, 64, 64, dtype)
    verdict = verify(torch.zeros_like(output), reference, **gemm_how(64, dtype))
    assert verdict.reason.startswith("all zeros") and verdict.rel_error == 1


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("N", [1, 1000, 4096])
def test_a_right_softmax_passes_and_zeros_of_its_small_values_do_not(dtype, N):
    x = Draw("cpu", 0)(32, N, dtype=dtype)
    reference = torch.softmax(x.double(), 1)
    verdict = verify(torch.softmax(x.float(), 1).to(torch_dtype(dtype)), reference, inputs=(x,), **softmax_how(N, dtype))
    assert verdict.ok and "100.0% of elements" in verdict.tolerance
    zeros = verify(torch.zeros(32, N, dtype=torch_dtype(dtype)), reference, inputs=(x,), **softmax_how(N, dtype))
    assert zeros.reason.startswith("all zeros")


@pytest.mark.parametrize("dtype", DTYPES)
def test_padding_leaked_into_a_softmax_is_caught(dtype):
    x = Draw("cpu", 0)(64, 1000, dtype=dtype)
    reference = torch.softmax(x.double(), 1)
    padded = torch.cat([x.float(), torch.zeros(64, 24)], 1)
    leaked = torch.softmax(padded, 1)[:, :1000].to(torch_dtype(dtype))
    assert not verify(leaked, reference, inputs=(x,), **softmax_how(1000, dtype)).ok


def test_one_padded_column_of_4096_is_caught_in_float32():
    x = Draw("cpu", 0)(16, 4095)
    leaked = torch.softmax(torch.cat([x, torch.zeros(16, 1)], 1), 1)[:, :4095].contiguous()
    assert not verify(leaked, torch.softmax(x.double(), 1), inputs=(x,), **softmax_how(4095)).ok


def attend(Q, K, V, offset):
    """Attention where query i sees keys up to i + offset; a row with no key gives 0."""
    scores = Q @ K.transpose(-1, -2) / math.sqrt(Q.shape[-1])
    seen = torch.arange(K.shape[-2]) <= torch.arange(Q.shape[-2])[:, None] + offset
    return torch.nan_to_num(torch.softmax(scores.masked_fill(~seen, -math.inf), -1)) @ V


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize(("Sq", "Sk"), [(128, 128), (64, 200), (130, 100)])
def test_a_right_causal_attention_passes_and_a_mask_off_by_one_is_caught(dtype, Sq, Sk):
    draw = Draw("cpu", 0)
    Q, K, V = draw(1, 2, Sq, 64, dtype=dtype), draw(1, 2, Sk, 64, dtype=dtype), draw(1, 2, Sk, 64, dtype=dtype)
    reference = attend(Q.double(), K.double(), V.double(), Sk - Sq)
    right = attend(Q.float(), K.float(), V.float(), Sk - Sq).to(torch_dtype(dtype))
    assert verify(right, reference, inputs=(Q, K, V), **attention_how(Sk, dtype)).ok
    for wrong in (-1, 1):
        output = attend(Q.float(), K.float(), V.float(), Sk - Sq + wrong).to(torch_dtype(dtype))
        verdict = verify(output, reference, inputs=(Q, K, V), **attention_how(Sk, dtype))
        assert not verdict.ok and len(verdict.worst_index) == 4


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
def test_attention_may_round_its_probabilities_once(dtype):
    draw = Draw("cpu", 0)
    Q, K, V = (draw(1, 4, 256, 64, dtype=dtype) for _ in range(3))
    P = torch.softmax(Q.double() @ K.double().transpose(-1, -2) / 8, -1)
    output = (P.to(Q.dtype).float() @ V.float()).to(Q.dtype)
    assert verify(output, P @ V.double(), **attention_how(256, dtype)).ok


def test_a_chain_that_rounds_between_its_steps_needs_its_roundings():
    A, B, _, _ = gemm(256, 256, 256, "float16")
    bias = Draw("cpu", 5)(256, dtype="float16")
    reference = torch.nn.functional.gelu(A.double() @ B.double() + bias.double())
    chain = torch.nn.functional.gelu(A @ B + bias)
    assert not verify(chain, reference, **gemm_how(256, "float16")).ok
    assert verify(chain, reference, roundings=4, **gemm_how(256, "float16")).ok
    fused = torch.nn.functional.gelu(A.float() @ B.float() + bias.float()).half()
    assert verify(fused, reference, **gemm_how(256, "float16")).ok


def test_gelu_may_lose_what_one_and_erf_cancel_and_no_more():
    kernel = code_of("gemm_bias_gelu")
    problem = kernel.problem({"M": 200, "N": 400, "K": 2, "dtype": "bfloat16", "layout": "NT", "epilogue": "bias_gelu_erf"})
    A, B, bias = kernel.inputs(problem, Draw("cpu", 0))
    x = (A.float() @ B.float().T + bias.float()).double()
    off = 2.0**-23 * torch.sign(Draw("cpu", 1)(*x.shape, dtype="float32")).double()  # an erf that is off by 2 units in the last place
    said = lambda value, **how: verify(value.bfloat16(), kernel.reference(problem, A.double(), B.double(), bias.double()), **how)
    how = gemm_how(2, "bfloat16") | {"inputs": (A, B, bias), "cancelled": kernel.cancelled(problem)}
    gelu = torch.nn.functional.gelu
    right = 0.5 * x * (1 + torch.special.erf(x / math.sqrt(2)) + off)
    assert said(right, **how).ok and not said(right, **how | {"cancelled": 0.0}).ok
    assert not said(gelu(x, approximate="tanh"), **how).ok
    assert not said(gelu(x.bfloat16()), **how).ok
    assert not said(torch.where(x < -3.5, 0.0, gelu(x)), **how).ok


@pytest.mark.parametrize("dtype", DTYPES)
def test_an_elementwise_output_must_be_rounded_right(dtype):
    draw = Draw("cpu", 0)
    a, b = draw(10_000, dtype=dtype), draw(10_000, dtype=dtype)
    how = {"dtype": dtype, "math_mode": dtype, "accumulate": 1, "error_scale": "exact"}
    verdict = verify(a + b, a.double() + b.double(), **how)
    assert verdict.ok and verdict.rel_error == 0
    assert not verify(a + torch.roll(b, 1), a.double() + b.double(), **how).ok


def test_a_check_that_zeros_would_pass_is_refused():
    """Exponents so large that any probability may be right, of rows without a clear winner."""
    reference = torch.full((32, 32), 1e-3, dtype=torch.float64)
    column, spread = torch.ones(32, 1, dtype=torch.float64), torch.ones(32, 32, dtype=torch.float64)
    how = {**attention_how(32, "float16"), "exponents": Exponents(1e9 * column, 0 * column, column, spread, 64)}
    assert verify(torch.zeros_like(reference).half(), reference, **how).reason == BLIND
    assert "cannot tell" in verify(reference.half(), reference, **how).reason
    assert verify((reference * 1e-6).half(), reference * 1e-6, **gemm_how(4, "float16")).ok
    assert verify(torch.zeros(4, 4), torch.zeros(4, 4, dtype=torch.float64), **gemm_how(4)).ok


def test_a_wrong_shape_or_dtype_is_one_sentence():
    _, _, reference, output = gemm(8, 8, 8)
    assert "shape (8, 7)" in verify(output[:, :7], reference, **gemm_how(8)).reason
    assert "float32, not float16" in verify(output, reference, **gemm_how(8, "float16")).reason
    with pytest.raises(UnknownName, match="known: averages, exact"):
        verify(output, reference, **{**gemm_how(8), "error_scale": "sums"})


def test_a_float32_reference_widens_the_bound_and_is_named():
    A, B, reference, output = gemm(64, 64, 64)
    verdict = verify(output, A @ B, **gemm_how(64))
    assert verdict.ok and verdict.reference == "float32" and verdict.tolerance != verify(output, reference, **gemm_how(64)).tolerance


def test_the_chunks_see_the_whole_output(monkeypatch):
    from tileviz.bench import tolerance
    from tileviz.bench import verify as module

    small = lambda matrix: [(i, min(i + 5, matrix.shape[0])) for i in range(0, matrix.shape[0], 5)]
    monkeypatch.setattr(module, "slabs", small)
    monkeypatch.setattr(tolerance, "slabs", small)
    _, _, reference, output = gemm(64, 32, 16)
    assert verify(output, reference, **gemm_how(16)).ok
    output[62, 3] += 1
    verdict = verify(output, reference, **gemm_how(16))
    assert verdict.worst_index == (62, 3) and verdict.wrong_count == 1 and verdict.max_abs_error == pytest.approx(1, abs=1e-3)


@pytest.mark.gpu
@pytest.mark.parametrize("dtype", DTYPES)
def test_a_right_gemm_at_511_cubed_passes_on_the_gpu(dtype):
    from tileviz.bench.references import full_precision

    draw = Draw("cuda:0", 0)
    A, B = draw(511, 511, dtype=dtype), draw(511, 511, dtype=dtype)
    with full_precision():
        product = A @ B
    verdict = verify(product, A.double() @ B.double(), roundings=1, **gemm_how(511, dtype))
    assert verdict.ok, verdict.reason


@pytest.mark.gpu
def test_a_right_gemm_at_16384_cubed_passes_on_the_gpu_and_a_dropped_tail_or_tile_does_not():
    from tileviz.bench.references import full_precision, reference_of

    size = 16384
    draw = Draw("cuda:0", 0)
    A, B = draw(size, size, dtype="float16"), draw(size, size, dtype="float16")
    reference = reference_of(lambda problem, a, b: a @ b, {}, (A, B))
    with full_precision():
        output = A @ B
        verdict = verify(output, reference, **gemm_how(size, "float16"))
        assert verdict.ok, verdict.reason
        short = A[:, : size - 1] @ B[: size - 1]
    assert not verify(short, reference, **gemm_how(size, "float16")).ok
    output[128:256, :128] = output[:128, :128].clone()
    assert verify(output, reference, **gemm_how(size, "float16")).reason == "one tile wrong: rows 128-255, columns 0-127"
