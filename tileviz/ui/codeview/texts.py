"""The texts of an artifact as panes show them: names, languages, links to each other, and why one
is missing."""

import io
import zipfile
from collections.abc import Iterable
from dataclasses import dataclass

from tileviz import texts
from tileviz.kernels.asked import AskedKernel
from tileviz.lens import opening
from tileviz.lens.directives import hide
from tileviz.records import Artifact
from tileviz.texts import Text
from tileviz.ui.parts import extract, script

PROGRAM, SOURCE = texts.named("program"), "source"

NO_LINES = "no line information"


@dataclass(frozen=True)
class View:
    """One text, ready for a pane."""

    title: str
    language: str
    text: str | None
    """None when it could not be made; `missing` says why."""
    missing: str = ""
    links: tuple[int, ...] = ()
    """row, CUDA line, row, CUDA line, ...; rows from 1."""
    numbers: tuple[int, ...] = ()
    """Of the Python text: the lines of the kernel's file, 0 for a gap."""

    @property
    def top(self) -> int:
        """The line to open at: of the main loop, or of the tile program that was compiled."""
        if self.language not in ("python", "ir"):
            return opening.opening(self.text or "", self.language)
        row = opening.program_row(self.text or "", self.links[::2])
        return self.numbers[row - 1] if self.numbers else row

    @property
    def note(self) -> str:
        return "" if self.links or self.text is None else NO_LINES


def titles(artifact: Artifact) -> list[str]:
    """The texts that there are or could be, from the tile program to the machine."""
    return [text.title for text in texts.of(artifact.source_language)]


def there(artifact: Artifact) -> list[str]:
    """Those of the titles that could be made."""
    kept = (
        text
        for text in texts.of(artifact.source_language)
        if text is PROGRAM or _content(artifact, text) is not None
    )
    return [text.title for text in kept]


def titled(artifact: Artifact, title: str) -> Text:
    """The text of an artifact by its title."""
    return next(text for text in texts.of(artifact.source_language) if text.title == title)


def source_title(artifact: Artifact) -> str:
    return texts.named(SOURCE, artifact.source_language).title


def _content(artifact: Artifact, text: Text) -> str | None:
    return texts.content(artifact, text.name)


def view(artifact: Artifact, kernel: AskedKernel, title: str) -> View:
    """One text of an artifact. Every link goes by lines of the CUDA (or C) text."""
    text = titled(artifact, title)
    if text is PROGRAM:
        return _program(artifact, kernel)
    content = _content(artifact, text)
    if content is None:
        why = (
            artifact.missing.get(text.name)
            or f"This artifact was made without {title}: compile it again."
        )
        return View(title, text.language, None, why)
    shown = hide(text.shown(content), text.language)
    if text.name != SOURCE:
        return View(title, text.language, shown, links=_pairs(artifact.lines.get(text.name, ())))
    count = shown.count("\n") + 1 if artifact.lines else 0
    return View(
        title,
        text.language,
        shown,
        links=tuple(n for row in range(1, count + 1) for n in (row, row)),
    )


def _program(artifact: Artifact, kernel: AskedKernel) -> View:
    """The tile program with the lines of its file; the artifact keeps the file as it was
    compiled."""
    if not artifact.program:
        return View(PROGRAM.title, PROGRAM.language, hide(script.program_source(kernel), "python"))
    shown = _without_directives(
        extract.numbered(artifact.program, extract.program_roots(artifact.program))
    )
    rows = {number: row for row, (number, _) in enumerate(shown, 1) if number}
    found = enumerate(artifact.lines.get("source", ()), 1)
    links = tuple(n for cuda, python in found if python in rows for n in (rows[python], cuda))
    content, numbers = "\n".join(text for _, text in shown), tuple(number for number, _ in shown)
    return View(PROGRAM.title, PROGRAM.language, content, links=links, numbers=numbers)


def _without_directives(shown: Iterable[tuple[int, str]]) -> list[tuple[int, str]]:
    """The lines without words for formatters; a line of nothing else goes, the others keep their
    numbers."""
    hidden = ((number, text, hide(text, "python")) for number, text in shown)
    return [(number, left) for number, text, left in hidden if left or not text.strip()]


def _pairs(lines: tuple[int, ...]) -> tuple[int, ...]:
    return tuple(n for row, line in enumerate(lines, 1) if line for n in (row, line))


def file_name(artifact: Artifact, kernel: AskedKernel, title: str) -> str:
    return f"{kernel.name}_{artifact.target}.{titled(artifact, title).extension}"


def whole(artifact: Artifact, kernel: AskedKernel, title: str) -> str | None:
    """A text as it is downloaded: the kernel's whole file, and SASS as nvdisasm printed it."""
    text = titled(artifact, title)
    return (artifact.program or kernel.source) if text is PROGRAM else _content(artifact, text)


def archive(artifact: Artifact, kernel: AskedKernel) -> bytes:
    """A zip of every text that there is, the machine code and the kernel's whole file among
    them."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as packed:
        for title in titles(artifact):
            text = whole(artifact, kernel, title)
            if text is not None:
                packed.writestr(file_name(artifact, kernel, title), text)
        if artifact.cubin:
            packed.writestr(f"{kernel.name}_{artifact.target}.cubin", artifact.cubin)
    return buffer.getvalue()
