"""How long a test waits for what other processes do: long enough for a machine that does much else; what has come ends the wait."""

import time
from collections.abc import Callable
from typing import TypeVar

PATIENT_S = 120.0

Found = TypeVar("Found")


def until(condition: Callable[[], Found], seconds: float = PATIENT_S, every: float = 0.02) -> Found:
    """What the condition gives as soon as it is something; fails after `seconds`."""
    end = time.monotonic() + seconds
    while not (found := condition()):
        assert time.monotonic() < end, f"not within {seconds:g} s"
        time.sleep(every)
    return found
