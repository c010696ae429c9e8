"""Computes the reference of a problem: the same inputs in float64, or in float32 where float64 does not fit."""

import contextlib
from collections.abc import Callable, Generator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from . import memory
from .draws import torch_dtype

if TYPE_CHECKING:
    import torch

ROOM = 0.7
"""Share of the free memory that a reference may take."""


def free_bytes(device: str) -> int:
    """Memory that a new tensor on this device could take."""
    import torch

    if str(device).startswith("cuda"):
        cached = torch.cuda.memory_reserved(device) - torch.cuda.memory_allocated(device)
        return torch.cuda.mem_get_info(device)[0] + cached
    return memory.free_bytes("cpu") or 1 << 30


def reference_dtype(bytes_needed: int, device: str) -> str:
    """`float64` where a reference that takes `bytes_needed` in float64 fits into the device's free memory, else `float32`."""
    return "float64" if bytes_needed <= ROOM * free_bytes(device) else "float32"


def reference_of(fn: Callable, problem: dict, inputs: tuple, dtype: str | None = None) -> Any:
    """fn(problem, *inputs), a tensor or a tuple of them, with the inputs upcast to `dtype`; picked by memory when None.

    Three times inputs and a first guess of temporaries must fit for float64; when memory runs out after all, float32 is tried.
    """
    import torch

    if dtype is None:
        dtype = reference_dtype(3 * sum(t.numel() * 8 for t in inputs), str(inputs[0].device))
    try:
        return _call(fn, problem, inputs, dtype)
    except torch.OutOfMemoryError:
        if dtype == "float32":
            raise
        torch.cuda.empty_cache()
        return _call(fn, problem, inputs, "float32")


@dataclass(frozen=True, eq=False)
class Truth:
    """What outputs of the same inputs are judged by."""

    reference: "torch.Tensor"
    exponents: tuple | None
    """Of a kernel that has `exponents`; in the dtype of the reference."""

    @classmethod
    def of(cls, kernel, problem: dict, inputs: tuple) -> "Truth":
        reference = reference_of(kernel.reference, problem, inputs)
        if kernel.exponents is None:
            return cls(reference, None)
        return cls(reference, reference_of(kernel.exponents, problem, inputs, str(reference.dtype).removeprefix("torch.")))


def _call(fn, problem, inputs, dtype):
    import torch

    with torch.no_grad(), full_precision():
        return fn(problem, *(t.to(torch_dtype(dtype)) for t in inputs))


@contextlib.contextmanager
def full_precision(tf32: bool = False) -> Generator[None]:
    """PyTorch's matrix products without TF32 (unless asked for) and without half-precision partial sums; restored afterwards."""
    import torch

    matmul, cudnn = torch.backends.cuda.matmul, torch.backends.cudnn
    before = (
        matmul.allow_tf32,
        cudnn.allow_tf32,
        matmul.allow_fp16_reduced_precision_reduction,
        matmul.allow_bf16_reduced_precision_reduction,
    )
    _set(matmul, cudnn, (tf32, tf32, False, False))
    try:
        yield
    finally:
        _set(matmul, cudnn, before)


def _set(matmul, cudnn, values) -> None:
    matmul.allow_tf32, cudnn.allow_tf32 = values[0], values[1]
    matmul.allow_fp16_reduced_precision_reduction = values[2]
    matmul.allow_bf16_reduced_precision_reduction = values[3]
