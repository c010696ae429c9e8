"""Draws inputs from a recorded seed, and fills outputs with what shows what a kernel never wrote.

An output of floating-point numbers is filled with a NaN that no arithmetic gives; one of whole numbers, which have no NaN, with what
differs from its reference at every element.
"""

import math
from typing import TYPE_CHECKING

from tileviz.errors import BadValue, UnknownName

from .tolerance import WHOLE

if TYPE_CHECKING:
    import torch

DTYPES = {
    "float64": "float64",
    "float32": "float32",
    "float16": "float16",
    "bfloat16": "bfloat16",
    "float8_e4m3": "float8_e4m3fn",
    "float8_e4m3fn": "float8_e4m3fn",
    "float8_e5m2": "float8_e5m2",
    "bool": "bool",
    "uint8": "uint8",
    "int8": "int8",
    "int16": "int16",
    "int32": "int32",
    "int64": "int64",
}
"""Our dtype names, and torch's."""

KINDS = {
    "normal": "standard normal; the only kind that is compared with published numbers",
    "zeros": "all zeros; runs faster than real data on a power-capped GPU",
    "ones": "all ones",
    "integers": "whole numbers from -2 to 2, each as likely",
    "nan": "standard normal, with one NaN in the first input",
    "inf": "standard normal, with one +Inf in the first input",
}

FILL_BITS = {
    "float64": 0x7FFBADF111ED0001,
    "float32": 0x7FEDF111,
    "float16": 0x7F5A,
    "bfloat16": 0x7FDA,
    "float8_e4m3fn": 0xFF,
    "float8_e5m2": 0xFD,
}
"""The NaN that outputs are filled with. Its payload is one that no arithmetic gives, so an element that was never written is told
from one where the kernel computed NaN: conversions to 8 bits give 0x7F, and have no other payload to give."""

_BIT_VIEWS = {8: "int64", 4: "int32", 2: "int16", 1: "uint8"}
"""By the bytes of an element."""


def torch_dtype(name: str) -> "torch.dtype":
    """The torch dtype of one of our names. Raises UnknownName."""
    import torch

    if name not in DTYPES:
        raise UnknownName.of("dtype", name, DTYPES)
    return getattr(torch, DTYPES[name])


