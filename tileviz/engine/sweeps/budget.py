"""When a sweep has done enough: trials, seconds, or a best that does not move any more."""

from dataclasses import dataclass
from typing import Literal, assert_never, get_args

from tileviz.engine.options import check_word
from tileviz.errors import BadValue

Effort = Literal["quick", "normal", "full"]
"""How much of a space is tried, where no budget is given."""

EFFORTS: tuple[Effort, ...] = get_args(Effort)

NORMAL_TRIALS = 200
QUICK_SECONDS = 10.0
FINALISTS = 10


@dataclass(frozen=True)
class Budget:
    """None: no limit of that kind."""

    trials: int | None = None
    """Configs compiled or measured, over all runs of the sweep."""
    seconds: float | None = None
    """Wall seconds of the main pass, over all runs of the sweep; at least one config is tried."""
    patience: int | None = None
    """Configs in a row that did not improve the best of their problem."""

    def spent(self, *, trials: int, seconds: float, since_best: int) -> str:
        """Why the main pass ends now, in one sentence; empty when it goes on."""
        if self.trials is not None and trials >= self.trials:
            return f"the budget of {self.trials:,} trials is spent"
        if self.seconds is not None and seconds >= self.seconds and trials:
            return f"the budget of {self.seconds:g} s is spent"
        if self.patience is not None and since_best >= self.patience:
            return f"the best has not moved for {self.patience:,} trials"
        return ""


def budget_of(
    effort: Effort,
    trials: int | None,
    seconds: float | None,
    patience: int | None,
    problems: int = 1,
) -> Budget:
    """The budget of an effort, with what was given by hand in its place. Raises BadValue."""
    check_word("effort", effort, EFFORTS)
    for name, value in (
        ("budget of trials", trials),
        ("budget of seconds", seconds),
        ("patience", patience),
    ):
        if value is not None and not 0 < value <= 10**9:
            raise BadValue(f"the {name} is {value:g}; give a number above 0")
    if seconds is not None or trials is not None:
        return Budget(trials, seconds, patience)
    match effort:
        case "quick":
            return Budget(None, QUICK_SECONDS * problems, patience)
        case "normal":
            return Budget(NORMAL_TRIALS * problems, None, patience)
        case "full":
            return Budget(None, None, patience)
        case _:
            assert_never(effort)


def default_strategy(effort: Effort, unique: int, problems: int = 1) -> str:
    """The strategy of an effort: the model where only a part of the space will be tried, else a
    grid."""
    match effort:
        case "quick":
            return "model"
        case "normal":
            return "model" if unique > NORMAL_TRIALS * problems else "grid"
        case "full":
            return "grid"
        case _:
            assert_never(effort)
