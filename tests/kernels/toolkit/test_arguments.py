"""What a program is launched with is read from the declaration, and a declaration that contradicts itself is told so."""

from dataclasses import replace

import pytest

from tests.kernels.widened_here import code
from tileviz.compiler.targets import target
from tileviz.errors import KernelFault
from tileviz.kernels.questions import Tensor
from tileviz.kernels.toolkit.arguments import Noted, Output

CPU, HOPPER = target("cpu"), target("sm_90a")


def signature(name: str, **changed):
    kernel = replace(code(name), **changed)
    return kernel.signature(kernel.problem())


def test_outputs_stand_anywhere_among_the_parameters():
    found = signature("row_stats")
    assert found.in_order == ("largest", "X", "total") and [t.name for t in found.written] == ["largest", "total"]
    assert found.shapes == [(300, 256), (300,), (300,)]


def test_an_input_that_is_written_over_is_an_output_and_a_number_is_no_tensor():
    found = signature("scale_in_place")
    assert (found.outputs, found.in_place, found.in_order) == ((), ("X",), ("X", "a"))
    assert found.inputs[1] == Tensor("a", (), "float32", scalar=True) and [t.name for t in found.written] == ["X"]


def test_each_output_has_its_own_tolerance_or_the_kernels():
    kernel = code("row_stats")
    largest, total = kernel.written(kernel.problem())
    assert (largest.error_scale, total.error_scale, total.accumulate) == ("exact", "sum", 256)
    over = replace(code("scale_in_place"), outputs=lambda problem: (Output("X", (problem["N"],), "float32", error_scale="sum"),))
    assert [each.error_scale for each in over.written(over.problem())] == ["sum"]
    assert over.signature(over.problem()).outputs == ()


@pytest.mark.parametrize(
    ("name", "changed", "words"),
    [
        ("scale_in_place", {"in_place": ("Z",)}, "written in place is Z; the inputs are X, a"),
        ("scale_in_place", {"in_place": ()}, "nothing is written"),
        ("row_stats", {"order": lambda problem: ("X", "total")}, "the arguments are X, largest, total"),
        ("row_stats", {"outputs": lambda problem: (Output("X", (1,), "float32"),)}, "two arguments have one name: X, X"),
        ("histogram", {"inputs": lambda problem, randn: ("text",)}, "input places is str"),
    ],
)
def test_a_declaration_that_contradicts_itself_says_how(name, changed, words):
    with pytest.raises(KernelFault, match=words):
        signature(name, **changed)


def test_inputs_may_be_changed_after_they_are_drawn():
    x = Noted(4, 5, dtype="float16")
    x *= 3
    x[0] = 100
    assert isinstance(x + 1, Noted) and (2 * x - 1).shape == (4, 5)


@pytest.mark.parametrize(("name", "words"), [("eight_bits", "float32 only, not float8_e4m3fn"), ("histogram", None), ("row_stats", None)])
def test_the_cpu_target_takes_whole_numbers_and_no_8_bits(name, words):
    kernel = code(name)
    found = kernel.unsupported(kernel.problem({}, "cpu"), CPU)
    assert (words in found if words else found is None) and kernel.unsupported(kernel.problem(), HOPPER) is None
