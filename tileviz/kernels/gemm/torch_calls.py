"""What a user would call in PyTorch instead of our GEMM: a matrix product by library and math mode.

Each function takes a completed problem and returns a plain callable over the kernel's inputs. Global settings of PyTorch are changed
inside the call only and put back after it. torch is imported inside functions.
"""

import functools
from collections.abc import Callable

from tileviz.kernels.toolkit.base import Baseline
from tileviz.kernels.toolkit.rules import torch_math_mode


def matmul(problem) -> Callable:
    """A @ B, with B stored (N, K) for layout NT."""
    import torch

    if problem["layout"] == "NT":
        return lambda A, B, *bias: torch.matmul(A, B.T)
    return lambda A, B, *bias: torch.matmul(A, B)


def with_blas(make: Callable, library: str) -> Callable:
    """`make`, with PyTorch's matrix products sent to `cublas` or `cublaslt`."""

    @functools.wraps(make)
    def made(problem):
        import torch

        call = make(problem)

        def forced(*inputs):
            before = torch.backends.cuda.preferred_blas_library()
            torch.backends.cuda.preferred_blas_library(library)
            try:
                return call(*inputs)
            finally:
                torch.backends.cuda.preferred_blas_library(before)

        return forced

    return made


def with_tf32(make: Callable) -> Callable:
    """`make`, with PyTorch's float32 matrix products in TF32."""

    @functools.wraps(make)
    def made(problem):
        import torch

        call = make(problem)

        def allowed(*inputs):
            before = torch.get_float32_matmul_precision()
            torch.set_float32_matmul_precision("high")
            try:
                return call(*inputs)
            finally:
                torch.set_float32_matmul_precision(before)

        return allowed

    return made


def float32_only(problem) -> str | None:
    return None if problem["dtype"] == "float32" else f"TF32 is a way to multiply float32; these inputs are {problem['dtype']}"


def matmul_baselines(eager: Callable) -> tuple[Baseline, ...]:
    """A matrix product, and what follows it, in PyTorch: as is, in TF32, compiled, and by each cuBLAS library."""
    return (
        Baseline("eager", "PyTorch eager", eager, math_mode=torch_math_mode),
        Baseline(
            "eager_tf32", "PyTorch eager, TF32", with_tf32(eager), kind="cuda", math_mode=lambda problem: "TF32",
            unavailable=float32_only,
        ),
        Baseline("torch_compile", "torch.compile", eager, math_mode=torch_math_mode, compiles=True),
        Baseline("cublas", "cuBLAS", with_blas(eager, "cublas"), kind="cuda", math_mode=torch_math_mode),
        Baseline("cublaslt", "cuBLASLt", with_blas(eager, "cublaslt"), kind="cuda", math_mode=torch_math_mode),
    )  # fmt: skip
