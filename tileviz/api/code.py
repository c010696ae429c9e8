"""Generated code as a value: prints as text, shows with the instructions that matter lit up, and is
compared with another."""

import html
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from tileviz import lens, texts
from tileviz.api.tables import frame_of, table
from tileviz.errors import Limitation
from tileviz.lens import diff as differ
from tileviz.records import Artifact, Trial

if TYPE_CHECKING:
    import pandas as pd

MOST_LINES = 2_000
"""Of a text in a notebook; `str` has them all."""

PALETTE = ("#8b5cf6", "#0e8f74", "#c2410c", "#2563eb", "#b4306d", "#7a6a00")
"""Colours of classes, in turn."""


@dataclass(frozen=True, repr=False)
class Code:
    """One text of an artifact. `str(code)` is the text itself."""

    title: str
    text: str
    language: str
    """`cuda`, `c`, `ir`, `ptx` or `sass`."""

    @property
    def counts(self) -> dict[str, int]:
        """How often each class of instruction is written; empty for a text that has no
        instructions."""
        return lens.counts(self.text, self.language) if self.language in lens.LANGUAGES else {}

    def frame(self) -> "pd.DataFrame":
        """A row for each instruction that belongs to a class: its line, counted from 1, its class,
        and the line's text."""
        return frame_of({"line": line.number, "class": hit.cls, "text": line.text.strip()} for line in self._lines() for hit in line.hits)

    def _lines(self):
        return lens.listing(self.text, self.language).lines if self.language in lens.LANGUAGES else ()

    def __str__(self) -> str:
        return self.text

    def __repr__(self) -> str:
        return f"{self.title}: {len(self.text.splitlines()):,} lines of {self.language}"

    def _repr_html_(self) -> str:
        present = [name for name, n in self.counts.items() if n]
        colours = {name: PALETTE[i % len(PALETTE)] for i, name in enumerate(present)}
        legend = " ".join(f'<span style="color: {colours[name]}">\u25a0</span> {html.escape(name)} {self.counts[name]}' for name in present)
        shown = [_lit(line, colours) for line in self._lines()] or [html.escape(line) for line in self.text.splitlines()]
        more = f"<small>{len(shown) - MOST_LINES:,} more lines; print it for all</small>" if len(shown) > MOST_LINES else ""
        body = "\n".join(shown[:MOST_LINES])
        return f'<div><b>{html.escape(repr(self))}</b><br>{legend}<pre style="max-height: 40em; overflow: auto">{body}</pre>{more}</div>'


@dataclass(frozen=True, repr=False)
class Difference:
    """Two texts beside each other, up to the names of registers and labels. `str(difference)` is a
    unified diff."""

    title: str
    left: str
    right: str
    found: differ.Diff

    @property
    def is_same(self) -> bool:
        return self.found.is_same

    def frame(self) -> "pd.DataFrame":
        """A row for each opcode, call or statement that is written more or less often."""
        return frame_of(self._rows())

    def _rows(self) -> list[dict[str, Any]]:
        return [{"opcode": c.opcode, "class": c.cls, "left": c.left, "right": c.right} for c in self.found.changes]

    def __str__(self) -> str:
        return differ.unified(self.left, self.right, self.found.rows)

    def __repr__(self) -> str:
        kinds = ", ".join(f"{count:,} lines {kind}" for kind, count in self.found.counts().items() if count)
        return f"{self.title}: {'the same' if self.is_same else kinds}"

    def _repr_html_(self) -> str:
        text = "" if self.is_same else f'<pre style="max-height: 40em; overflow: auto">{html.escape(str(self))}</pre>'
        return f"{table(repr(self), self._rows())}{text}"


def code_of(trial: Trial, artifact: Artifact | None, text: str) -> Code:
    """One text of a trial's artifact by its name in the registry: `source`, `ir`, `ptx`, `sass`, ...

    Raises UnknownName for another name, Limitation, with the reason, where there is no such text.
    """
    known = texts.named(text, artifact.source_language if artifact is not None else "cuda")
    content = texts.content(artifact, text) if artifact is not None else None
    if content is None:
        raise Limitation(f"no {text} for this trial: {texts.why_none(trial, artifact, text)}")
    return Code(f"{trial.kernel} for {trial.target}, {text}", content, known.language)


def difference(left: Code, right: Code) -> Difference:
    """Raises Limitation for texts of unlike languages."""
    if left.language != right.language:
        raise Limitation(f"{left.language} and {right.language} have no lines in common")
    return Difference(
        f"{left.title} | {right.title}",
        left.text,
        right.text,
        differ.diff(left.text, right.text, left.language),
    )


def _lit(line, colours: dict[str, str]) -> str:
    out, at = [], 0
    for hit in sorted(line.hits, key=lambda hit: hit.start):
        if hit.start < at:
            continue  # within the one before
        word = html.escape(line.text[hit.start : hit.end])
        out += [
            html.escape(line.text[at : hit.start]),
            f'<span title="{hit.cls}" style="color: {colours[hit.cls]}">{word}</span>',
        ]
        at = hit.end
    return "".join([*out, html.escape(line.text[at:])])
