"""How a sweep chooses what to try next. A new strategy costs its file and its line in CLASSES."""

import importlib

from tileviz.engine.strategies.base import Strategy
from tileviz.errors import UnknownName

CLASSES = {
    "grid": "Grid",
    "random": "Random",
    "local": "Local",
    "tpe": "Tpe",
    "model": "Model",
}
"""The file of this folder, which is the strategy's name, and its class, in the order that is
offered."""

STRATEGIES: dict[str, type[Strategy]] = {
    name: getattr(importlib.import_module(f"{__name__}.{name}"), cls)
    for name, cls in CLASSES.items()
}

__all__ = ["STRATEGIES", "Strategy", "strategy"]


def strategy(name: str) -> type[Strategy]:
    """The strategy of this name. Raises UnknownName, which says what exists."""
    if name not in STRATEGIES:
        raise UnknownName.of("strategy", name, STRATEGIES)
    return STRATEGIES[name]
