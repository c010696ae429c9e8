"""When a sweep has done enough: trials, seconds, or a best that does not move any more."""

from dataclasses import dataclass

from tileviz.errors import BadValue

EFFORTS = ("quick", "normal", "full")

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


def budget_of(effort: str, trials: int | None, seconds: float | None, patience: int | None, problems: int = 1) -> Budget:
    """The budget of an effort, with what was given by hand in its place. Raises BadValue."""
    if effort not in EFFORTS:
        raise BadValue(f"effort is '{effort}'; give one of {', '.join(EFFORTS)}")
    for name, value in (("budget of trials", trials), ("budget of seconds", seconds), ("patience", patience)):
        if value is not None and not 0 < value <= 10**9:
            raise BadValue(f"the {name} is {value:g}; give a number above 0")
    if effort == "quick" and seconds is None and trials is None:
        seconds = QUICK_SECONDS * problems
    if effort == "normal" and seconds is None and trials is None:
        trials = NORMAL_TRIALS * problems
    return Budget(trials, seconds, patience)


def default_strategy(effort: str, unique: int, problems: int = 1) -> str:
    """The strategy of an effort: the model where only a part of the space will be tried, else a grid."""
    if effort == "quick" or (effort == "normal" and unique > NORMAL_TRIALS * problems):
        return "model"
    return "grid"
