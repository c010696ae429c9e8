"""Several outputs, outputs in place, whole numbers and 8 bits: each is judged by its own tolerance, and the worst is the verdict."""

import math

import pytest
import torch

from tests.bench.judged import Checker, verify
from tests.kernels.widened_here import code
from tileviz.bench import draws
from tileviz.bench.arguments import Arguments
from tileviz.bench.references import Truth, by_name, reference_of
from tileviz.bench.timers import PerfCounter, Prepared
from tileviz.bench.tolerance import Arithmetic, bound_of
from tileviz.errors import BadValue, KernelFault
from tileviz.measured import worst_of
from tileviz.records import ErrorScale, Roundings
from tileviz.records_json import to_json

WHOLE = ("int8", "int16", "int32", "int64", "uint8")


def launched_with(name: str, problem: dict | None = None) -> tuple[Arguments, Truth]:
    kernel = code(name)
    full = kernel.problem(problem, "cpu")
    arguments = Arguments.of(kernel, full, kernel.inputs(full, draws.Draw("cpu", 0)), "cpu")
    return arguments, Truth.of(kernel, full, arguments.inputs)


# whole numbers


@pytest.mark.parametrize("dtype", WHOLE)
def test_whole_numbers_are_equal_or_wrong(dtype):
    reference = torch.arange(120).reshape(10, 12)
    right = reference.clone().to(draws.torch_dtype(dtype))
    found = verify(right, reference, dtype=dtype)
    assert found.ok and found.tolerance.startswith("0: whole numbers must be equal; an all-zero output would fail in 99.2%")
    right[3, 5] += 1
    found = verify(right, reference, dtype=dtype)
    assert found.reason == "wrong: first at (3, 5), 42 against 41; 1 of 120 elements differ" and found.worst_index == (3, 5)
    assert Checker(reference, dtype=dtype)(right).reason == found.reason


def test_the_last_bit_of_64_is_seen():
    reference = torch.tensor([2**62 + 1])
    assert verify(reference.clone(), reference, dtype="int64").ok
    assert not verify(reference - 1, reference, dtype="int64").ok


@pytest.mark.parametrize("dtype", WHOLE)
def test_an_element_that_is_never_written_shows_whatever_its_reference_is(dtype):
    reference = torch.arange(-60, 60).abs().reshape(10, 12)
    output = draws.refill(draws.blank((10, 12), dtype, "cpu"), reference)
    assert (output != reference).all()
    output[:, :8] = reference[:, :8].to(output.dtype)
    assert verify(output, reference, dtype=dtype).reason == "4 of 12 columns never written (8-11)"


def test_a_bool_that_is_never_written_is_wrong():
    reference = torch.arange(10) % 2 == 0
    output = draws.refill(draws.blank((10,), "bool", "cpu"), reference)
    found = verify(output, reference, dtype="bool")
    assert found.wrong_count == 10 and found.unwritten_count == 0
    assert verify(reference.clone(), reference, dtype="bool").ok


def test_whole_numbers_are_drawn_within_their_range_and_refused_without_one():
    for kind in draws.KINDS:
        drawn = draws.Draw("cpu", 0, kind)(500, dtype="int32", within=range(5, 40, 5))
        assert drawn.dtype == torch.int32 and set(drawn.tolist()) <= set(range(5, 40, 5)), kind
    assert set(draws.Draw("cpu", 0)(500, dtype="int32", within=range(5, 40, 5)).tolist()) == set(range(5, 40, 5))
    assert set(draws.Draw("cpu", 0)(100, dtype="bool").tolist()) == {True, False}
    with pytest.raises(BadValue, match="int32 needs a range"):
        draws.Draw("cpu", 0)(5, dtype="int32")
    with pytest.raises(BadValue, match="int8 holds -128 to 127"):
        draws.Draw("cpu", 0)(5, dtype="int8", within=range(200))


def test_a_nan_goes_into_the_first_input_that_has_one():
    draw = draws.Draw("cpu", 0, "nan")
    draw(5, dtype="int32", within=range(3))
    assert draw(5).isnan().sum() == 1 and not draw(5).isnan().any()


def test_whole_numbers_reach_the_reference_as_numbers_that_index():
    given = torch.tensor([2, 0], dtype=torch.int8), torch.arange(3.0), torch.tensor([True, False]), 1.5
    index, values, mask, factor = reference_of(lambda problem, *inputs: inputs, {}, given)
    assert (index.dtype, values.dtype, mask.dtype, factor) == (torch.int64, torch.float64, torch.bool, 1.5)


# 8 bits


@pytest.mark.parametrize(("dtype", "digits"), [("float8_e4m3fn", 4), ("float8_e5m2", 3)])
def test_8_bits_are_judged_by_their_mantissa(dtype, digits):
    exact = torch.randn(64, 64, dtype=torch.float64, generator=torch.Generator().manual_seed(0))
    right = exact.to(draws.torch_dtype(dtype))
    assert bound_of(Arithmetic(dtype, error_scale="exact")).half_ulp(torch.tensor([1.0, 1.9, 2.0])).tolist() == [
        2.0**-digits, 2.0**-digits, 2.0 ** (1 - digits),
    ]  # fmt: skip
    found = verify(right, exact, dtype=dtype, error_scale="exact")
    assert found.ok and found.rel_error == 0 and found.tolerance.startswith(f"half an ulp of {dtype}; from one rounding")
    wrong = right.view(torch.uint8).clone()
    wrong[9, 9] += 1  # one unit in the last place
    assert verify(wrong.view(right.dtype), exact, dtype=dtype, error_scale="exact").worst_index == (9, 9)
    unwritten = draws.nan_filled((64, 64), dtype, "cpu")
    unwritten.view(torch.uint8)[:, :60] = right.view(torch.uint8)[:, :60]
    assert verify(unwritten, exact, dtype=dtype, error_scale="exact").reason == "4 of 64 columns never written (60-63)"


