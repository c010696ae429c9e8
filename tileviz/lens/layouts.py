"""Numbers of a tile's layout: bank conflicts in shared memory, and how a fragment is spread over threads."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

BANKS, BANK_BYTES = 32, 4
SEGMENT_BYTES = 16
"""What one thread of an ldmatrix reads: a row of eight 16-bit elements."""
ROWS = 8
"""Rows that ldmatrix reads at once, one after another in the tile; all 32 banks then give 4 bytes each."""

Cells = Sequence[Sequence[int]]


@dataclass(frozen=True)
class Conflicts:
    """How many times shared memory is read for what one time could do: 1 means without conflicts."""

    ways: int
    row_major: int
    """The same for a tile laid out row after row, for comparison."""

    @property
    def words(self) -> str:
        here = "no bank conflicts" if self.ways == 1 else f"{self.ways}-way bank conflicts"
        plain = "none either" if self.row_major == 1 else f"{self.row_major}-way"
        return f"{here}; row after row it would be {plain}"


def bank_conflicts(cells: Cells, element_bytes: int) -> Conflicts | None:
    """Conflicts of reading eight rows of one 16-byte column, as ldmatrix and its like do; `cells` are offsets in elements.

    None for a tile that is too small for such a read, or elements that do not fill 16 bytes evenly.
    """
    width = SEGMENT_BYTES // element_bytes if element_bytes else 0
    rows, columns = len(cells), len(cells[0]) if cells else 0
    if not width or rows < ROWS or columns < width:
        return None
    plain = [[row * columns + column for column in range(columns)] for row in range(rows)]
    return Conflicts(_ways(cells, element_bytes, width), _ways(plain, element_bytes, width))


def bank(offset: int, element_bytes: int) -> int:
    """The bank that an element's first byte lies in, 0 to 31."""
    return offset * element_bytes // BANK_BYTES % BANKS


def banks(cells: Cells, element_bytes: int) -> list[list[int]]:
    """The bank of every element."""
    return [[bank(offset, element_bytes) for offset in row] for row in cells]


def _ways(cells: Cells, element_bytes: int, width: int) -> int:
    """The most rows of eight whose 16 bytes lie in the same banks, over all places of the tile."""
    worst = 1
    for first in range(0, len(cells) - ROWS + 1, ROWS):
        for column in range(0, len(cells[0]) - width + 1, width):
            groups = Counter(bank(cells[row][column], element_bytes) // (SEGMENT_BYTES // BANK_BYTES) for row in range(first, first + ROWS))
            worst = max(worst, max(groups.values()))
    return worst


@dataclass(frozen=True)
class Spread:
    """How a fragment lies in registers."""

    threads: int
    registers: int
    """Of each thread."""
    replicated: int

    @property
    def words(self) -> str:
        copies = f", each element in {self.replicated} threads" if self.replicated > 1 else ""
        return f"{self.threads:,} threads, {self.registers:,} register{'s' * (self.registers != 1)} each{copies}"


def spread(owners: Cells, registers: Cells, replicated: int = 1) -> Spread:
    """Threads and registers of a fragment, from the owner and the register of every element."""
    threads = len({owner for row in owners for owner in row}) * replicated
    return Spread(threads, 1 + max(max(row) for row in registers), replicated)
