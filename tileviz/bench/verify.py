"""Checks an output against its reference: no budget of wrong elements, a derived tolerance, a reason that names the fault.

The reference comes unrounded in float64 (float32 where float64 does not fit). An element is right when it lies within `tolerance.Bound` of
it, or is the same kind of NaN or infinity; a whole number, when it is equal. The errors shown are against the reference rounded once to
the output's dtype, so a kernel that rounds perfectly shows 0. A slab of rows is looked at at a time, on the output's device.
"""

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from tileviz.measured import Verdict

from . import faults
from .draws import DTYPES, still_filled
from .error_map import Blocks
from .exponents import Sway
from .tolerance import EQUAL, FORMATS, WHOLE, Arithmetic, Bound, Scale, as_matrix, bound_of, scale_of, slabs

if TYPE_CHECKING:
    import torch

BLIND = "this check cannot tell right from wrong: an all-zero output would pass it too"


def verify(output: "torch.Tensor", reference: "torch.Tensor", how: Arithmetic) -> Verdict:
    """The verdict on `output` (any shape, the dtype of `how`) against `reference` (same shape; float64 or float32, or whole numbers).

    Raises UnknownName for an unknown dtype or error scale.
    """
    room, named = room_of(reference, how), named_dtype(reference)
    mismatch = unlike(output, reference, how.dtype)
    if mismatch:
        return Verdict(False, math.nan, math.nan, 1.0, output.numel(), None, 0, room.told, named, mismatch)
    matrix, truth = as_matrix(output), as_matrix(reference)
    blocks = Blocks(*matrix.shape)
    found = _look(matrix, truth, room, blocks)
    verdict = _verdict(found, output, matrix, truth, room, named)
    return replace(verdict, errors=blocks.finish(tuple(output.shape)))


def without_map_when_right(verdict: Verdict) -> Verdict:
    """For what is kept in numbers: baselines, and the configs of a sweep. A map takes some 5 KB."""
    return replace(verdict, errors=None, others=tuple(replace(v, errors=None) for v in verdict.others)) if verdict.ok else verdict


def named_dtype(reference: "torch.Tensor") -> str:
    """What a reference is computed in: `float64`, `float32`, or `whole numbers`."""
    dtype = str(reference.dtype).removeprefix("torch.")
    return "whole numbers" if dtype in WHOLE else "float32" if dtype == "float32" else "float64"


def unlike(output: "torch.Tensor", reference: "torch.Tensor", dtype: str) -> str:
    """Why an output cannot be set beside its reference; empty when it can."""
    if tuple(output.shape) != tuple(reference.shape):
        return f"the output has shape {tuple(output.shape)}; the reference has {tuple(reference.shape)}"
    if str(output.dtype) != f"torch.{DTYPES[dtype]}":
        return f"the output is {str(output.dtype).removeprefix('torch.')}, not {dtype}"
    return ""


@dataclass(frozen=True)
class Room:
    """How far each element may lie from its reference."""

    bound: Bound
    scale: Scale
    sway: Sway | None = None

    @property
    def told(self) -> str:
        """The tolerance, before anything is compared."""
        return self.bound.words

    def of_rows(self, reference: "torch.Tensor", first: int, last: int) -> tuple["torch.Tensor", "torch.Tensor"]:
        """(what the arithmetic may add, with the rounding the whole distance) for these rows of the reference, in float64."""
        sway = self.sway.of_rows(first, last, self.bound) if self.sway else 0.0
        drift = self.bound.drift(reference.abs(), self.scale.of_rows(first, last), sway)
        largest = FORMATS[self.bound.dtype].largest
        return drift, drift + self.bound.half_ulp((reference.abs() + drift).clamp(max=largest))

    def words(self, nonzero: int, zero_fails: int, total: int) -> str:
        """The tolerance, and how surely the check would see an output of all zeros."""
        told = self.bound.words + (self.sway.words(self.bound) if self.sway else "")
        if nonzero == 0:
            return f"{told}; the reference rounds to all zeros, so an all-zero output is right"
        return f"{told}; an all-zero output would fail in {zero_fails / total:.1%} of elements"

    def slab(self, output: "torch.Tensor", truth: "torch.Tensor", first: int, last: int) -> faults.Slab:
        """Rows `first` to `last` of an output beside those of its reference."""
        reference = truth[first:last].double()
        return _slab(output[first:last], reference, self.bound.dtype, *self.of_rows(reference, first, last))


