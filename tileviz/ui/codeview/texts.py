"""The texts of an artifact as panes show them: names, languages, links to each other, and why one is missing."""

import io
import re
import zipfile
from collections.abc import Iterable
from dataclasses import dataclass

from tileviz.kernels.asked import AskedKernel
from tileviz.lens import opening
from tileviz.lens.directives import hide
from tileviz.records import Artifact
from tileviz.ui.parts import extract, script

PYTHON, IR, CUDA, C, PTX, SASS = "Python", "IR", "CUDA", "C", "PTX", "SASS"

FILES = {PYTHON: "py", IR: "tir", CUDA: "cu", C: "c", PTX: "ptx", SASS: "sass"}
FIELDS = {IR: "ir", CUDA: "source", C: "source", PTX: "ptx", SASS: "sass"}

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
    if artifact.source_language == "c":
        return [PYTHON, IR, C]
    return [PYTHON, IR, CUDA, PTX, SASS]


def there(artifact: Artifact) -> list[str]:
    """Those of the titles that could be made."""
    return [title for title in titles(artifact) if title == PYTHON or getattr(artifact, FIELDS[title]) is not None]


def view(artifact: Artifact, kernel: AskedKernel, title: str) -> View:
    """One text of an artifact. Every link goes by lines of the CUDA (or C) text."""
    if title == PYTHON:
        return _python(artifact, kernel)
    text = getattr(artifact, FIELDS[title])
    if title == SASS and text is not None:
        text = narrow(text)
    if text is None:
        why = artifact.missing.get(FIELDS[title]) or f"This artifact was made without {title}: compile it again."
        return View(title, title.lower(), None, why)
    language = artifact.source_language if title in (CUDA, C) else title.lower()
    if title in (CUDA, C):
        text = hide(text, language)
        count = text.count("\n") + 1 if _is_linked(artifact) else 0
        return View(title, language, text, links=tuple(n for row in range(1, count + 1) for n in (row, row)))
    return View(title, language, text, links=_pairs(artifact.lines.get(FIELDS[title], ())))


def narrow(sass: str) -> str:
    """SASS without the wide columns that nvdisasm pads with; line for line the same instructions."""
    return _PADDED.sub(lambda m: f"/*{m[1]}*/ {(m[2] or '').strip():>4} ", sass)


#         /*0150*/              @!P0 BRA `(.L_x_12) ;
_PADDED = re.compile(r"^[ \t]+/\*([0-9a-f]{4,})\*/[ \t]+(@!?U?P\w+[ \t]+)?", re.M)


def _python(artifact: Artifact, kernel: AskedKernel) -> View:
    """The tile program with the lines of its file; the artifact keeps the file as it was compiled."""
    if not artifact.program:
        return View(PYTHON, "python", hide(script.program_source(kernel), "python"))
    shown = _without_directives(extract.numbered(artifact.program, extract.program_roots(artifact.program)))
    rows = {number: row for row, (number, _) in enumerate(shown, 1) if number}
    found = enumerate(artifact.lines.get("source", ()), 1)
    links = tuple(n for cuda, python in found if python in rows for n in (rows[python], cuda))
    return View(PYTHON, "python", "\n".join(text for _, text in shown), links=links, numbers=tuple(number for number, _ in shown))


def _without_directives(shown: Iterable[tuple[int, str]]) -> list[tuple[int, str]]:
    """The lines without words for formatters; a line of nothing else goes, the others keep their numbers."""
    hidden = ((number, text, hide(text, "python")) for number, text in shown)
    return [(number, left) for number, text, left in hidden if left or not text.strip()]


def _pairs(lines: tuple[int, ...]) -> tuple[int, ...]:
    return tuple(n for row, line in enumerate(lines, 1) if line for n in (row, line))


def _is_linked(artifact: Artifact) -> bool:
    return bool(artifact.lines)


def file_name(artifact: Artifact, kernel: AskedKernel, title: str) -> str:
    return f"{kernel.name}_{artifact.target}.{FILES[title]}"


def whole(artifact: Artifact, kernel: AskedKernel, title: str) -> str | None:
    """A text as it is downloaded: the kernel's whole file, and SASS as nvdisasm printed it."""
    return (artifact.program or kernel.source) if title == PYTHON else getattr(artifact, FIELDS[title])


def archive(artifact: Artifact, kernel: AskedKernel) -> bytes:
    """A zip of every text that there is, the machine code and the kernel's whole file among them."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as packed:
        for title in titles(artifact):
            text = whole(artifact, kernel, title)
            if text is not None:
                packed.writestr(file_name(artifact, kernel, title), text)
        if artifact.cubin:
            packed.writestr(f"{kernel.name}_{artifact.target}.cubin", artifact.cubin)
    return buffer.getvalue()
