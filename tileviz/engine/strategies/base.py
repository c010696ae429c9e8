"""The contract of a search strategy: asked for the next config, told how each one went."""

import random
from collections.abc import Sequence

from tileviz.records import Config


class Strategy:
    """Chooses among `configs` of one problem, by their place in that sequence.

    `ask` never repeats a config; None when all were given. `tell` is called once a config, with the
    median in microseconds, or None for one that gave no time: failures count. A config may be told
    that was never asked (it was done in an earlier run): it is not asked then. The same configs,
    seed and tells give the same asks.
    """

    title = ""
    adaptive = False
    """True when what was told decides what is asked: then few configs are compiled ahead."""

    def __init__(
        self, configs: Sequence[Config], seed: int = 0, estimates: Sequence[float] = ()
    ) -> None:
        """`estimates`: predicted microseconds of each config, or empty where no model knows the
        kernel."""
        self.configs = tuple(configs)
        self.estimates = tuple(estimates)
        self.random = random.Random(seed)
        self.seed = seed
        self.unseen = dict.fromkeys(range(len(self.configs)))
        self.told: dict[int, float | None] = {}
        self.begin()

    def begin(self) -> None:
        """What a strategy prepares once."""

    def choose(self) -> int:
        """One of `unseen`, which is never empty here."""
        raise NotImplementedError

    def learn(self, index: int, value: float | None) -> None:
        """What a strategy makes of a result."""

    def ask(self) -> int | None:
        if not self.unseen:
            return None
        index = self.choose()
        del self.unseen[index]
        return index

    def tell(self, index: int, value: float | None) -> None:
        self.unseen.pop(index, None)
        self.told[index] = value
        self.learn(index, value)

    @property
    def best(self) -> int | None:
        """The fastest config told so far."""
        timed = {index: value for index, value in self.told.items() if value is not None}
        return min(timed, key=lambda index: timed[index], default=None)
