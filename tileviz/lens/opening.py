"""Where reading a text starts: at the kernel's main loop, else at its first matrix product, else where the kernel begins."""

import functools
import re
from collections.abc import Sequence
from itertools import accumulate, pairwise

from tileviz.lens.listing import LANGUAGES, Listing, listing, reader_of
from tileviz.lens.loops import loops_of

Span = tuple[int, int]
"""(first line, last line) of a loop, from 1."""

STEP = ("barrier", "async_copy")
"""What the main loop has beside matrix products, and what the loops inside it that only multiply have not."""


@functools.lru_cache(maxsize=64)
def opening(text: str, language: str) -> int:
    """The line, from 1, that a text with instructions opens at; 1 for a text in another language."""
    if language not in LANGUAGES:
        return 1
    read = listing(text, language)
    return main_loop(read, spans_of(read, text)) or _first(read, "tensor_core") or _begin(text, language)


def main_loop(read: Listing, spans: Sequence[Span]) -> int:
    """The first line of the loop that feeds and multiplies tiles; the longest where none multiplies; 0 without a loop."""
    products, steps = _counted(read, ("tensor_core",)), _counted(read, STEP)
    within = lambda counted, span: counted[span[1]] - counted[span[0] - 1]
    multiply = [span for span in spans if within(products, span)]
    found = _innermost([span for span in multiply if within(steps, span)]) or multiply
    if found:
        return max(found, key=lambda span: (within(products, span), span[1] - span[0]))[0]
    if products[-1]:
        return 0
    return max(spans, key=lambda span: span[1] - span[0], default=(0, 0))[0]


def spans_of(read: Listing, text: str) -> list[Span]:
    """The loops of a text in order; none of a language whose loops are not read."""
    return sorted(_LOOPS[read.language](read, text)) if read.language in _LOOPS else []


def _code(read: Listing, text: str) -> list[str]:
    return reader_of(read.language).prepare(text).split("\n")


# $L__BB0_2:       @%p1 bra $L__BB0_2;       bra.uni $L__BB0_2;      but no label of inline assembly: those only wait
_PTX_LABEL = re.compile(r"(\$\w+):")
_PTX_BRANCH = re.compile(r"\bbra(?:\.uni)?\s+(\$\w+)\s*;")


def _backward_branches(code: Sequence[str]) -> list[Span]:
    """Loops of PTX: from a label to the last branch back to it."""
    labels, found = {}, {}
    for number, line in enumerate(code, 1):
        for label in _PTX_LABEL.findall(line):
            labels[label] = number
        for label in _PTX_BRANCH.findall(line):
            if label in labels:
                found[labels[label]] = number
    return list(found.items())


# for (int k = 0; k < 16; ++k) {        while (true) {
_LOOP = re.compile(r"\b(?:for|while)\s*\(.*\{\s*$")


def _braces(code: Sequence[str]) -> list[Span]:
    """Loops of C and CUDA: from a head to the brace that closes it."""
    found, open_at = [], []
    for number, line in enumerate(code, 1):
        is_loop = bool(_LOOP.search(line))
        for brace in re.findall(r"[{}]", line):
            if brace == "{":
                open_at.append(number if is_loop else 0)
            elif open_at and (first := open_at.pop()):
                found.append((first, number))
    return found


_LOOPS = {
    "sass": lambda read, text: [(loop.first, loop.last) for loop in loops_of(read)],
    "ptx": lambda read, text: _backward_branches(_code(read, text)),
    "cuda": lambda read, text: _braces(_code(read, text)),
    "c": lambda read, text: _braces(_code(read, text)),
}


def _innermost(spans: Sequence[Span]) -> list[Span]:
    return [span for span in spans if not any(other != span and span[0] <= other[0] and other[1] <= span[1] for other in spans)]


def _counted(read: Listing, classes: Sequence[str]) -> list[int]:
    """How many instructions of the classes stand up to each line; the first item is of no line."""
    return [0, *accumulate(sum(hit.cls in classes for hit in line.hits) for line in read.lines)]


def _first(read: Listing, cls: str) -> int:
    return next((line.number for line in read.lines if any(hit.cls == cls for hit in line.hits)), 0)


def _begin(text: str, language: str) -> int:
    begin = reader_of(language).begin
    found = begin.search(text) if begin else None
    return text[: found.start()].count("\n") + 1 if found else 1


#     @T.prim_func         @T.macro
_PROGRAM, _MACRO = (re.compile(rf"^[ \t]*@(?:T|tir)\.{name}\b") for name in ("prim_func", "macro"))
#         with T.Kernel(T.ceildiv(N, block_N), threads=threads) as bx:
_LAUNCH = re.compile(r"\bT\.Kernel\(")
_FUNCTION = re.compile(r"^def program\b")


def program_row(text: str, linked: Sequence[int] = ()) -> int:
    """The row, from 1, of the tile program in a Python text: what launches a kernel, not what only calls that or declares a schedule.

    Of several the one with most of the `linked` rows, which were compiled.
    """
    lines = text.split("\n")
    rows_of = lambda pattern: [row for row, line in enumerate(lines, 1) if pattern.search(line)]
    programs, macros = rows_of(_PROGRAM), rows_of(_MACRO)
    ends = dict(pairwise([*sorted(programs + macros), len(lines) + 1]))
    inside = lambda row, rows: sum(row <= other < ends[row] for other in rows)
    launches = rows_of(_LAUNCH)
    found = [row for row in ends if inside(row, launches)] or programs or macros or rows_of(_FUNCTION)[:1]
    if not found:
        return min(linked, default=1)
    return max(found, key=lambda row: inside(row, linked) if row in ends else 0)
