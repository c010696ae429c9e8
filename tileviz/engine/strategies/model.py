"""The order that a model of the machine predicts: the fastest first. Without a model it is a
grid."""

from collections import Counter

from tileviz.engine.strategies.base import Strategy

SPREAD = 0.03
"""How much worse each further config with the same estimate is taken to be."""


class Model(Strategy):
    title = "the model's favourites first"

    def begin(self) -> None:
        order = list(self.unseen)
        self.random.shuffle(order)
        if self.estimates:
            order.sort(key=self._spread(order).__getitem__)
        self.order = order[::-1]

    def _spread(self, order: list[int]) -> dict[int, float]:
        """Estimates, each equal one a little worse than the last, so that a knob the model does not
        see cannot fill the front."""
        seen: Counter = Counter()
        spread = {}
        for index in order:
            spread[index] = self.estimates[index] * (1 + SPREAD * seen[self.estimates[index]])
            seen[self.estimates[index]] += 1
        return spread

    def choose(self) -> int:
        while self.order[-1] not in self.unseen:
            self.order.pop()
        return self.order.pop()