@pytest.mark.parametrize(("dtype", "largest"), [("float8_e4m3fn", 448.0), ("float8_e5m2", 57344.0)])
def test_past_the_largest_of_8_bits_a_conversion_may_saturate(dtype, largest):
    reference = torch.tensor([2 * largest, -2 * largest, math.inf, 1.0], dtype=torch.float64)
    said = lambda *values: verify(torch.tensor(values).to(draws.torch_dtype(dtype)), reference, dtype=dtype, error_scale="exact")
    assert said(largest, -largest, largest, 1.0).ok and said(math.nan, math.nan, math.nan, 1.0).ok
    assert not said(-largest, -largest, largest, 1.0).ok and not said(largest / 2, -largest, largest, 1.0).ok
    assert not said(largest, -largest, largest, math.nan).ok


def test_the_math_of_a_kernel_in_8_bits_is_right():
    arguments, truth = launched_with("eight_bits")
    output = (2 * arguments.inputs[0].float()).to(torch.float8_e5m2)
    assert verify(output, truth.reference, dtype="float8_e5m2", error_scale="exact").ok
    assert not verify(
        (2.5 * arguments.inputs[0].float()).to(torch.float8_e5m2), truth.reference, dtype="float8_e5m2", error_scale="exact"
    ).ok


# several outputs


def test_the_worst_output_is_the_verdict_and_is_named():
    reference = torch.ones(8, 8, dtype=torch.float64)
    right, wrong = torch.ones(8, 8), torch.ones(8, 8)
    wrong[1, 2:5] = 3
    judged = lambda output: verify(output, reference, dtype="float32", error_scale="exact")
    found = worst_of({"dQ": judged(right), "dK": judged(wrong), "dV": judged(right)})
    assert not found.ok and found.output == "dK" and found.reason.startswith("dK: wrong: worst at (1, 2), 3 against 1")
    assert "3 of 64 elements" in found.reason
    assert [each.output for each in found.each] == ["dK", "dQ", "dV"] and [each.ok for each in found.others] == [True, True]
    assert worst_of({"out": judged(right)}) == judged(right), "one output is as it always was"
    assert not {"output", "others"} & set(to_json(judged(right))) and to_json(found)["output"] == "dK"
    assert worst_of({"a": judged(right), "b": judged(right)}).ok


@pytest.mark.parametrize("given", [(1, 2), [1, 2], {"b": 2, "a": 1}])
def test_outputs_are_given_in_order_or_by_name(given):
    assert by_name(given, ("a", "b"), "the call") == {"a": 1, "b": 2}


@pytest.mark.parametrize("given", [1, (1,), (1, 2, 3), {"a": 1}, {"a": 1, "c": 2}])
def test_outputs_that_are_not_those_declared_are_a_fault_of_the_kernel(given):
    with pytest.raises(KernelFault, match="a, b"):
        by_name(given, ("a", "b"), "the call")


def test_a_kernel_may_declare_a_kind_of_error_of_its_own():
    own = ErrorScale("fp8 sums", scale=Roundings(root=32, sums=2.0**10), over="row")
    how = {"dtype": "float32", "accumulate": 64, "error_scale": own}
    reference = torch.ones(4, 4, dtype=torch.float64)
    off = 2.0**-24 * (32 * 8 + 2**10)
    assert verify(torch.full((4, 4), 1 + 0.9 * off), reference, **how).ok
    assert not verify(torch.full((4, 4), 1 + 1.2 * off), reference, **how).ok


# in place


def test_what_is_written_over_has_its_values_back_before_each_launch():
    arguments, truth = launched_with("scale_in_place", {"N": 100})
    (X, a), before = arguments.inputs, arguments.inputs[0].clone()
    call = lambda X, a: X.mul_(a)
    for _ in range(3):
        arguments.clear(truth)
        assert torch.equal(X, before)
        call(*arguments.in_order)
        assert verify(arguments.outputs["X"], truth.reference, dtype="float32", error_scale="exact").ok
    assert torch.equal(arguments.fresh_inputs[0], before) and arguments.fresh_inputs[1] == a == 1.5
    arguments.exchange((torch.ones(100), 1.5))
    arguments.clear(truth)
    assert (X == 1).all(), "what came in the exchange is what it goes back to"


def test_a_timer_restores_outside_the_timed_window():
    arguments, _ = launched_with("scale_in_place", {"N": 100})
    before, seen = arguments.inputs[0].clone(), []
    run = arguments.launch_of(lambda X, a: (seen.append(torch.equal(X, before)), X.mul_(a)))
    assert isinstance(run, Prepared)
    PerfCounter().settle(run, 2)
    PerfCounter().sample(run, 5)
    assert seen == [True] * 7
    clock = []
    slow = Prepared(lambda: clock.append("run"), lambda: torch.randn(300, 300) @ torch.randn(300, 300))
    assert max(PerfCounter().sample(slow, 3)) < 5_000 and clock == ["run"] * 3


def test_a_kernel_that_restores_nothing_is_launched_as_before():
    arguments, _ = launched_with("row_stats")
    assert not isinstance(arguments.launch_of(lambda *_: None), Prepared)
    assert [tuple(t.shape) for t in arguments.in_order] == [(300,), (300, 256), (300,)]
