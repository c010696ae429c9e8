"""What a text of an artifact is: its names, how it is made, and how it is read into listing lines."""

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal, Protocol

Found = tuple[int, int, str]
"""(first character from 0, character after the last, instruction class) on a line."""

NO_LINE = 0
"""Stands for a line that comes from nowhere known; lines are counted from 1."""


@dataclass(frozen=True)
class Mapped:
    """A text with the line that each of its lines comes from."""

    text: str
    lines: tuple[int, ...] = ()
    """For each line of the text a line of the text before it, or NO_LINE; empty where none is known."""


class Made(Protocol):
    """What a compile has by the time that a text is made; the compiler gives it."""

    @property
    def source(self) -> str:
        """CUDA, or C for the CPU target."""

    @property
    def ir(self) -> str | None:
        """TileLang's lowered IR."""

    def ir_after(self, name: str) -> str | None:
        """The IR after the pass that the text names in `after`; None where the pass did not run."""

    def ptx(self) -> Mapped:
        """PTX with the CUDA line of each statement. Raises Limitation where the compiler left none."""

    def sass(self) -> Mapped:
        """SASS with the CUDA line of each instruction. Raises ToolMissing, CompileFailed."""

    def disassembled(self, *options: str) -> str:
        """What nvdisasm prints of the machine code with these options. Raises ToolMissing,
        CompileFailed."""


def _itself(text: str) -> str:
    return text


def _none(line: str) -> list[Found]:
    return []


@dataclass(frozen=True)
class Reader:
    """How one language is read."""

    prepare: Callable[[str], str] = _itself
    """The text with what is no code blanked, character by character."""
    find: Callable[[str], list[Found]] = _none
    """The instructions of each class on a prepared line."""
    classes: frozenset[str] = frozenset()
    """Classes that the language can show; none for a text that is only read by people."""
    begin: re.Pattern | None = None
    """The line that a kernel begins at."""
    names: re.Pattern | None = None
    """Numbers of registers, labels and counters: they say nothing in a comparison. A group of it
    that matched stays."""
    opcode: re.Pattern | None = None
    """The opcode of a line, in its first group, whether it is of a class or not."""


@dataclass(frozen=True)
class Text:
    """One text of an artifact, under one name everywhere."""

    name: str
    """In JSON, in `--emit`, in the store: `sass`."""
    title: str
    """On pages: `SASS`."""
    language: str
    """How it is read and coloured: `sass`. Texts of one language have one reader."""
    extension: str
    """Of a download."""
    file: str
    """Its file in an artifact's folder. Stores hold it: it never changes."""
    reader: Reader
    made: Literal["given", "lowered", "compiled"]
    """When: with the kernel's file, by lowering, or by the CUDA compiler."""
    make: Callable[[Made], Mapped | str | None] | None = None
    """Makes a text that has no field of its own in `Artifact`; None where there is nothing to make.
    An error of the tools, or a Limitation, is told as why the text is missing."""
    after: str = ""
    """The pass after which `make` asks for the IR."""
    targets: Literal["any", "cuda", "cpu"] = "any"
    shown: Callable[[str], str] = _itself
    """The text as a pane shows it, line for line the same."""
