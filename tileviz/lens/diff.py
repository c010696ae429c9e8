"""Two texts of one language side by side: aligned, names normalised, what is written more or less often first."""

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher

from tileviz.lens.classes import NAMES
from tileviz.lens.listing import LANGUAGES, listing, reader_of
from tileviz.texts import readers

MOST_PAIRS = 60_000_000
"""Lines times lines up to which every line counts for the alignment; above, frequent ones are left out so that it stays fast."""

MOST_BLOCK = 4_000
"""Lines of a changed block up to which its lines are paired by opcode."""


@dataclass(frozen=True)
class Row:
    """One row of two columns."""

    left: int
    """Line of the first text, 0 where it has none."""
    right: int
    kind: str
    """`same` (up to the names of registers and labels), `changed`, `removed` or `added`."""


@dataclass(frozen=True)
class Change:
    """An opcode, call or statement that is written more or less often."""

    opcode: str
    cls: str
    """Its class; empty for arithmetic and other opcodes without one."""
    left: int
    right: int

    @property
    def words(self) -> str:
        """`-16 HGMMA.64x128x16.F32`"""
        return f"{self.right - self.left:+,} {self.opcode}"


@dataclass(frozen=True)
class Diff:
    rows: tuple[Row, ...]
    changes: tuple[Change, ...]
    """Opcodes whose counts differ: by class, then by how much."""

    @property
    def is_same(self) -> bool:
        return all(row.kind == "same" for row in self.rows)

    def counts(self) -> dict[str, int]:
        """Rows of each kind."""
        found = Counter(row.kind for row in self.rows)
        return {kind: found[kind] for kind in ("same", "changed", "removed", "added")}


def diff(left: str, right: str, language: str) -> Diff:
    """The difference of two texts of a language (of the registry of texts, or any other)."""
    return Diff(tuple(_rows(left, right, language)), changes(left, right, language))


def changes(left: str, right: str, language: str) -> tuple[Change, ...]:
    """What is written more or less often, tensor cores first."""
    ours, theirs = _opcodes(left, language), _opcodes(right, language)
    order = {name: at for at, name in enumerate(NAMES)}
    found = [
        Change(opcode, cls, ours[opcode, cls], theirs[opcode, cls])
        for opcode, cls in {*ours, *theirs}
        if ours[opcode, cls] != theirs[opcode, cls]
    ]
    return tuple(sorted(found, key=lambda c: (order.get(c.cls, len(order)), -abs(c.right - c.left), c.opcode)))


def unified(left: str, right: str, rows: Sequence[Row], context: int = 3) -> str:
    """The difference as one text, in the way of diff -u: lines of the first with -, of the second with +, and some around them."""
    ours, theirs = left.split("\n"), right.split("\n")
    near = [False] * len(rows)
    for at, row in enumerate(rows):
        if row.kind != "same":
            near[max(0, at - context) : at + context + 1] = [True] * len(near[max(0, at - context) : at + context + 1])
    out, removed, added, shown_before = [], [], [], True
    for row, shown in zip(rows, near, strict=True):
        if row.kind != "same":
            removed += [f"-{ours[row.left - 1]}"] if row.left else []
            added += [f"+{theirs[row.right - 1]}"] if row.right else []
            continue
        out += removed + added
        removed, added = [], []
        if shown and not shown_before:
            out.append(f"@@ line {row.left} and {row.right} @@")
        if shown:
            out.append(f" {theirs[row.right - 1]}")
        shown_before = shown
    return "\n".join(out + removed + added)


def _rows(left: str, right: str, language: str) -> list[Row]:
    normal = _normal(language)
    ours, theirs = [normal(line) for line in left.split("\n")], [normal(line) for line in right.split("\n")]
    matcher = SequenceMatcher(None, ours, theirs, autojunk=len(ours) * len(theirs) > MOST_PAIRS)
    rows = []
    for tag, a, a_end, b, b_end in matcher.get_opcodes():
        if tag == "equal":
            rows += [Row(a + n + 1, b + n + 1, "same") for n in range(a_end - a)]
        else:
            rows += _changed(ours, theirs, range(a, a_end), range(b, b_end))
    return rows


def _changed(ours: list[str], theirs: list[str], left: range, right: range) -> list[Row]:
    """Rows of a block that differs: lines of one opcode beside each other."""
    first = lambda lines, at: lines[at].split(" ", 1)[0]
    if not left or not right or max(len(left), len(right)) > MOST_BLOCK:
        return _beside(left, right)
    heads = [first(ours, at) for at in left], [first(theirs, at) for at in right]
    rows = []
    for tag, a, a_end, b, b_end in SequenceMatcher(None, *heads, autojunk=False).get_opcodes():
        if tag == "equal":
            rows += [
                Row(x + 1, y + 1, "same" if ours[x] == theirs[y] else "changed") for x, y in zip(left[a:a_end], right[b:b_end], strict=True)
            ]
        else:
            rows += _beside(left[a:a_end], right[b:b_end])
    return rows


def _beside(left: range, right: range) -> list[Row]:
    return [Row(at + 1, 0, "removed") for at in left] + [Row(0, at + 1, "added") for at in right]


def _normal(language: str) -> Callable[[str], str]:
    """How a line is compared: without addresses, spaces, and numbers of registers, labels and counters."""
    pattern = readers()[language].names if language in readers() else None
    if pattern is None:
        return str.strip

    def normal(line: str) -> str:
        return " ".join(pattern.sub(lambda m: next((g for g in m.groups() if g), ""), line).split())

    return normal


def _opcodes(text: str, language: str) -> Counter:
    """(opcode, class) of every instruction; of a text without instructions the classed calls alone."""
    if language not in LANGUAGES:
        return Counter()
    other = reader_of(language).opcode
    found: Counter = Counter()
    for line in listing(text, language).lines:
        for hit in line.hits:
            found[line.text[hit.start : hit.end], hit.cls] += 1
        if not line.hits and other and (opcode := other.match(line.text)):
            found[opcode[1], ""] += 1
    return found
