"""What to try next in a sweep: a strategy for each problem, asked in turn, and the bookkeeping of
what came of it. Numbers only."""

from collections.abc import Callable, Sequence
from typing import Any

from tileviz.engine.strategies import Strategy, strategy
from tileviz.records import DECIDED, Config
from tileviz.store.sweeps import NOT_RUN

Estimate = Callable[[int, Sequence[Config]], Sequence[float]]
"""estimate(problem, configs) -> predicted microseconds of each."""


class Search:
    """Over the rows of a sweep's frame; rows that have a result already are told to the strategies
    and never asked."""

    def __init__(
        self, name: str, seed: int, rows: Sequence[dict[str, Any]], estimate: Estimate | None = None
    ) -> None:
        leaders = [row for row in rows if row["same_as"] is None and row["status"] not in DECIDED]
        self.followers: dict[int, list[int]] = {}
        for row in rows:
            if row["same_as"] is not None and row["status"] not in DECIDED:
                self.followers.setdefault(row["same_as"], []).append(row["ordinal"])
        self.problem = {row["ordinal"]: row["problem_index"] for row in leaders}
        self.ordinals: dict[int, list[int]] = {}
        for row in leaders:
            self.ordinals.setdefault(row["problem_index"], []).append(row["ordinal"])
        self.config = {row["ordinal"]: row["config"] for row in leaders}
        self.places = {
            ordinal: place
            for found in self.ordinals.values()
            for place, ordinal in enumerate(found)
        }
        self.strategies = {
            number: self._strategy(name, seed, number, estimate) for number in self.ordinals
        }
        self.best_us: dict[int, float] = {}
        self.tried = 0
        self.since_best = 0
        self.turn = 0
        for row in leaders:
            if row["status"] != NOT_RUN:
                self.tell(row["ordinal"], row["median_us"] if row["status"] == "ok" else None)

    @property
    def adaptive(self) -> bool:
        return any(strategy.adaptive for strategy in self.strategies.values())

    def next(self) -> int | None:
        """The ordinal of the next config; problems take turns. None when every config was given."""
        numbers = list(self.strategies)
        for step in range(len(numbers)):
            number = numbers[(self.turn + step) % len(numbers)]
            place = self.strategies[number].ask()
            if place is not None:
                self.turn += step + 1
                return self.ordinals[number][place]
        return None

    def tell(self, ordinal: int, median_us: float | None) -> None:
        """How a config went; None for one that gave no time."""
        number = self.problem[ordinal]
        self.tried += 1
        self.since_best += 1
        best = self.best_us.get(number)
        if median_us is not None and (best is None or median_us < best):
            self.best_us[number] = median_us
            self.since_best = 0
        self.strategies[number].tell(self.places[ordinal], median_us)

    def _strategy(self, name: str, seed: int, number: int, estimate: Estimate | None) -> Strategy:
        configs = [self.config[ordinal] for ordinal in self.ordinals[number]]
        estimates = estimate(number, configs) if estimate is not None else ()
        return strategy(name)(configs, seed + number, estimates)
