"""What is chosen of a run beside its kernel, problem and config: where it runs, and how it is
measured."""

from dataclasses import dataclass, fields
from typing import Any, Literal, TypeVar, get_args

from tileviz.errors import BadValue
from tileviz.records import Device

Inputs = Literal["normal", "zeros", "ones", "integers", "nan", "inf"]
L2Mode = Literal["cold", "warm"]
FlushMode = Literal["read", "write", "none"]

INPUTS: tuple[Inputs, ...] = get_args(Inputs)
L2_MODES: tuple[L2Mode, ...] = get_args(L2Mode)
FLUSHES: tuple[FlushMode, ...] = get_args(FlushMode)

Word = TypeVar("Word", bound=str)
"""One of a set of words."""

RUN_S = 120.0
"""Most seconds of a step of a run, where none are given."""

SWEPT_S = 60.0
"""Most seconds of a step of a sweep's config, where none are given."""

MOST_S = 86_400.0
MOST_SEED = 2**31


@dataclass(frozen=True)
class Where:
    """Where a run takes place. With neither target nor device it is the first GPU, or else the
    CPU."""

    target: str | None = None
    device: str | None = None
    devices: list[Device] | None = None
    """The devices to choose from; None for those of this machine."""


@dataclass(frozen=True, kw_only=True)
class Measuring:
    """How a run is measured and on which data. A Request and a SweepRequest are one, so their JSON
    holds these fields beside theirs."""

    inputs: Inputs = "normal"
    """What the inputs hold; only normal data is compared with published numbers."""
    seed: int = 0
    """Of the random inputs."""
    l2: L2Mode = "cold"
    """State of the L2 cache before each sample."""
    flush: FlushMode = "read"
    """How a cold L2 is made: `read`, `write`, which shows what dirty lines cost, or `none`."""
    baselines: bool = True
    only_baselines: tuple[str, ...] = ()
    """Names of the baselines to run; empty for all of them."""
    timeout_s: float | None = None
    """Most seconds for compiling, and again for check and timing, and again for each baseline; None
    for what is usual there."""

    @property
    def measuring(self) -> "Measuring":
        """These fields alone."""
        return Measuring(**self.measured_by())

    def measured_by(self) -> dict[str, Any]:
        """These fields by name, for another record that is a Measuring, too."""
        return {f.name: getattr(self, f.name) for f in fields(Measuring)}

    def check(self) -> None:
        """Raises BadValue, in one sentence, for what cannot be meant; the names of baselines are
        checked where the kernel is known."""
        check_word("inputs", self.inputs, INPUTS)
        check_word("l2", self.l2, L2_MODES)
        check_word("flush", self.flush, FLUSHES)
        if self.timeout_s is not None and not 0 < self.timeout_s <= MOST_S:
            raise BadValue(f"timeout is {self.timeout_s:g} s; give seconds from 1 to 86,400")
        if not 0 <= self.seed < MOST_SEED:
            raise BadValue(f"seed is {self.seed}; give a whole number from 0 to 2,147,483,647")


ANYWHERE = Where()
USUAL = Measuring()


def check_word(name: str, word: str, known: tuple[Word, ...]) -> Word:
    """The word, as one of the known ones. Raises BadValue for one that is not among them."""
    for each in known:
        if each == word:
            return each
    raise BadValue(f"{name} is '{word}'; give one of {', '.join(known)}")
