"""The kernel card: what is known of a kernel without its code, as a record that travels as JSON.

Its names, fields, knobs with their domains, defaults, presets, baselines, and where it comes from.
What depends on a problem is not on the card: that is asked (`questions`).
"""

import hashlib
from dataclasses import dataclass, field
from functools import cached_property

import msgspec

from tileviz.errors import BadRequest
from tileviz.kernels.toolkit.fields import Choice, Flag, Knob, Real, Size
from tileviz.records import Config, Problem

__all__ = [
    "BaselineCard", "Card", "Choice", "Field", "Flag", "Knob", "Origin", "Preset", "Real", "Size",
    "pass_configs",
]  # fmt: skip

Field = Size | Choice | Flag | Real
"""A value of the problem."""


@dataclass(frozen=True)
class Preset:
    """A named problem, with the config that suits it where the default does not."""

    name: str
    problem: Problem
    config: Config = field(default_factory=dict)
    kind: str = "any"
    """`cuda`, `cpu` or `any`: on which kind of device it is offered."""


@dataclass(frozen=True)
class BaselineCard:
    """What a kernel is compared with, by name."""

    name: str
    title: str
    kind: str = "any"
    """`cuda` when it runs on a GPU only."""
    compiles: bool = False
    """True where its first call compiles: torch.compile."""


@dataclass(frozen=True)
class Origin:
    """Where a kernel comes from."""

    hash: str
    """Of the text of every file that decides the generated code, 16 hexadecimal digits."""
    file: str = ""
    """Path of a user's file; empty for a kernel that comes with tileviz."""

    @property
    def built_in(self) -> bool:
        return not self.file


@dataclass(frozen=True, kw_only=True)
class Card:
    """A kernel, without its code."""

    name: str
    title: str
    summary: str
    """One sentence: what it computes and how."""
    fields: tuple[Field, ...]
    """The values of a problem, in the order of the form."""
    knobs: tuple[Knob, ...]
    """The values of a schedule, in the order of the form."""
    defaults: dict[str, Problem]
    """{"cpu": {...}, "cuda": {...}}: what the first Run uses, over the defaults of the fields."""
    default_configs: dict[str, Config]
    """{"cpu": {...}, "sm_90a": {...}}: over the defaults of the knobs; a target's own name wins
    over `cpu` or `cuda`."""
    presets: tuple[Preset, ...]
    baselines: tuple[BaselineCard, ...]
    models_traffic: bool
    """Whether there is a model of the bytes that it moves."""
    origin: Origin

    @classmethod
    def from_json(cls, text: bytes) -> "Card":
        """The card that `to_json` wrote. Raises msgspec.ValidationError where it is none."""
        return msgspec.json.decode(text, type=cls)

    def to_json(self) -> bytes:
        return msgspec.json.encode(self)

    @cached_property
    def hash(self) -> str:
        """Of everything on the card, so of the kernel's files, too."""
        return hashlib.sha256(self.to_json()).hexdigest()[:16]

    def field(self, name: str) -> Field:
        """A field of the problem by its name. Raises BadRequest."""
        for found in self.fields:
            if found.name == name:
                return found
        raise BadRequest(f"{self.name} has no field '{name}'")

    def whole(self, config: Config) -> Config:
        """A stored config with every knob. One of an earlier version lacks those that came since:
        they stand at their own defaults, which is how the program was before it had them."""
        return {knob.name: knob.default for knob in self.knobs} | config

    def knob_values(self, config: Config) -> Config:
        """The config without its pass configs, every knob in it."""
        whole = self.whole(config)
        return {knob.name: whole[knob.name] for knob in self.knobs}


def pass_configs(config: Config) -> Config:
    """The pass configs of a config: the names with a dot, which are TileLang's."""
    return {name: value for name, value in config.items() if "." in name}
