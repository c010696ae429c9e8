"""Draws inputs from a recorded seed, and the NaN-filled outputs that show what a kernel never wrote."""

import math
from typing import TYPE_CHECKING

from tileviz.errors import BadValue, UnknownName

if TYPE_CHECKING:
    import torch

DTYPES = {
    "float64": "float64",
    "float32": "float32",
    "float16": "float16",
    "bfloat16": "bfloat16",
    "float8_e4m3": "float8_e4m3fn",
    "int8": "int8",
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

FILL_BITS = {"float64": 0x7FFBADF111ED0001, "float32": 0x7FEDF111, "float16": 0x7F5A, "bfloat16": 0x7FDA}
"""The NaN that outputs are filled with. Its payload is one that no arithmetic gives, so an element that was never written is told
from one where the kernel computed NaN."""

_BIT_VIEWS = {"float64": "int64", "float32": "int32", "float16": "int16", "bfloat16": "int16"}


def torch_dtype(name: str) -> "torch.dtype":
    """The torch dtype of one of our names. Raises UnknownName."""
    import torch

    if name not in DTYPES:
        raise UnknownName.of("dtype", name, DTYPES)
    return getattr(torch, DTYPES[name])


class Draw:
    """draw(*shape, dtype="float16") -> tensor on `device`.

    The same device, seed and kind give the same tensors in the same order; values are drawn in float32 and rounded once to the dtype.
    """

    def __init__(self, device: str, seed: int, kind: str = "normal") -> None:
        if kind not in KINDS:
            raise UnknownName.of("distribution of inputs", kind, KINDS)
        self.device, self.seed, self.kind = device, seed, kind
        self._generator = None
        self._drawn = 0

    def __call__(self, *shape: int, dtype: str = "float32") -> "torch.Tensor":
        values = self._values(shape).to(torch_dtype(dtype))
        self._drawn += 1
        return values

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


def nan_filled(shape: tuple[int, ...], dtype: str, device: str) -> "torch.Tensor":
    """An output whose every element is the NaN of FILL_BITS. Raises BadValue for a dtype without NaN."""
    import torch

    if dtype not in FILL_BITS:
        raise BadValue(f"an output of {dtype} cannot be filled with NaN; known: {', '.join(FILL_BITS)}")
    return refill(torch.empty(shape, dtype=torch_dtype(dtype), device=device))


def refill(output: "torch.Tensor") -> "torch.Tensor":
    """Fills an output with that NaN again, in place, and gives it back."""
    import torch

    dtype = str(output.dtype).removeprefix("torch.")
    output.view(getattr(torch, _BIT_VIEWS[dtype])).fill_(FILL_BITS[dtype])
    return output


def exchange(tensors: tuple, others: tuple) -> None:
    """Each tensor gets the values of its other, and the other its values, in place: addresses stay."""
    for tensor, other in zip(tensors, others, strict=True):
        kept = tensor.clone()
        tensor.copy_(other)
        other.copy_(kept)


def still_filled(output: "torch.Tensor", dtype: str) -> "torch.Tensor":
    """Mask of the elements that still hold the NaN they were filled with."""
    import torch

    if dtype not in FILL_BITS:
        return torch.zeros(output.shape, dtype=torch.bool, device=output.device)
    return output.view(getattr(torch, _BIT_VIEWS[dtype])) == FILL_BITS[dtype]
