"""The kernels, a file or a package each. A new one costs its file and its line in MODULES."""

import functools
import importlib

from tileviz.errors import TilevizError, UnknownName
from tileviz.kernels.toolkit.base import Kernel

MODULES = {
    "vector_add": "tileviz.kernels.vector_add",
    "gemm": "tileviz.kernels.gemm.gemm",
    "gemm_bias_gelu": "tileviz.kernels.gemm.gemm_bias_gelu",
    "softmax": "tileviz.kernels.softmax.softmax",
    "flash_attention": "tileviz.kernels.attention.flash_attention",
}

FOREIGN = (TilevizError, KeyError, TypeError, ValueError, ArithmeticError)
"""What asking for a kernel, or a kernel of a problem, raises where these are not of this version: a file says what it likes."""


@functools.cache
def kernel(name: str) -> Kernel:
    """The kernel of this name. Raises UnknownName, which says what exists."""
    if name not in MODULES:
        raise UnknownName.of("kernel", name, MODULES)
    return importlib.import_module(MODULES[name]).KERNEL


def names() -> tuple[str, ...]:
    """Names of all kernels, in the order they are offered."""
    return tuple(MODULES)