class NoRoom:
    """For whole numbers: they are equal or wrong."""

    told = EQUAL

    def words(self, nonzero: int, zero_fails: int, total: int) -> str:
        """The tolerance, and how surely the check would see an output of all zeros."""
        if nonzero == 0:
            return f"{EQUAL}; the reference is all zeros, so an all-zero output is right"
        return f"{EQUAL}; an all-zero output would fail in {zero_fails / total:.1%} of elements"

    def slab(self, output: "torch.Tensor", truth: "torch.Tensor", first: int, last: int) -> faults.Slab:
        """Rows `first` to `last` of an output beside those of its reference; compared as 64-bit whole numbers where both are such."""
        import torch

        value, right = output[first:last], truth[first:last]
        wrong = value.double() != right if right.is_floating_point() else value.long() != right.long()
        nothing = torch.zeros_like(wrong)
        error = (value.double() - right.double()).abs()
        counts = (right != 0).sum()
        return faults.Slab(
            wrong=wrong,
            unwritten=wrong & still_filled(value, right),
            not_a_number=nothing,
            infinite=nothing,
            zero=(value == 0) & wrong,
            ratio=torch.where(wrong, math.inf, 0.0).double(),
            error=error,
            square=right.double().square().sum(),
            zero_fails=counts,
            nonzero=counts,
        )


def room_of(reference: "torch.Tensor", how: Arithmetic) -> Room | NoRoom:
    """What `verify` allows for such a reference."""
    if how.whole:
        return NoRoom()
    bound = bound_of(how, named_dtype(reference))
    scale = scale_of(as_matrix(reference), how)
    return Room(bound, scale, Sway.of(how.exponents) if how.exponents else None)


def _look(matrix, truth, room: Room | NoRoom, blocks: Blocks) -> faults.Found:
    """One pass over the output. Sums stay on the device until the end, so a GPU is not waited for at each slab."""
    found = faults.Found.start(matrix)
    for first, last in slabs(matrix):
        slab = room.slab(matrix, truth, first, last)
        found.add(first, slab)
        blocks.add(first, slab)
    return found


def _slab(output, reference, dtype: str, drift, limit) -> faults.Slab:
    import torch

    value = output.double()
    rounded = reference.to(output.dtype).double()

    same = (value.isnan() & reference.isnan()) | (value.isinf() & (value == reference))
    finite = value.isfinite() & reference.isfinite()
    over = _over(value, reference, dtype, drift)
    gap = (value - reference).abs()
    right = same | over | (finite & (gap <= limit))
    # A NaN or infinity that should be a number counts as if nothing were there.
    shown = torch.where(finite, value, torch.zeros_like(value)) - rounded
    shown = torch.where(rounded.isfinite() & ~over, shown, torch.zeros_like(value))
    ratio = torch.where(finite & ~over, gap / limit, torch.where(right, 0.0, math.inf))
    return faults.Slab(
        wrong=~right,
        unwritten=still_filled(output),
        not_a_number=value.isnan() & ~reference.isnan() & ~over,
        infinite=value.isinf() & ~right,
        zero=(value == 0) & ~right,
        ratio=ratio,
        error=shown.abs(),
        square=torch.where(rounded.isfinite(), rounded, torch.zeros_like(rounded)).square().sum(),
        zero_fails=(~reference.isfinite() | (reference.abs() > limit)).sum(),
        nonzero=(rounded != 0).sum(),
    )


def _over(value, reference, dtype: str, drift):
    """Where a value may stand for one past the largest of its format, because the reference itself rounds there within its bound: infinity,
    and in 8 bits also the largest number or NaN, as conversions saturate or have no infinity."""
    form = FORMATS[dtype]
    infinite = value.isinf() & reference.isfinite() & (reference * value.sign() + drift >= form.overflow)
    if not form.saturates:
        return infinite
    past = reference.isinf() | (reference.abs() + drift >= form.overflow)
    largest = (value.abs() == form.largest) & (value.sign() == reference.sign())
    return infinite | (past & (largest | value.isnan()))


def _verdict(found, output, matrix, truth, room: Room | NoRoom, named: str) -> Verdict:
    found = found.finish()
    total = max(1, matrix.numel())
    blind = found.nonzero > 0 and found.zero_fails == 0
    reason = faults.reason(found, matrix, truth, tuple(output.shape))
    if blind and not reason:
        reason = BLIND
    return Verdict(
        ok=not reason,
        rel_error=found.rel_error,
        max_abs_error=found.max_abs_error,
        wrong_fraction=found.wrong_count / total,
        wrong_count=found.wrong_count,
        worst_index=faults.index_of(found.worst, tuple(output.shape)),
        unwritten_count=found.unwritten_count,
        tolerance=room.words(found.nonzero, found.zero_fails, total),
        reference=named,
        reason=reason,
    )
