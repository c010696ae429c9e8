"""The kernels, a file or a package each. A new one costs its file and its line in MODULES.

`kernel(name)` is a kernel to ask, which is all that pages, commands, sweeps and the engine know of one. `code(name)` is its declaration,
with the program and all that builds and runs it: for children of the engine, measuring and tests.

    card        what is known of a kernel without its code
    questions   what only its code can answer
    asked       a card and a door for questions: what `kernel` gives
    kept        answers that were given before
    built_in    answers for the kernels that are here
    toolkit     what a kernel is written with
"""

import functools
import importlib
from collections.abc import Callable

from tileviz.errors import TilevizError, UnknownName
from tileviz.kernels.asked import AskedKernel
from tileviz.kernels.built_in import BuiltIn
from tileviz.kernels.card import Card
from tileviz.kernels.toolkit.base import Kernel

MODULES = {
    "vector_add": "tileviz.kernels.vector_add",
    "gemm": "tileviz.kernels.gemm.gemm",
    "gemm_bias_gelu": "tileviz.kernels.gemm.gemm_bias_gelu",
    "softmax": "tileviz.kernels.softmax.softmax",
    "flash_attention": "tileviz.kernels.attention.flash_attention",
}

FIRST = "gemm"
"""The kernel that a newcomer meets: a page that was asked for none shows it."""

FOREIGN = (TilevizError, KeyError, TypeError, ValueError, ArithmeticError)
"""What asking for a kernel, or a kernel of a problem, raises where these are not of this version: a file says what it likes."""


@functools.cache
def kernel(name: str) -> AskedKernel:
    """The kernel of this name, to be asked. Raises UnknownName, which says what exists."""
    return AskedKernel(*who_answers(name))


def who_answers(name: str) -> tuple[Card, Callable[[bytes], bytes]]:
    """(the card of a kernel, what answers the JSON of a question about it): this process, since the code is ours."""
    has_code = BuiltIn(code(name))
    return has_code.card, has_code.answer


def code(name: str) -> Kernel:
    """The declaration of this name. Raises UnknownName, which says what exists."""
    check_name(name)
    return importlib.import_module(MODULES[name]).KERNEL


def check_name(name: str) -> None:
    """Raises UnknownName, which says what exists."""
    if name not in MODULES:
        raise UnknownName.of("kernel", name, MODULES)


def names() -> tuple[str, ...]:
    """Names of all kernels, in the order they are offered."""
    return tuple(MODULES)
