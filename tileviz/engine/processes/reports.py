"""How a job tells what exists before it ends: `report(kind, value)`."""

from collections.abc import Callable
from typing import Any

Report = Callable[..., None]


def quiet(*_message: Any) -> None:
    """A report that goes nowhere."""
