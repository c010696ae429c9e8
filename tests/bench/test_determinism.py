"""Ten launches beside each other: elements whose bits are not always the same are counted, once each."""

import math

import pytest
import torch

from tileviz.bench.determinism import determinism_of, same_bits
from tileviz.measured import Determinism


def launcher(change=lambda output, launch: None, dtype=torch.float32):
    """launched() of a program that writes the same output again and again, but for what change(output, number of the launch) does."""
    output, count = torch.empty(4, 5, dtype=dtype), [0]

    def launched():
        output.copy_(torch.arange(20).reshape(4, 5))
        count[0] += 1
        change(output, count[0])
        return (output,)

    return launched, count


@pytest.mark.parametrize("dtype", [torch.float32, torch.float16, torch.bfloat16, torch.float64])
def test_the_same_bits_ten_times_differ_nowhere(dtype):
    launched, count = launcher(dtype=dtype)
    assert determinism_of(launched, 5.0) == Determinism(10, 0) and count == [10]


@pytest.mark.parametrize("launch", [1, 2, 10])
def test_one_element_of_one_launch_is_seen(launch):
    def change(output, number):
        if number == launch:
            output[2, 3] += 1e-6

    assert determinism_of(launcher(change)[0], 5.0) == Determinism(10, 1)


def test_an_element_that_differs_in_several_launches_counts_once():
    def change(output, number):
        output[0, :2] += number
        if number == 7:
            output[3, 4] = -1.0

    assert determinism_of(launcher(change)[0], 5.0) == Determinism(10, 3)


def test_a_slow_program_is_launched_less_often():
    assert determinism_of(launcher()[0], 2e6).launches == 5
    launched, count = launcher()
    assert determinism_of(launched, 6e6) is None and count == [0]


def test_bits_tell_negative_zero_and_nan_apart():
    assert not same_bits(torch.tensor([0.0]), torch.tensor([-0.0]))
    assert same_bits(torch.tensor([math.nan]), torch.tensor([math.nan]))
    assert not same_bits(torch.tensor([0.0]), torch.tensor([0.0]).half())
