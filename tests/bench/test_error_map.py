"""The map of errors: blocks of the output with the worst error and the wrong elements of each."""

import math

import pytest
import torch

from tests.bench.judged import verify
from tileviz.bench import tolerance
from tileviz.bench.draws import Draw, nan_filled
from tileviz.bench.error_map import block_length
from tileviz.bench.verify import without_map_when_right
from tileviz.measured import Verdict
from tileviz.records_json import to_json

HOW = {"dtype": "float32", "math_mode": "float32", "accumulate": 1, "error_scale": "exact"}


def checked(output, reference) -> Verdict:
    return verify(output, reference.double(), **HOW)


def normal(*shape):
    return Draw("cpu", 0)(*shape)


@pytest.mark.parametrize(
    ("length", "most", "block"), [(1, 32, 1), (32, 32, 1), (33, 32, 2), (1000, 32, 32), (4096, 32, 128), (4097, 32, 256)]
)
def test_a_block_is_the_smallest_power_of_two_that_is_enough(length, most, block):
    assert block_length(length, most) == block


def test_a_right_output_has_a_map_without_wrong_elements():
    x = normal(100, 70)
    found = checked(x, x).errors
    assert found.shape == (100, 70) and found.block == (4, 4) and found.wrong == ()
    assert len(found.worst) == 25 and {len(row) for row in found.worst} == {18} and max(map(max, found.worst)) == 0


def test_wrong_elements_are_counted_in_their_block_and_its_worst_error_is_over_1():
    x = normal(100, 70)
    y = x.clone()
    y[9, 69] += 1
    y[8, 68] += 1
    found = checked(y, x).errors
    assert found.wrong[2][17] == 2 and sum(map(sum, found.wrong)) == 2
    assert found.worst[2][17] > 1e3 and found.worst[2][16] == 0


def test_what_was_never_written_is_infinitely_far_off():
    x = normal(64, 64)
    y = nan_filled((64, 64), "float32", "cpu")
    y[:32] = x[:32]
    found = checked(y, x).errors
    assert all(worst == math.inf for row in found.worst[16:] for worst in row)
    assert sum(map(sum, found.wrong)) == 32 * 64 and not any(map(any, found.wrong[:16]))


def test_a_slab_that_ends_within_a_block_changes_nothing(monkeypatch):
    x = normal(1000, 40)
    y = x.clone()
    y[500:520, 3] += 1
    whole = checked(y, x).errors
    monkeypatch.setattr("tileviz.bench.verify.slabs", lambda matrix: [(at, min(at + 37, 1000)) for at in range(0, 1000, 37)])
    assert checked(y, x).errors == whole and sum(map(sum, whole.wrong)) == 20
    assert tolerance.slabs(x) == [(0, 1000)]


def test_a_vector_is_one_strip_of_64_blocks():
    x = normal(1 << 16)
    y = x.clone()
    y[-1] = 5
    found = checked(y, x).errors
    assert found.block == (1024, 1) and len(found.worst) == 64 and [sum(row) for row in found.wrong] == [0] * 63 + [1]


def test_all_but_the_last_dimension_are_rows():
    x = normal(2, 3, 40, 64)
    y = x.clone()
    y[1, 2, 39, 0] += 1
    found = checked(y, x).errors
    assert found.shape == (2, 3, 40, 64) and found.block == (8, 2) and found.wrong[29][0] == 1


def test_a_large_output_has_a_small_map():
    x = torch.zeros(3000, 3000)
    assert len(str(to_json(checked(x, x).errors))) < 8_000


def test_a_right_verdict_that_is_kept_in_numbers_drops_its_map_and_a_wrong_one_keeps_it():
    x = normal(8, 8)
    assert without_map_when_right(checked(x, x)).errors is None
    assert without_map_when_right(checked(x + 1, x)).errors.wrong


def test_an_infinity_stands_in_its_block():
    x = normal(8, 8)
    y = x.clone()
    y[3, 4] = math.inf
    assert checked(y, x).errors.worst[3][4] == math.inf
