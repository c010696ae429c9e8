"""The kernels of tests/kernels/widened, which have what those of the house do not have yet: put into the registry for a while."""

import importlib
from collections.abc import Iterator

import pytest

from tileviz import kernels

NAMES = ("row_stats", "scale_in_place", "histogram", "eight_bits", "odd_names")


def code(name: str):
    """The declaration of one of them."""
    return importlib.import_module(f"tests.kernels.widened.{name}").KERNEL


@pytest.fixture(scope="module")
def widened() -> Iterator[None]:
    """They are kernels of this process like any other."""
    with pytest.MonkeyPatch.context() as patch:
        for name in NAMES:
            patch.setitem(kernels.MODULES, name, f"tests.kernels.widened.{name}")
        kernels.kernel.cache_clear()
        yield
    kernels.kernel.cache_clear()
