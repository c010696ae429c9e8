"""PyTorch calls of known cost that the timers are tried on: vector adds, softmaxes and matrix
products from 1 us to 5 ms on an H200."""

from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True)
class Work:
    """One call, made when it is needed, since all inputs together would fill the card."""

    name: str
    kind: str
    """`memory` or `tensor core`."""
    make: Callable[[str], Callable[[], object]]
    """make(device) -> run."""


def add(power: int) -> Work:
    """float32, 2^power elements."""

    def make(device):
        import torch

        a, b = torch.randn(1 << power, device=device), torch.randn(1 << power, device=device)
        out = torch.empty_like(a)
        return lambda: torch.add(a, b, out=out)

    return Work(f"add float32 2^{power}", "memory", make)


def softmax(rows: int, columns: int) -> Work:
    """float16, over the columns."""

    def make(device):
        import torch

        x = torch.randn(rows, columns, device=device).half()
        out = torch.empty_like(x)
        return lambda: torch.softmax(x, 1, out=out)

    return Work(f"softmax float16 {rows}x{columns}", "memory", make)


def product(M: int, N: int, K: int, dtype: str = "float16") -> Work:
    """A matrix product; float32 in TF32."""

    def make(device):
        import torch

        torch.backends.cuda.matmul.allow_tf32 = True
        a, b = (
            torch.randn(*shape, device=device).to(getattr(torch, dtype))
            for shape in ((M, K), (K, N))
        )
        out = torch.empty(M, N, dtype=a.dtype, device=device)
        return lambda: torch.matmul(a, b, out=out)

    size = f"{M}^3" if M == N == K else f"{M}x{N}x{K}"
    return Work(f"matmul {'TF32' if dtype == 'float32' else dtype} {size}", "tensor core", make)


def nothing() -> Work:
    """A kernel that does nothing: a spin of no cycles."""

    def make(device):
        import torch

        return lambda: torch.cuda._sleep(0)

    return Work("no-op", "launch", make)


FLUSH = (*map(add, (12, 20, 22, 24, 26, 28)), *(product(n, n, n) for n in (512, 1024, 2048, 4096)))
"""The rows of the table of flushes."""

ACCURACY = (
    *map(add, (12, 16, 18, 20, 22, 24, 26, 28, 30)),
    softmax(4096, 1024),
    softmax(8192, 8192),
    softmax(4096, 32768),
    *(product(n, n, n) for n in (256, 512, 1024, 2048, 4096, 8192)),
    product(4096, 16384, 1024, "bfloat16"),
    product(4096, 4096, 4096, "float32"),
)
"""Twenty kernels from 1 us to 5 ms."""
