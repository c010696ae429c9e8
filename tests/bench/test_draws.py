"""Inputs from a seed, NaN-filled outputs, and references in a wider dtype."""

import math

import pytest
import torch

from tileviz.bench import references
from tileviz.bench.draws import FILL_BITS, KINDS, Draw, nan_filled, refill, still_filled, torch_dtype
from tileviz.bench.references import full_precision, reference_dtype, reference_of
from tileviz.errors import BadValue, UnknownName


@pytest.mark.parametrize("kind", KINDS)
def test_the_same_seed_draws_the_same_tensors(kind):
    first, second, other = Draw("cpu", 7, kind), Draw("cpu", 7, kind), Draw("cpu", 8, kind)
    for _ in range(2):
        a, b, c = first(32, 16, dtype="float16"), second(32, 16, dtype="float16"), other(32, 16, dtype="float16")
        assert torch.equal(torch.nan_to_num(a), torch.nan_to_num(b))
        assert kind in ("zeros", "ones") or not torch.equal(torch.nan_to_num(a), torch.nan_to_num(c))


def test_normal_data_is_standard_normal_and_two_draws_differ():
    draw = Draw("cpu", 0)
    a, b = draw(100_000), draw(100_000)
    assert abs(a.mean()) < 0.02 and abs(a.std() - 1) < 0.02 and abs((a * b).mean()) < 0.02


def test_each_dtype_is_the_same_draw_rounded_once():
    wide = Draw("cpu", 3)(64, dtype="float32")
    for dtype in ("float16", "bfloat16"):
        assert torch.equal(Draw("cpu", 3)(64, dtype=dtype), wide.to(torch_dtype(dtype)))


def test_the_other_kinds_hold_what_they_say():
    assert not Draw("cpu", 0, "zeros")(9).any() and (Draw("cpu", 0, "ones")(9) == 1).all()
    assert sorted(Draw("cpu", 0, "integers")(1000).unique().tolist()) == [-2, -1, 0, 1, 2]
    for kind, test in (("nan", torch.isnan), ("inf", torch.isposinf)):
        draw = Draw("cpu", 0, kind)
        assert test(draw(50, 3)).sum() == 1 and draw(50, 3).isfinite().all()
    assert Draw("cpu", 0, "nan")(1).isnan().all()


def test_unknown_kinds_and_dtypes_say_what_exists():
    with pytest.raises(UnknownName, match="known: inf, integers, nan, normal, ones, zeros"):
        Draw("cpu", 0, "uniform")
    with pytest.raises(UnknownName, match="no dtype 'half'"):
        torch_dtype("half")


@pytest.mark.parametrize("dtype", FILL_BITS)
def test_the_fill_is_a_nan_that_is_told_from_every_computed_one(dtype):
    output = nan_filled((4, 5), dtype, "cpu")
    assert output.dtype == torch_dtype(dtype) and output.isnan().all() and still_filled(output).all()
    if output.element_size() > 1:
        output[0] = torch.tensor(0.0, dtype=output.dtype) / 0
        output[1] = torch.tensor(float("inf"), dtype=output.dtype) - float("inf")
    else:  # PyTorch has no arithmetic in 8 bits
        output[0] = torch.tensor(math.nan).to(output.dtype)
        output[1] = torch.tensor(math.inf).to(output.dtype)
    output[2] = 1
    assert still_filled(output).sum() == 5 and refill(output) is output and still_filled(output).all()


def test_an_output_without_nan_cannot_be_filled():
    with pytest.raises(BadValue, match="int8 cannot be filled"):
        nan_filled((2,), "int8", "cpu")


def test_a_reference_is_computed_in_float64_and_where_that_does_not_fit_in_float32(monkeypatch):
    x = Draw("cpu", 0)(8, 8, dtype="float16")
    assert reference_of(lambda problem, a: a * problem["by"], {"by": 2}, (x,)).dtype == torch.float64
    monkeypatch.setattr(references, "free_bytes", lambda device: 1000)
    assert reference_dtype(500, "cpu") == "float64" and reference_dtype(900, "cpu") == "float32"
    assert reference_of(lambda problem, a: a, {}, (x,)).dtype == torch.float32


def test_out_of_memory_in_float64_is_tried_again_in_float32():
    def reference(problem, a):
        if a.dtype == torch.float64:
            raise torch.OutOfMemoryError("CUDA out of memory")
        return a

    assert reference_of(reference, {}, (Draw("cpu", 0)(4),)).dtype == torch.float32


def test_the_math_of_pytorch_is_exact_inside_and_as_before_outside():
    matmul = torch.backends.cuda.matmul
    before = matmul.allow_tf32, matmul.allow_fp16_reduced_precision_reduction
    with full_precision():
        assert not matmul.allow_tf32 and not matmul.allow_fp16_reduced_precision_reduction
    with full_precision(tf32=True):
        assert matmul.allow_tf32
    assert (matmul.allow_tf32, matmul.allow_fp16_reduced_precision_reduction) == before


def test_free_memory_of_this_machine_is_read():
    assert references.free_bytes("cpu") > 1 << 20
