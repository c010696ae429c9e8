"""Computes the reference of a problem: the same inputs in float64, or in float32 where float64 does not fit."""

import contextlib
from collections.abc import Callable, Generator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from tileviz.errors import KernelFault

from . import memory
from .draws import is_scalar, torch_dtype

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
    """fn(problem, *inputs), whatever it gives, with the inputs upcast to `dtype`; picked by memory when None. Whole numbers come in as
    64-bit ones, so that they still index; bools and scalars as they are.

    Three times inputs and a first guess of temporaries must fit for float64; when memory runs out after all, float32 is tried.
    """
    import torch

    if dtype is None:
        tensors = [t for t in inputs if not is_scalar(t)]
        device = str(tensors[0].device) if tensors else "cpu"
        dtype = reference_dtype(3 * sum(t.numel() * 8 for t in tensors), device)
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

    references: dict[str, "torch.Tensor"]
    """By the name of the output, in the order of the kernel's outputs."""
    exponents_of: dict[str, tuple]
    """Of outputs that have `exponents`; in the dtype of the reference."""

    @classmethod
    def of(cls, kernel, problem: dict, inputs: tuple) -> "Truth":
        """Of a `kernels.toolkit.base.Kernel`. Raises KernelFault where its reference gives other outputs than it declares."""
        names = tuple(each.name for each in kernel.written(problem))
        references = by_name(reference_of(kernel.reference, problem, inputs), names, "the reference")
        if kernel.exponents is None:
            return cls(references, {})
        floating = next(str(r.dtype) for r in references.values() if r.is_floating_point()).removeprefix("torch.")
        found = reference_of(kernel.exponents, problem, inputs, floating)
        return cls(references, found if isinstance(found, dict) else {names[0]: found})

    @property
    def reference(self) -> "torch.Tensor":
        """Of the one output, or of the first."""
        return next(iter(self.references.values()))

    @property
    def exponents(self) -> tuple | None:
        """Of the one output, or of the first; None where it has none."""
        return self.exponents_of.get(next(iter(self.references)))


def by_name(given: Any, names: tuple[str, ...], who: str) -> dict[str, "torch.Tensor"]:
    """What a reference or a baseline gives, as tensors by the name of the output: one tensor, as many as there are names in their order,
    or a dict. Raises KernelFault where it is something else."""
    if isinstance(given, dict):
        if set(given) != set(names):
            raise KernelFault(f"{who} gives {', '.join(map(str, given))}; the outputs are {', '.join(names)}")
        return {name: given[name] for name in names}
    tensors = tuple(given) if isinstance(given, (tuple, list)) else (given,)
    if len(tensors) != len(names):
        raise KernelFault(f"{who} gives {len(tensors)} of {len(names)} outputs: {', '.join(names)}")
    return dict(zip(names, tensors, strict=True))


def _call(fn, problem, inputs, dtype):
    import torch

    with torch.no_grad(), full_precision():
        return fn(problem, *(_wide(t, dtype) for t in inputs))


def _wide(value: Any, dtype: str) -> Any:
    import torch

    if is_scalar(value) or value.dtype == torch.bool:
        return value
    return value.to(torch_dtype(dtype) if value.is_floating_point() else torch.int64)


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
