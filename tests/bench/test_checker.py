"""One check after another against one reference says what the verifier says."""

import math
from dataclasses import replace

import pytest
import torch

from tests.bench.judged import Checker, verify
from tests.bench.test_verify import attention_how, gemm, gemm_how, softmax_how
from tileviz.bench import checker as checkers
from tileviz.bench import verify as verifier
from tileviz.bench.draws import nan_filled


def same(ours, theirs) -> bool:
    """Equal in everything; sums of squares are added up in another order."""
    assert ours.rel_error == pytest.approx(theirs.rel_error, rel=1e-9, nan_ok=True)
    return replace(ours, rel_error=0.0, errors=None) == replace(theirs, rel_error=0.0, errors=None)


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32"])
@pytest.mark.parametrize("shape", [(511, 300, 128), (1, 300, 64), (7, 5, 1)])
def test_a_right_output_has_the_verdict_of_the_verifier(dtype, shape):
    A, B, reference, output = gemm(*shape, dtype)
    how = {**gemm_how(shape[2], dtype), "inputs": (A, B)}
    verdict = Checker(reference, **how)(output)
    assert verdict.ok and same(verdict, verify(output, reference, **how))


def test_a_right_output_does_not_go_through_the_whole_verifier(monkeypatch):
    _, _, reference, output = gemm(64, 64, 32)
    monkeypatch.setattr(checkers, "verify", lambda *_, **__: pytest.fail("the whole verifier was asked"))
    check = Checker(reference, **gemm_how(32))
    assert check(output).ok and check(output).ok


@pytest.mark.parametrize("how", [softmax_how(64), attention_how(64)])
def test_every_scale_of_errors_is_known(how):
    x = torch.randn(40, 64, generator=torch.Generator().manual_seed(0))
    reference, output = x.double().softmax(1), x.softmax(1)
    how = {**how, "inputs": (x,)}
    assert same(Checker(reference, **how)(output), verify(output, reference, **how))


FAULTS = {
    "one element": lambda c: c[3, 5].add_(1.0),
    "a tile": lambda c: c[16:32, 16:32].mul_(1.5),
    "NaN": lambda c: c[7, 7].fill_(math.nan),
    "infinity": lambda c: c[7, 7].fill_(math.inf),
    "zeros": lambda c: c.zero_(),
    "columns never written": lambda c: c[:, 8:16].copy_(nan_filled((64, 8), "float32", "cpu")),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_a_wrong_output_is_wrong_in_the_words_of_the_verifier(fault):
    _, _, reference, output = gemm(64, 64, 32)
    check = Checker(reference, **gemm_how(32))
    assert check(output).ok
    FAULTS[fault](output)
    verdict = check(output)
    assert not verdict.ok and verdict.errors is not None and same(verdict, verify(output, reference, **gemm_how(32)))


@pytest.mark.parametrize("value", [math.nan, math.inf, 1e30])
def test_a_reference_with_values_that_no_output_can_hold_is_left_to_the_verifier(value):
    _, _, reference, output = gemm(64, 64, 32, "float16")
    reference[5, 5] = value
    output[5, 5] = value
    verdict = Checker(reference, **gemm_how(32, "float16"))(output)
    assert verdict.ok and same(verdict, verify(output, reference, **gemm_how(32, "float16")))


def test_a_reference_that_is_blind_to_zeros_is_told_so():
    reference = torch.full((8, 8), 1e-9, dtype=torch.float64)
    how = {**softmax_how(8, "float16")}
    verdict = Checker(reference, **how)(torch.full((8, 8), 1e-9).half())
    assert same(verdict, verify(torch.full((8, 8), 1e-9).half(), reference, **how))


def test_an_output_of_another_shape_or_dtype_is_refused():
    _, _, reference, output = gemm(64, 64, 32)
    check = Checker(reference, **gemm_how(32))
    assert "shape" in check(output[:32]).reason and "not float32" in check(output.half()).reason


def test_without_room_the_verifier_does_the_work(monkeypatch):
    _, _, reference, output = gemm(64, 64, 32)
    monkeypatch.setattr(checkers, "free_bytes", lambda device: 1000)
    asked = []
    monkeypatch.setattr(checkers, "verify", lambda *a, **k: asked.append(1) or verifier.verify(*a, **k))
    check = Checker(reference, **gemm_how(32))
    assert check(output).ok and check(output).ok and len(asked) == 2
