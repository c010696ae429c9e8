"""Bank conflicts and spreads of layouts whose answer is known."""

import pytest

from tileviz.lens.layouts import bank, bank_conflicts, banks, spread


def row_major(rows: int, columns: int, stride: int | None = None) -> list[list[int]]:
    return [[row * (stride or columns) + column for column in range(columns)] for row in range(rows)]


def swizzled(rows: int, columns: int = 64) -> list[list[int]]:
    """The 128-byte swizzle: 16-byte column xor row modulo 8."""
    return [[row * columns + ((column // 8) ^ (row % 8)) * 8 + column % 8 for column in range(columns)] for row in range(rows)]


def test_rows_of_128_bytes_collide_eight_ways_and_the_swizzle_ends_it():
    assert bank_conflicts(row_major(64, 64), 2).ways == 8
    found = bank_conflicts(swizzled(64), 2)
    assert (found.ways, found.row_major) == (1, 8)
    assert found.words == "no bank conflicts; row after row it would be 8-way"


@pytest.mark.parametrize("columns, ways", [(8, 1), (16, 2), (32, 4), (64, 8), (128, 8)])
def test_conflicts_grow_with_the_row_up_to_eight(columns, ways):
    assert bank_conflicts(row_major(16, columns), 2).ways == ways


def test_padding_a_row_by_sixteen_bytes_ends_conflicts_too():
    assert bank_conflicts(row_major(64, 64, stride=72), 2).ways == 1


@pytest.mark.parametrize("cells, size", [(row_major(4, 64), 2), (row_major(64, 4), 2), ([], 2), (row_major(8, 8), 0)])
def test_a_tile_too_small_for_such_a_read_has_no_answer(cells, size):
    assert bank_conflicts(cells, size) is None


def test_banks_are_four_bytes_wide_and_come_again_after_128():
    assert [bank(offset, 2) for offset in (0, 1, 2, 63, 64)] == [0, 0, 1, 31, 0]
    assert banks([[0, 2], [64, 66]], 2) == [[0, 1], [0, 1]]


def test_a_fragment_is_told_by_threads_and_registers():
    found = spread([[0, 0, 1, 1], [2, 2, 3, 3]], [[0, 1, 0, 1], [0, 1, 0, 1]])
    assert found.words == "4 threads, 2 registers each"
    assert spread([[0], [4]], [[0], [0]], replicated=4).words == "8 threads, 1 register each, each element in 4 threads"
