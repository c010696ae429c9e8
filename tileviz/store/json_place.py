"""Finds a value of a JSON text by its path: where it starts, as a line and a column."""

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass

_STEP = re.compile(r"\.(\w+)|\[(\d+)\]|\[(\.\.\.)\]")  # $.rows[17].config[...]
_BLANKS = re.compile(rb"[ \t\r\n]*")
_TEXT = re.compile(rb'"(?:[^"\\]++|\\.)*+"', re.DOTALL)
_SCALAR = re.compile(rb"[^\s,\[\]{}:]+")
_TO_BRACKET = re.compile(rb'(?:[^"\[\]{}]++|"(?:[^"\\]++|\\.)*+")*+', re.DOTALL)


@dataclass(frozen=True)
class Spot:
    """A value in a text."""

    path: str
    """`$.rows[17].config['block_M']`"""
    start: int
    end: int
    """In bytes; the end is behind its last one."""
    name_at: int
    """Where its name starts; `start` for one without a name."""


def spots(content: bytes, path: str) -> list[Spot]:
    """Every value that has a path, in the order of the text: `$` is the whole text, `.name` an
    entry of an object, `[3]` one of a list, and `[...]` any entry of an object. A name that is
    there twice gives two. What follows a value may be no JSON."""
    steps = [tuple(found.groups()) for found in _STEP.finditer(path)]
    start = _after_blanks(content, 0)
    return [
        Spot(f"${said}", at, _end(content, at), name_at)
        for said, at, name_at in _found(content, start, start, steps)
    ]


def line_and_column(content: bytes, at: int) -> str:
    """`line 3, column 12` of a byte: lines from 1, and letters of the line from 1."""
    line = content.count(b"\n", 0, at) + 1
    before = content[content.rfind(b"\n", 0, at) + 1 : at].decode(errors="replace")
    return f"line {line:,}, column {len(before) + 1:,}"


def _found(
    content: bytes, at: int, name_at: int, steps: list[tuple]
) -> Iterator[tuple[str, int, int]]:
    """(path below here, start, start of the name) of each value that the steps lead to."""
    if not steps:
        yield "", at, name_at
        return
    (name, number, any_name), rest = steps[0], steps[1:]
    for key, key_at, value_at in _entries(content, at):
        if key == (int(number) if number else name) or (any_name and isinstance(key, str)):
            said = f".{name}" if name else f"[{key!r}]"
            yield from (
                (said + below, start, name)
                for below, start, name in _found(content, value_at, key_at, rest)
            )


def _entries(content: bytes, at: int) -> Iterator[tuple[str | int, int, int]]:
    """(name or number, where the name starts, where the value starts) of the entries of an object
    or a list; none of anything else."""
    start, opening, count = at, content[at : at + 1], 0
    if opening not in (b"{", b"["):
        return
    while at == start or content[at : at + 1] == b",":
        key_at = value_at = _after_blanks(content, at + 1)
        key: str | int = count
        if opening == b"{":
            name = _TEXT.match(content, key_at)
            if name is None:
                return
            key = json.loads(name[0].decode(errors="replace"), strict=False)
            # the colon lies between
            value_at = _after_blanks(content, _after_blanks(content, name.end()) + 1)
        if content[value_at : value_at + 1] in (b"]", b"}", b""):
            return
        yield key, key_at, value_at
        at, count = _after_blanks(content, _end(content, value_at)), count + 1


def _end(content: bytes, at: int) -> int:
    """Behind a value; behind the text where it breaks off."""
    if content[at : at + 1] not in (b"{", b"["):
        found = _TEXT.match(content, at) or _SCALAR.match(content, at)
        return found.end() if found else len(content)
    depth = 0
    while (at := _after(_TO_BRACKET, content, at)) < len(content):
        # 0: the quote of a text that breaks off
        depth += {b"{": 1, b"[": 1, b"]": -1, b"}": -1}.get(content[at : at + 1], 0)
        at += 1
        if depth == 0:
            return at
    return len(content)


def _after_blanks(content: bytes, at: int) -> int:
    return _after(_BLANKS, content, at)


def _after(pattern: re.Pattern[bytes], content: bytes, at: int) -> int:
    """Behind what the pattern matches here; here where it matches nothing."""
    found = pattern.match(content, at)
    return found.end() if found else at
