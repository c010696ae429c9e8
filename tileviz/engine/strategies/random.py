"""Draws one of the remaining configs each time, value by value, so that a knob with many values
does not crowd out the others."""

from tileviz.engine.strategies.base import Strategy

TRIES = 20
"""Draws that hit nothing new before one is taken from the list itself."""


class Random(Strategy):
    title = "random draws"

    def begin(self) -> None:
        self.names = list(self.configs[0]) if self.configs else []
        self.values = {
            name: list(dict.fromkeys(config[name] for config in self.configs))
            for name in self.names
        }
        self.places = {
            tuple(config[name] for name in self.names): index
            for index, config in enumerate(self.configs)
        }

    def choose(self) -> int:
        for _ in range(TRIES):
            index = self.places.get(
                tuple(self.random.choice(self.values[name]) for name in self.names)
            )
            if index in self.unseen:
                return index
        return self.random.choice(list(self.unseen))
