"""Notes a script's own comparisons, which pass: the outputs that it compares are made up here."""

import functools
import sys
from collections.abc import Callable

from tileviz.kernels.opened.replacing import replace

MOST_POINTERS = 256
"""How many outputs are known by their storage; the oldest is forgotten."""

_MARK = "_tileviz_kernel"


class Origins:
    """Which tensors are, share storage with, or were computed from the output of which kernel."""

    def __init__(self) -> None:
        self._by_pointer: dict[int, tuple[str, object]] = {}

    def own(self, tensor, kernel: str) -> None:
        """The tensor is an output of this kernel. It is kept alive, or another one would get its
        address."""
        if len(self._by_pointer) >= MOST_POINTERS:
            self._by_pointer.pop(next(iter(self._by_pointer)))
        pointer = storage(tensor)
        if pointer:
            self._by_pointer.pop(pointer, None)
            self._by_pointer[pointer] = (kernel, tensor)
        setattr(tensor, _MARK, kernel)

    def follow(self, result, args):
        """Marks the result of an operation on marked tensors; gives the result."""
        torch = sys.modules["torch"]
        if isinstance(result, torch.Tensor):
            source = next((mark for arg in args if (mark := getattr(arg, _MARK, None))), None)
            if source:
                setattr(result, _MARK, source)
        return result

    def of(self, tensor) -> tuple[str, bool] | None:
        """(kernel, whether this is the output itself and not computed from it); None for any other
        tensor."""
        known = self._by_pointer.get(storage(tensor) or 0)
        if known:
            return known[0], True
        mark = getattr(tensor, _MARK, None)
        return (mark, False) if mark else None


def storage(tensor) -> int | None:
    """Address of the tensor's storage; None where it has none."""
    import torch

    with torch._C.DisableTorchFunction():
        try:
            return tensor.untyped_storage().data_ptr()
        except (RuntimeError, NotImplementedError, AttributeError):
            return None


def install(origins: Origins, told: Callable[..., None]) -> None:
    """Replaces the functions that compare. `told(kernel, how=, name=, rtol=, atol=)` for each
    comparison of a kernel's output."""
    import tilelang.testing
    import tilelang.utils.tensor
    import torch

    def passing(name: str, answer):
        def compare(*args, **kwargs):
            given = list((*args, *kwargs.values()))[:2]
            for value in given:
                for tensor in value if isinstance(value, (list, tuple)) else [value]:
                    found = origins.of(tensor) if isinstance(tensor, torch.Tensor) else None
                    if found:
                        how = "comparison" if found[1] else "derived"
                        told(
                            found[0],
                            how=how,
                            name=name,
                            rtol=kwargs.get("rtol"),
                            atol=kwargs.get("atol"),
                        )
                        return answer
            return answer

        return compare

    for owner, name, shown, answer in (
        (torch.testing, "assert_close", "torch.testing.assert_close", None),
        (torch.testing, "assert_allclose", "torch.testing.assert_allclose", None),
        (torch, "allclose", "torch.allclose", True),
        (torch, "equal", "torch.equal", True),
        (tilelang.utils.tensor, "torch_assert_close", "tilelang's torch_assert_close", None),
        (tilelang.testing, "torch_assert_close", "tilelang's torch_assert_close", None),
    ):
        if hasattr(owner, name):
            replace(owner, name, functools.wraps(getattr(owner, name))(passing(shown, answer)))
