"""Whether launch after launch on the same inputs gives the same bits: atomics and races may not, though each result is right."""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from tileviz.measured import Determinism

if TYPE_CHECKING:
    import torch

LAUNCHES = 10

LONGEST_S = 10.0
"""What all of them may take; a slower program is launched less often, and not at all where two are too many."""

_WHOLE = {1: "uint8", 2: "int16", 4: "int32", 8: "int64"}


def determinism_of(launched: Callable[[], Sequence["torch.Tensor"]], median_us: float) -> Determinism | None:
    """Launches up to LAUNCHES times and compares on the device. launched() gives the outputs, which the next call may overwrite."""
    launches = min(LAUNCHES, int(LONGEST_S * 1e6 / max(median_us, 1.0)))
    if launches < 2:
        return None
    first = [bits(output).clone() for output in launched()]
    unlike = [each != each for each in first]
    for _ in range(launches - 1):
        for mask, kept, output in zip(unlike, first, launched(), strict=True):
            mask |= bits(output) != kept
    return Determinism(launches, sum(int(mask.sum()) for mask in unlike))


def same_bits(output: "torch.Tensor", other: "torch.Tensor") -> bool:
    """True for two tensors of one shape and dtype whose every bit is the same."""
    import torch

    return output.shape == other.shape and output.dtype == other.dtype and torch.equal(bits(output), bits(other))


def bits(tensor: "torch.Tensor") -> "torch.Tensor":
    """The same memory as whole numbers: NaN is NaN, and -0 is not 0."""
    import torch

    return tensor.view(getattr(torch, _WHOLE[tensor.element_size()]))
