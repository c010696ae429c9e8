"""A diff as two texts with the same number of lines, for two panes that scroll together."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import zip_longest

from tileviz.lens.diff import Row
from tileviz.ui.parts.codepane import MARKS, Span

CONTEXT = 3
"""Rows kept around a change."""


@dataclass(frozen=True)
class Column:
    """One side."""

    text: str
    numbers: tuple[int, ...]
    """The line of each row in the whole text, 0 where this side has none."""
    marks: tuple[int, ...]
    """row, mark, row, mark, ..."""
    spans: tuple[Span, ...]


def kept(rows: Sequence[Row], wanted: Sequence[bool]) -> list[Row | int]:
    """The wanted rows; a run of others becomes its length."""
    out: list[Row | int] = []
    for row, stays in zip(rows, wanted, strict=True):
        if stays:
            out.append(row)
        elif out and isinstance(out[-1], int):
            out[-1] += 1
        else:
            out.append(1)
    return out


def beside(rows: Sequence[Row]) -> list[Row]:
    """The rows with lines that went and lines that came after them side by side, as one changed stretch."""
    out: list[Row] = []
    removed: list[Row] = []
    added: list[Row] = []

    def close() -> None:
        pairs = zip_longest((row.left for row in removed), (row.right for row in added), fillvalue=0)
        out.extend(Row(left, right, "replaced") for left, right in pairs)
        removed.clear()
        added.clear()

    for row in rows:
        if row.kind == "removed" and added:
            close()
        if row.kind in ("removed", "added"):
            (removed if row.kind == "removed" else added).append(row)
            continue
        close()
        out.append(row)
    close()
    return out


def around_changes(rows: Sequence[Row]) -> list[bool]:
    """Rows that changed, with a few around each."""
    wanted = [False] * len(rows)
    for at, row in enumerate(rows):
        if row.kind != "same":
            for near in range(max(0, at - CONTEXT), min(len(rows), at + CONTEXT + 1)):
                wanted[near] = True
    return wanted


def of_class(rows: Sequence[Row], left: Sequence[Span], right: Sequence[Span], cls: int) -> list[bool]:
    """Rows with an instruction of one class on either side."""
    ours, theirs = ({line for line, _, _, found in spans if found == cls} for spans in (left, right))
    return [row.left in ours or row.right in theirs for row in rows]


def column(rows: Sequence[Row | int], text: str, spans: Sequence[Span], side: str) -> Column:
    """One side of the kept rows; `side` is `left` or `right`."""
    lines, texts, numbers, marks, row_of = text.split("\n"), [], [], [], {}
    for at, row in enumerate(rows, 1):
        number = 0 if isinstance(row, int) else getattr(row, side)
        texts.append(f"... {row:,} more" if isinstance(row, int) else lines[number - 1] if number else "")
        numbers.append(number)
        row_of[number] = at
        kind = "same" if isinstance(row, int) else row.kind if number else "filler"
        kind = {"left": "removed", "right": "added"}[side] if kind == "replaced" else kind
        marks += [at, MARKS[kind]] if kind in MARKS else []
    moved = tuple((row_of[line], start, end, cls) for line, start, end, cls in spans if line in row_of)
    return Column("\n".join(texts), tuple(numbers), tuple(marks), moved)
