"""How a sweep chooses what to try next. A new strategy costs its file and its line in STRATEGIES."""

from tileviz.engine.strategies.base import Strategy
from tileviz.engine.strategies.grid import Grid
from tileviz.engine.strategies.local import Local
from tileviz.engine.strategies.model import Model
from tileviz.engine.strategies.random import Random
from tileviz.engine.strategies.tpe import Tpe
from tileviz.errors import UnknownName

STRATEGIES: dict[str, type[Strategy]] = {"grid": Grid, "random": Random, "local": Local, "tpe": Tpe, "model": Model}

__all__ = ["STRATEGIES", "Strategy", "strategy"]


def strategy(name: str) -> type[Strategy]:
    """The strategy of this name. Raises UnknownName, which says what exists."""
    if name not in STRATEGIES:
        raise UnknownName.of("strategy", name, STRATEGIES)
    return STRATEGIES[name]
