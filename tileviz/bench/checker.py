"""Checks one output after another against one reference: what does not depend on the output is computed once.

A right output is told by a quarter of the work of `verify`, with the same verdict; whatever else comes goes to `verify` itself.
"""

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from tileviz.measured import Verdict

from . import faults
from .draws import still_filled, torch_dtype
from .references import free_bytes
from .tolerance import Arithmetic, as_matrix, slabs
from .verify import NoRoom, named_dtype, room_of, unlike, verify, without_map_when_right

if TYPE_CHECKING:
    import torch

ROOM = 0.2
"""Share of the free memory that may be kept for a reference; where it takes more, `verify` does all the work."""


@dataclass(frozen=True)
class Part:
    """What a slab of rows is compared with, in float64."""

    first: int
    last: int
    truth: "torch.Tensor"
    rounded: "torch.Tensor"
    """The truth rounded once to the output's dtype."""
    limit: "torch.Tensor"
    """How far each element may lie from the truth."""


@dataclass(frozen=True)
class Known:
    """Everything about a reference that its outputs share."""

    parts: tuple[Part, ...]
    square: float
    """Sum of squares of the rounded reference."""
    tolerance: str


class Checker:
    """checker(output) is the verdict of `verify(output, reference, how)`, without the map of errors when the output is right."""

    def __init__(self, reference: "torch.Tensor", how: Arithmetic) -> None:
        self.reference, self.how = reference, how
        self.known: Known | None = None
        self.looked = False

    def __call__(self, output: "torch.Tensor") -> Verdict:
        if not self.looked:
            self.looked, self.known = True, self._look()
        return self._if_right(output) or without_map_when_right(verify(output, self.reference, self.how))

    def _look(self) -> Known | None:
        """None where `verify` must look at each output: a reference too large to keep so much of it, not finite, or blind to zeros; and
        whole numbers, which are compared fast."""
        import torch

        truth = as_matrix(self.reference)
        if 24 * truth.numel() > ROOM * free_bytes(str(truth.device)):
            return None
        room = room_of(self.reference, self.how)
        if isinstance(room, NoRoom):
            return None
        parts, sums = [], []
        for first, last in slabs(truth):
            rows = truth[first:last].double()
            _, limit = room.of_rows(rows, first, last)
            rounded = rows.to(torch_dtype(self.how.dtype)).double()
            parts.append(Part(first, last, rows, rounded, limit))
            finite = (rows.isfinite() & rounded.isfinite()).all()
            counts = (rows.abs() > limit).sum(), (rounded != 0).sum()
            sums.append(torch.stack([finite.double(), rounded.square().sum(), *(count.double() for count in counts)]))
        found = torch.stack(sums).cpu()
        square, zero_fails, nonzero = found[:, 1:].sum(0).tolist()
        if not found[:, 0].all() or (nonzero and not zero_fails):
            return None
        return Known(tuple(parts), square, room.words(int(nonzero), int(zero_fails), max(1, truth.numel())))

    def _if_right(self, output: "torch.Tensor") -> Verdict | None:
        """The verdict on an output that is right and written everywhere; None for any other."""
        import torch

        if self.known is None or unlike(output, self.reference, self.how.dtype):
            return None
        matrix, sums = as_matrix(output), []
        for part in self.known.parts:
            rows = matrix[part.first : part.last]
            value = rows.double()
            gap = (value - part.truth).abs_()
            wrong = (~(gap <= part.limit)).sum() + still_filled(rows).sum()
            ratio = gap.div_(part.limit).reshape(-1)
            worst = ratio.argmax()
            error = value.sub_(part.rounded).abs_()
            place = worst.double() + part.first * matrix.shape[1]
            sums.append(torch.stack([wrong.double(), ratio[worst], place, error.max(), error.square_().sum()]))
        found = torch.stack(sums).cpu()
        if found[:, 0].any():
            return None
        at = int(found[:, 1].argmax())
        squares = found[:, 4].sum().item()
        return Verdict(
            ok=True,
            rel_error=math.sqrt(squares / self.known.square) if self.known.square else math.sqrt(squares),
            max_abs_error=found[:, 3].max().item(),
            wrong_fraction=0.0,
            wrong_count=0,
            worst_index=faults.index_of(int(found[at, 2]), tuple(output.shape)),
            unwritten_count=0,
            tolerance=self.known.tolerance,
            reference=named_dtype(self.reference),
            reason="",
        )
