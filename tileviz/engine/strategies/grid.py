"""Every config once, in a seeded random order, so that a drift of the clock hits no knob more than
another."""

from tileviz.engine.strategies.base import Strategy


class Grid(Strategy):
    title = "every config, in random order"

    def begin(self) -> None:
        self.order = list(self.unseen)
        self.random.shuffle(self.order)
        self.order.reverse()

    def choose(self) -> int:
        while self.order[-1] not in self.unseen:
            self.order.pop()
        return self.order.pop()