class Draw:
    """draw(*shape, dtype="float16") -> tensor on `device`; draw(*shape, dtype="int32", within=range(0, N)) of whole numbers.

    The same device, seed and kind give the same tensors in the same order; values are drawn in float32 and rounded once to the dtype.
    Whole numbers are drawn from `within`, each as likely, and never leave it: they may be indices. Where the kind is `zeros` or `ones`,
    they are the number of the range that is nearest to it. A bool is true as often as not. A NaN or infinity goes into the first tensor
    that has such.
    """

    def __init__(self, device: str, seed: int, kind: str = "normal") -> None:
        if kind not in KINDS:
            raise UnknownName.of("distribution of inputs", kind, KINDS)
        self.device, self.seed, self.kind = device, seed, kind
        self._generator = None
        self._drawn = 0

    def __call__(self, *shape: int, dtype: str = "float32", within: range | None = None) -> "torch.Tensor":
        """Raises UnknownName for a dtype, BadValue for whole numbers without a range or with one that the dtype cannot hold."""
        kind = torch_dtype(dtype)
        if dtype in WHOLE:
            return self._whole(shape, checked_range(dtype, within)).to(kind)
        values = self._values(shape).to(kind)
        self._drawn += 1
        return values

    def _whole(self, shape, within: range) -> "torch.Tensor":
        import torch

        if self.kind in ("zeros", "ones"):
            nearest = min(within, key=lambda number, wanted=int(self.kind == "ones"): abs(number - wanted))
            return torch.full(shape, nearest, dtype=torch.int64, device=self.device)
        place = torch.randint(0, len(within), shape, generator=self._random(), device=self.device)
        return within.start + within.step * place

    def _values(self, shape) -> "torch.Tensor":
        import torch

        if self.kind == "zeros":
            return torch.zeros(shape, device=self.device)
        if self.kind == "ones":
            return torch.ones(shape, device=self.device)
        if self.kind == "integers":
            return torch.randint(-2, 3, shape, generator=self._random(), device=self.device).float()
        values = torch.randn(shape, generator=self._random(), device=self.device)
        if self.kind in ("nan", "inf") and self._drawn == 0:
            values.view(-1)[values.numel() // 2] = math.nan if self.kind == "nan" else math.inf
        return values

    def _random(self) -> "torch.Generator":
        import torch

        if self._generator is None:
            self._generator = torch.Generator(device=self.device).manual_seed(self.seed)
        return self._generator


def checked_range(dtype: str, within: range | None) -> range:
    """The range that inputs of whole numbers are drawn from; that of a bool needs no saying. Raises BadValue without one, or where the
    dtype does not hold it."""
    import torch

    if dtype == "bool":
        return range(2) if within is None else within
    if not within:
        raise BadValue(f"an input of {dtype} needs a range to be drawn from, within=range(...): such numbers may be indices")
    held = torch.iinfo(torch_dtype(dtype))
    if min(within[0], within[-1]) < held.min or max(within[0], within[-1]) > held.max:
        raise BadValue(f"{dtype} holds {held.min:,} to {held.max:,}, not all of {within}")
    return within


def nan_filled(shape: tuple[int, ...], dtype: str, device: str) -> "torch.Tensor":
    """An output whose every element is the NaN of FILL_BITS. Raises BadValue for a dtype without NaN."""
    if DTYPES.get(dtype) not in FILL_BITS:
        raise BadValue(f"an output of {dtype} cannot be filled with NaN; known: {', '.join(FILL_BITS)}")
    return refill(blank(shape, dtype, device))


def blank(shape: tuple[int, ...], dtype: str, device: str) -> "torch.Tensor":
    """An output that holds nothing in particular: it is for `refill`."""
    import torch

    return torch.empty(shape, dtype=torch_dtype(dtype), device=device)


def refill(output: "torch.Tensor", reference: "torch.Tensor | None" = None) -> "torch.Tensor":
    """Fills an output anew, in place, and gives it back: with NaN, or, where it holds whole numbers, with what its reference is not."""
    dtype = _name(output)
    if dtype not in FILL_BITS:
        if reference is None:
            raise BadValue(f"an output of {dtype} is filled by its reference alone: it has no NaN")
        return output.copy_(contrary(reference, output))
    _bits(output).fill_(FILL_BITS[dtype])
    return output


def contrary(reference: "torch.Tensor", output: "torch.Tensor") -> "torch.Tensor":
    """Whole numbers of the output's dtype that differ from the reference everywhere: every bit is the other one."""
    import torch

    return ~reference.to(output.dtype) if output.dtype == torch.bool else (~reference.to(torch.int64)).to(output.dtype)


def exchange(tensors: tuple, others: tuple) -> None:
    """Each tensor gets the values of its other, and the other its values, in place: addresses stay. Scalars stay as they are."""
    for tensor, other in zip(tensors, others, strict=True):
        if is_scalar(tensor):
            continue
        kept = tensor.clone()
        tensor.copy_(other)
        other.copy_(kept)


def is_scalar(value: object) -> bool:
    """Whether an argument is a plain number and no tensor."""
    return isinstance(value, (bool, int, float))


def still_filled(output: "torch.Tensor", reference: "torch.Tensor | None" = None) -> "torch.Tensor":
    """Mask of the elements that still hold what they were filled with. A bool has only two values, so a wrong one tells nothing."""
    import torch

    dtype = _name(output)
    if dtype in FILL_BITS:
        return _bits(output) == FILL_BITS[dtype]
    if reference is None or dtype == "bool":
        return torch.zeros(output.shape, dtype=torch.bool, device=output.device)
    return output == contrary(reference, output)


def _name(tensor: "torch.Tensor") -> str:
    return str(tensor.dtype).removeprefix("torch.")


def _bits(tensor: "torch.Tensor") -> "torch.Tensor":
    import torch

    return tensor.view(getattr(torch, _BIT_VIEWS[tensor.element_size()]))
