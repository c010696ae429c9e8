"""Puts a stand-in in the place of what a module or class of another package holds."""

from typing import Any


def replace(owner: Any, name: str, value: Any) -> None:
    """The owner has the value under this name from now on, to the end of the process: a child that
    opens one file and ends with it. What took the old value before keeps it."""
    setattr(owner, name, value)
