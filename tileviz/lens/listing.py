"""A text of an artifact line by line, with the instructions of each class found and counted.

The counts are static: what is written, not what runs.
"""

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass

from tileviz.errors import UnknownName
from tileviz.lens import c_text, ptx, sass
from tileviz.lens.classes import NAMES


@dataclass(frozen=True)
class Hit:
    """An instruction or call on a line: characters `start` to `end` (not included), counted from 0."""

    start: int
    end: int
    cls: str


@dataclass(frozen=True)
class Line:
    number: int
    """Counted from 1."""
    text: str
    hits: tuple[Hit, ...] = ()


@dataclass(frozen=True)
class Listing:
    language: str
    lines: tuple[Line, ...]
    counts: dict[str, int]
    """Every class that the language can show, in the order of CLASSES, with how often it occurs."""


@dataclass(frozen=True)
class Reader:
    """How one language is read."""

    prepare: Callable[[str], str]
    """The text with what is no code blanked, character by character."""
    find: Callable[[str], list[tuple[int, int, str]]]
    """(start, end, class) of each instruction on a prepared line."""
    classes: frozenset[str]


READERS = {
    "cuda": Reader(c_text.blank_comments, c_text.cuda_calls, c_text.CUDA_CLASSES),
    "c": Reader(c_text.blank_comments, c_text.c_calls, c_text.C_CLASSES),
    "ptx": Reader(ptx.blank_comments, ptx.instructions, ptx.CLASSES_SHOWN),
    "sass": Reader(str, sass.instructions, sass.CLASSES_SHOWN),
}


def listing(text: str, language: str) -> Listing:
    """The listing of a text in `cuda`, `c`, `ptx` or `sass`. Raises UnknownName for another language."""
    reader = _reader(language)
    coded = zip(text.split("\n"), reader.prepare(text).split("\n"), strict=True)
    lines = tuple(Line(number, line, tuple(Hit(*hit) for hit in reader.find(code))) for number, (line, code) in enumerate(coded, 1))
    return Listing(language, lines, _ordered(Counter(hit.cls for line in lines for hit in line.hits), reader))


def counts(text: str, language: str) -> dict[str, int]:
    """How often each class occurs in a text: {"tensor_core": 8, ...}. Raises UnknownName for another language."""
    reader = _reader(language)
    return _ordered(Counter(cls for code in reader.prepare(text).split("\n") for _, _, cls in reader.find(code)), reader)


def _reader(language: str) -> Reader:
    if language not in READERS:
        raise UnknownName.of("language", language, READERS)
    return READERS[language]


def _ordered(found: Counter, reader: Reader) -> dict[str, int]:
    return {name: found[name] for name in NAMES if name in reader.classes}
