"""What a kernel's program is launched with, read from its declaration: inputs are noted, not drawn."""

import inspect
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from tileviz.errors import KernelFault
from tileviz.kernels.questions import Signature, Tensor
from tileviz.records import ErrorScale, Problem

OUTPUT = "out"
"""Name of the one output of a kernel that names none."""

SCALARS = {bool: "bool", int: "int32", float: "float32"}
"""What a plain number among the inputs is for the program."""


@dataclass(frozen=True)
class Output:
    """A tensor that a program writes. What is left out of its tolerance is the kernel's."""

    name: str
    shape: tuple[int, ...]
    dtype: str
    accumulate: int | None = None
    """Length of the longest sum behind one of its elements."""
    error_scale: str | ErrorScale | None = None
    cancelled: float | None = None


class Noted:
    """In the place of a drawn tensor: its shape and dtype. What changes values alone (`x * 2`, `x[0] = 5`) leaves it as it is."""

    def __init__(self, *shape: int, dtype: str = "float32", within: range | None = None) -> None:
        self.shape, self.dtype = shape, dtype

    def _same(self, *_: Any) -> "Noted":
        return self

    __neg__ = __abs__ = __add__ = __radd__ = __sub__ = __rsub__ = __mul__ = __rmul__ = __truediv__ = __pow__ = _same

    def __setitem__(self, _place: Any, _value: Any) -> None:
        """Values alone."""


def signature_of(
    inputs: Callable[..., tuple],
    names: Callable[[int], list[str]],
    problem: Problem,
    outputs: tuple[Output, ...],
    in_place: tuple[str, ...],
    order: tuple[str, ...],
) -> Signature:
    """The arguments of a problem. Raises KernelFault where the declaration names some twice, or none that is there."""
    drawn = inputs(problem, Noted)
    given = tuple(_tensor(name, value) for name, value in zip(names(len(drawn)), drawn, strict=True))
    taken = [tensor.name for tensor in given]
    separate = tuple(Tensor(each.name, each.shape, each.dtype) for each in outputs if each.name not in in_place)
    unknown = [name for name in in_place if name not in taken]
    if unknown:
        raise KernelFault(f"written in place is {', '.join(unknown)}; the inputs are {', '.join(taken)}")
    everything = [*taken, *(tensor.name for tensor in separate)]
    if len(set(everything)) < len(everything):
        raise KernelFault(f"two arguments have one name: {', '.join(everything)}")
    if order and sorted(order) != sorted(everything):
        raise KernelFault(f"the order names {', '.join(order)}; the arguments are {', '.join(everything)}")
    if not separate and not in_place:
        raise KernelFault("nothing is written: declare an output, outputs, or what is written in place")
    return Signature(given, separate, in_place, order)


def input_names(reference: Callable, count: int) -> list[str]:
    """`reference(problem, A, B, *bias)` has A, B and bias, as far as there are so many."""
    names = list(inspect.signature(reference).parameters)[1:]
    return [names[place] if place < len(names) else f"in{place}" for place in range(count)]


def _tensor(name: str, value: Any) -> Tensor:
    if isinstance(value, Noted):
        return Tensor(name, value.shape, value.dtype)
    if type(value) in SCALARS:
        return Tensor(name, (), SCALARS[type(value)], scalar=True)
    raise KernelFault(f"input {name} is {type(value).__name__}: give what the drawing gives, or a plain number")
