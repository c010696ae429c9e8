"""A text of an artifact line by line, with the instructions of each class found and counted.

The counts are static: what is written, not what runs.
"""

from collections import Counter
from dataclasses import dataclass

from tileviz.errors import UnknownName
from tileviz.lens.classes import NAMES
from tileviz.texts import Reader, readers

LANGUAGES = tuple(language for language, reader in readers().items() if reader.classes)
"""Languages of texts that instructions are found in: `cuda`, `c`, `ptx`, `sass`."""


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


def listing(text: str, language: str) -> Listing:
    """The listing of a text in one of LANGUAGES. Raises UnknownName for another language."""
    reader = reader_of(language)
    coded = zip(text.split("\n"), reader.prepare(text).split("\n"), strict=True)
    lines = tuple(Line(number, line, tuple(Hit(*hit) for hit in reader.find(code))) for number, (line, code) in enumerate(coded, 1))
    return Listing(language, lines, _ordered(Counter(hit.cls for line in lines for hit in line.hits), reader))


def counts(text: str, language: str) -> dict[str, int]:
    """How often each class occurs in a text: {"tensor_core": 8, ...}. Raises UnknownName for another language."""
    reader = reader_of(language)
    return _ordered(Counter(cls for code in reader.prepare(text).split("\n") for _, _, cls in reader.find(code)), reader)


def reader_of(language: str) -> Reader:
    """How a language with instructions is read. Raises UnknownName for another."""
    if language not in LANGUAGES:
        raise UnknownName.of("language", language, LANGUAGES)
    return readers()[language]


def _ordered(found: Counter, reader: Reader) -> dict[str, int]:
    return {name: found[name] for name in NAMES if name in reader.classes}
