"""The neighbourhood of the best so far: the untried config that is the fewest steps away from it,
knob by knob. Each failure one step away counts as a step more."""

from tileviz.engine.strategies.base import Strategy

FIRST = 8
"""Configs tried before there is a neighbourhood: the model's favourites, else random ones."""


class Local(Strategy):
    title = "the neighbourhood of the best"
    adaptive = True

    def begin(self) -> None:
        names = list(self.configs[0]) if self.configs else []
        values = {
            name: sorted(
                {config[name] for config in self.configs},
                key=lambda value: (str(type(value)), value),
            )
            for name in names
        }
        steps = {
            name: {value: step for step, value in enumerate(found)}
            for name, found in values.items()
        }
        self.places = [
            tuple(steps[name][config[name]] for name in names) for config in self.configs
        ]
        self.luck = [self.random.random() for _ in self.configs]
        self.doubt = [0] * len(self.configs)
        self.start = self._start()

    def choose(self) -> int:
        while self.start:
            index = self.start.pop()
            if index in self.unseen:
                return index
        best = self.best
        if best is None:
            return self.random.choice(list(self.unseen))
        return min(
            self.unseen,
            key=lambda index: (self.distance(best, index) + self.doubt[index], self.luck[index]),
        )

    def learn(self, index: int, value: float | None) -> None:
        for near in self.unseen if value is None else ():
            self.doubt[near] += self.distance(index, near) <= 1

    def distance(self, one: int, other: int) -> int:
        """Steps between two configs, over all knobs; a step is one value of a knob to the next."""
        return sum(abs(a - b) for a, b in zip(self.places[one], self.places[other], strict=True))

    def _start(self) -> list[int]:
        order = list(range(len(self.configs)))
        self.random.shuffle(order)
        if self.estimates:
            order.sort(key=lambda index: self.estimates[index])
        return order[:FIRST][::-1]
