"""The texts of an artifact, a file each, from the tile program to the machine. A new one costs its file and its line in MODULES.

Whoever shows, prints, counts, stores, compares or downloads texts asks here which there are.
"""

import functools
import importlib

from tileviz.errors import UnknownName
from tileviz.records import Artifact, Trial
from tileviz.texts.base import Made, Mapped, Reader, Text

MODULES = (
    "tileviz.texts.program",
    "tileviz.texts.ir",
    "tileviz.texts.source",
    "tileviz.texts.ptx",
    "tileviz.texts.sass",
)
"""In the order that they are offered; each holds TEXTS."""

FIELDS = ("program", "ir", "source", "ptx", "sass")
"""Texts that are fields of `Artifact`; every other one is in its `more`."""


@functools.cache
def texts() -> tuple[Text, ...]:
    """Every text, in order. CUDA and C are two under one name, of different targets."""
    return tuple(text for name in MODULES for text in importlib.import_module(name).TEXTS)


def names() -> tuple[str, ...]:
    """Every name, in order."""
    return tuple(dict.fromkeys(text.name for text in texts()))


def counted() -> tuple[str, ...]:
    """Names of the texts whose instructions are counted, in order."""
    return tuple(dict.fromkeys(text.name for text in texts() if text.reader.classes))


def named(name: str, source_language: str = "cuda") -> Text:
    """The text of a name: of an artifact whose source is `cuda` or `c` where that matters. Raises UnknownName."""
    found = [text for text in texts() if text.name == name]
    if not found:
        raise UnknownName.of("text", name, names())
    return next((text for text in found if _is_of(text, source_language)), found[0])


def of(source_language: str) -> tuple[Text, ...]:
    """The texts that an artifact with a source of `cuda` or `c` has or could have, in order."""
    return tuple(text for text in texts() if _is_of(text, source_language))


def _is_of(text: Text, source_language: str) -> bool:
    return text.targets in ("any", "cpu" if source_language == "c" else "cuda")


def content(artifact: Artifact, name: str) -> str | None:
    """A text of an artifact; None where it has none."""
    return getattr(artifact, name) if name in FIELDS else artifact.more.get(name)


def why_none(trial: Trial, artifact: Artifact | None, name: str) -> str:
    """Why a trial has no text of this name: a tool that is missing, or what the trial itself says, such as what the compiler refused."""
    if artifact is not None and artifact.missing.get(name):
        return artifact.missing[name]
    if trial.status != "ok":
        return f"{trial.status}: {trial.reason}"
    if artifact is None:
        return "its compiled code is no longer stored; compile it again"
    if artifact.target == "cpu":
        return f"the target cpu has no {named(name).title}"
    return "its code was made without; compile it again"


def lacking(artifact: Artifact) -> list[str]:
    """Texts that came to the registry after this artifact was made: it has neither them nor a reason."""
    later = (text.name for text in of(artifact.source_language) if text.name not in FIELDS)
    return [name for name in later if name not in artifact.more and name not in artifact.missing]


def readers() -> dict[str, Reader]:
    """How each language is read."""
    return {text.language: text.reader for text in texts()}


def compiled() -> tuple[str, ...]:
    """Names of the texts that a CUDA compiler makes: missing where only the source was asked for."""
    return tuple(text.name for text in texts() if text.made == "compiled")


__all__ = [
    "FIELDS", "MODULES", "Made", "Mapped", "Reader", "Text", "compiled", "content", "counted", "lacking", "named", "names", "of",
    "readers", "texts", "why_none",
]  # fmt: skip
