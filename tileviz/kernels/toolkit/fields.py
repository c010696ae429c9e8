"""The values a kernel takes: fields of its problem and knobs of its schedule. Each parses what a person typed.

They are plain data, and stand on the kernel's card: as JSON each says what it is by its `type`.
"""

import struct
from typing import Any

from msgspec import Struct
from msgspec import field as default_of
from msgspec.structs import force_setattr

from tileviz.errors import BadValue

LARGEST_SIZE = 2**31 - 2**16
"""TileLang counts with 32 bits: a size rounded up to whole tiles, of 65,536 at most, must not go over."""


class Size(Struct, frozen=True, tag="size"):
    """A whole number of the problem: rows, columns, heads."""

    name: str
    default: int
    help: str = ""
    minimum: int = 1
    maximum: int = LARGEST_SIZE
    weight: float = 1.0
    """How much a doubling of it matters to which config is the best: little for a size that only makes more blocks of the same kind."""

    def parse(self, value) -> int:
        number = _whole(self.name, value)
        if not self.minimum <= number <= self.maximum:
            raise BadValue(f"{self.name} is {number:,}; give a whole number from {self.minimum:,} to {self.maximum:,}")
        return number


class Choice(Struct, frozen=True, tag="choice"):
    """One of a few words or numbers: a dtype, a layout, a head size."""

    name: str
    choices: tuple
    default: Any
    help: str = ""

    def parse(self, value):
        for choice in self.choices:
            if value == choice or str(value) == str(choice):
                return choice
        raise BadValue(f"{self.name} is '{value}'; give one of {', '.join(map(str, self.choices))}")


class Flag(Struct, frozen=True, tag="flag"):
    """Yes or no."""

    name: str
    default: bool
    help: str = ""

    def parse(self, value) -> bool:
        return _truth(self.name, value)


LARGEST_REAL = 1e38
"""A program may multiply by log2 e, and float32 ends at 3.4e38."""

SMALLEST_REAL = 2.0**-149
"""The smallest float32 over 0; half of it and less is rounded to 0."""


class Real(Struct, frozen=True, tag="real"):
    """A number that float32, in which programs compute, can hold; or None for the kernel's own value."""

    name: str
    default: float | None
    help: str = ""
    minimum: float = -LARGEST_REAL
    maximum: float = LARGEST_REAL

    def parse(self, value) -> float | None:
        if value is None or str(value).strip().lower() in ("", "none", "auto"):
            return None
        try:
            number = float(value)
        except (TypeError, ValueError):
            raise BadValue(f"{self.name} is '{value}'; give a number, or leave it empty") from None
        if not self.minimum <= number <= self.maximum:  # NaN is on neither side
            raise BadValue(f"{self.name} is {value}; give a number from {self.minimum:g} to {self.maximum:g}")
        if number and not struct.unpack("f", struct.pack("f", number))[0]:
            raise BadValue(f"{self.name} is {value}, which float32 rounds to 0; give 0, or a number of at least {SMALLEST_REAL:.2g}")
        return number


class Knob(Struct, frozen=True, tag="knob"):
    """A value of the schedule. `choices` are offered; any multiple of step (or power of two) from minimum to maximum may be typed."""

    name: str
    choices: tuple
    default: Any
    help: str = ""
    minimum: int = 1
    maximum: int = 65536
    step: int = 1
    power_of_two: bool = False
    only: dict[Any, tuple[str, ...]] = default_of(default_factory=dict)
    """{choice: the targets it is made for}, choices as words; one that is not named is for all. Elsewhere a rule says why it cannot be."""

    def __post_init__(self) -> None:
        force_setattr(self, "only", {str(choice): tuple(targets) for choice, targets in self.only.items()})

    def offered(self, target: str) -> tuple:
        """The choices that are made for a target, by its name."""
        return tuple(choice for choice in self.choices if target in self.only.get(str(choice), (target,)))

    @property
    def is_flag(self) -> bool:
        return isinstance(self.default, bool)

    @property
    def is_word(self) -> bool:
        return isinstance(self.default, str)

    def parse(self, value):
        if self.is_flag:
            return _truth(self.name, value)
        if self.is_word:
            return Choice(self.name, self.choices, self.default).parse(value)
        number = _whole(self.name, value)
        odd = number % self.step or (self.power_of_two and number & (number - 1))
        if odd or not self.minimum <= number <= self.maximum:
            kind = "power of two" if self.power_of_two else f"multiple of {self.step}" if self.step > 1 else "whole number"
            raise BadValue(f"{self.name} is {number:,}; give a {kind} from {self.minimum:,} to {self.maximum:,}")
        return number


def _whole(name: str, value) -> int:
    if isinstance(value, bool):
        raise BadValue(f"{name} is {value}; give a whole number")
    if "," in str(value):  # `64,128` is a list to whoever sweeps: it must not be 64128 to whoever runs
        raise BadValue(f"{name} is '{value}'; give one whole number, without commas")
    try:
        number = _number(value)
        whole = int(number)
    except (TypeError, ValueError, OverflowError):
        raise BadValue(f"{name} is '{value}'; give a whole number") from None
    if whole != number:
        raise BadValue(f"{name} is {value}; give a whole number")
    return whole


def _number(value) -> int | float:
    """A number in any spelling; a whole one exactly, however long."""
    if isinstance(value, (int, float)):
        return value
    digits = str(value).replace("_", "")
    return int(digits) if len(digits) < 40 and digits.strip().lstrip("+-").isdecimal() else float(digits)


def _truth(name: str, value) -> bool:
    if isinstance(value, bool):
        return value
    word = str(value).strip().lower()
    if word in ("true", "yes", "on", "1"):
        return True
    if word in ("false", "no", "off", "0"):
        return False
    raise BadValue(f"{name} is '{value}'; give true or false")
