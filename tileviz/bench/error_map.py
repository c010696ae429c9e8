"""Where in an output the errors lie: the output as a matrix, cut into blocks, with the worst error and the wrong elements of each."""

import math
from typing import TYPE_CHECKING

from tileviz.measured import ErrorMap

if TYPE_CHECKING:
    import torch

    from .faults import Slab

MOST_BLOCKS = 32
"""Down and across a matrix; a vector is one strip of twice as many."""


class Blocks:
    """Takes the slabs of one pass over an output and gathers them by block; nothing leaves the device before `finish`."""

    def __init__(self, rows: int, columns: int) -> None:
        self.height = block_length(rows, MOST_BLOCKS if columns > 1 else 2 * MOST_BLOCKS)
        self.width = block_length(columns, MOST_BLOCKS)
        self.rows: list[int] = []
        """The row of blocks that each part belongs to; a slab may end within a block."""
        self.worst: list[torch.Tensor] = []
        self.wrong: list[torch.Tensor] = []

    def add(self, first_row: int, slab: "Slab") -> None:
        import torch

        wrong = slab.wrong | slab.unwritten
        done, last = 0, len(slab.ratio)
        while done < last:
            row = (first_row + done) // self.height
            end = min(last, (row + 1) * self.height - first_row)
            self.rows.append(row)
            self.worst.append(self._across(torch.nan_to_num(slab.ratio[done:end].amax(0), 0.0, math.inf)).amax(1))
            self.wrong.append(self._across(wrong[done:end].sum(0)).sum(1))
            done = end

    def finish(self, shape: tuple[int, ...]) -> ErrorMap:
        """The map of an output of this shape, on the host."""
        import torch

        across = len(self.worst[0])
        worst = [[0.0] * across for _ in range(self.rows[-1] + 1)]
        wrong = [[0] * across for _ in worst]
        for row, errors, counts in zip(self.rows, torch.stack(self.worst).tolist(), torch.stack(self.wrong).tolist(), strict=True):
            worst[row] = [max(pair) for pair in zip(worst[row], errors, strict=True)]
            wrong[row] = [sum(pair) for pair in zip(wrong[row], counts, strict=True)]
        found = tuple(tuple(counts) for counts in wrong) if any(map(any, wrong)) else ()
        return ErrorMap(shape, (self.height, self.width), tuple(tuple(float(f"{v:.2g}") for v in row) for row in worst), found)

    def _across(self, values):
        """A number a column as (blocks, columns of a block); the last block is filled up with zeros."""
        import torch

        return torch.nn.functional.pad(values, (0, -len(values) % self.width)).reshape(-1, self.width)


def block_length(length: int, most: int) -> int:
    """The smallest power of two that cuts `length` into at most `most` pieces: tiles are powers of two, too."""
    return 1 << max(0, math.ceil(length / most) - 1).bit_length()
