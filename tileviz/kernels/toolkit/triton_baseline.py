"""A Triton program of our own as a baseline: what a kernel declares of it, and what such programs are called with.

How the best of its configs is found and timed is `bench.triton_baselines`. Nothing here imports Triton or torch when it is read. A program
stands in a function that imports Triton and has `@triton.jit` within, or in a module of the kernel's package that such a function imports.
"""

import functools
import importlib.util
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from tileviz.records import Config, Problem

TMA_CAPABILITY = (9, 0)
"""The least compute capability on which tiles can come by TMA."""


def tensor_core_math_mode(problem: Problem) -> str:
    """Products of float32 are formed in TF32, as ours are; sums are float32."""
    return "TF32" if problem["dtype"] == "float32" else f"{problem['dtype']} in, float32 accumulate"


@dataclass(frozen=True)
class TritonBaseline:
    """Has the fields of `Baseline` that a baseline is run by, and `configs` and `program` in place of `make`."""

    configs: Callable[[Problem, tuple[int, int]], tuple[Config, ...]]
    """configs(problem, compute capability) -> what is tried, in order: tile sizes, num_warps, num_stages, `tma`. A short stated list."""
    program: Callable[[Problem, Config], Callable]
    """program(problem, config) -> call(*inputs) -> output. It compiles at its first call, and raises what Triton raises."""
    refuses: Callable[[Problem], str | None] = lambda problem: None
    """Why it cannot be compared for this problem, in one sentence, or None."""
    math_mode: Callable[[Problem], str] = tensor_core_math_mode
    name: str = "triton"
    title: str = "Triton"
    kind: str = "cuda"
    compiles: bool = False

    def unavailable(self, problem: Problem) -> str | None:
        """Why it cannot run here or for this problem."""
        if importlib.util.find_spec("triton") is None:
            return "Triton is not installed; pip install triton"
        return self.refuses(problem)


def descriptors(*tensors: tuple[Any, Sequence[int]]) -> list[Any]:
    """Tensor descriptors of (tensor, block shape) pairs, by which a program loads tiles with TMA."""
    descriptor = _descriptor_class()
    return [descriptor.from_tensor(tensor, list(block)) for tensor, block in tensors]


@functools.cache
def _descriptor_class():
    from triton.tools.tensor_descriptor import TensorDescriptor

    return TensorDescriptor
