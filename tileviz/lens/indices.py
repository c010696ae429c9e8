"""Whether generated code can count the elements of its tensors: 32 bits end at 2,147,483,647. Text and shapes in, records out."""

import math
import re
from dataclasses import dataclass
from typing import Any

MOST_COUNTED = 2**31 - 1

# A[-362807291]     C[(((int)threadIdx.x) - 362807296)]     but not A[(i - 64)], and not X[(((int64_t)i) - (int64_t)16777216)]
_WRAPPED = re.compile(r"(?:(?<=[\[(])-|- )\d{7,}\b")
"""A neighbouring tile is thousands of elements away, what wrapped is hundreds of millions away."""


@dataclass(frozen=True)
class Tensor:
    name: str
    elements: int


@dataclass(frozen=True)
class Access:
    line: int
    """Counted from 1."""
    text: str


@dataclass(frozen=True)
class Indices:
    large: tuple[Tensor, ...] = ()
    """Tensors with more elements than 32 bits count."""
    wrapped: tuple[Access, ...] = ()
    """Accesses whose constant part came out negative: TileLang wrote an index past 32 bits into 32 bits."""


def indices(source: str, tensors: tuple[dict[str, Any], ...]) -> Indices:
    """What the accesses of generated CUDA or C to these tensors, {"name", "shape"} each, say; an unknown size is a text."""
    sizes = {tensor["name"]: _elements(tensor["shape"]) for tensor in tensors}
    large = tuple(Tensor(name, size) for name, size in sizes.items() if size is not None and size > MOST_COUNTED)
    suspects = [name for name, size in sizes.items() if size is None or size > MOST_COUNTED]
    if not suspects:
        return Indices()
    # A[...]    (A + (...))    but not A_shared[...]
    access = re.compile(rf"(?<![\w.])(?:{'|'.join(map(re.escape, suspects))})(?:\[| \+ \()")
    found = [
        Access(number, line[match.start() : _end(line, match.end())])
        for number, line in enumerate(source.split("\n"), 1)
        for match in access.finditer(line)
    ]
    return Indices(large, tuple(each for each in found if _WRAPPED.search(each.text)))


def _end(line: str, start: int) -> int:
    """Behind the bracket that closes the one before `start`."""
    depth, end = 1, start
    while end < len(line) and depth:
        depth += (line[end] in "([") - (line[end] in ")]")
        end += 1
    return end


def _elements(shape: list) -> int | None:
    return math.prod(shape) if all(isinstance(extent, int) for extent in shape) else None
