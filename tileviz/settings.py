"""The settings that people give by environment variables: each is read and checked here alone, so that the front door can refuse one.

`TILEVIZ_HOME` is a folder, which `store.home` makes and refuses.
"""

import os
from collections.abc import Callable
from pathlib import Path

from tileviz.errors import BadValue

HOME = "TILEVIZ_HOME"
TOKEN = "TILEVIZ_TOKEN"
ENGINE_IDLE = "TILEVIZ_ENGINE_IDLE"
COMPILE_WORKERS = "TILEVIZ_COMPILE_WORKERS"
CUDA_COMPILER = "TILEVIZ_CUDA_COMPILER"
RECORDED = "TILEVIZ_RECORDED"
DEBUG = "TILEVIZ_DEBUG"

NO_RECORDED = "none"
"""The word that leaves out the recorded results."""

CUDA_COMPILERS = ("nvrtc", "nvcc")


def home() -> str:
    """The folder that was named, or "" for the default one."""
    return os.environ.get(HOME, "")


def token() -> str:
    """What a page asks for, or "" for nothing."""
    return os.environ.get(TOKEN, "")


def debug() -> bool:
    return os.environ.get(DEBUG) == "1"


def engine_idle_s() -> float:
    """Seconds without work after which the engine ends. Raises BadValue."""
    return _number(ENGINE_IDLE, float, 600.0, (0, 10_000_000), "seconds from 0 to 10,000,000")


def compile_workers() -> int | None:
    """How many configs of a sweep are compiled side by side; None where that is left to the machine. Raises BadValue."""
    return _number(COMPILE_WORKERS, int, None, (1, 1024), "a whole number from 1 to 1,024")


def cuda_compiler() -> str:
    """`nvrtc` or `nvcc` where one is forced, else "". Raises BadValue."""
    said = os.environ.get(CUDA_COMPILER, "")
    if said and said.lower() not in CUDA_COMPILERS:
        raise _wrong(CUDA_COMPILER, f"{' or '.join(CUDA_COMPILERS)}")
    return said.lower()


def recorded() -> str:
    """Another file of recorded results, NO_RECORDED, or "" for the one that comes with tileviz."""
    return os.environ.get(RECORDED, "")


def _recorded_is_there() -> None:
    said = recorded()
    if said and said != NO_RECORDED and not Path(said).is_file():
        raise _wrong(RECORDED, f"a file of recorded results, or {NO_RECORDED}")


CHECKED: tuple[Callable, ...] = (engine_idle_s, compile_workers, cuda_compiler, _recorded_is_there)


def problems() -> list[str]:
    """A sentence for each setting that cannot be meant."""
    found = []
    for read in CHECKED:
        try:
            read()
        except BadValue as error:
            found.append(error.message)
    return found


def check() -> None:
    """Raises BadValue for the first setting that cannot be meant."""
    for read in CHECKED:
        read()


def _number(name: str, kind: type, default, bounds: tuple[float, float], takes: str):
    said = os.environ.get(name, "")
    if not said:
        return default
    try:
        value = kind(said)
    except ValueError:
        raise _wrong(name, takes) from None
    if not bounds[0] <= value <= bounds[1]:
        raise _wrong(name, takes)
    return value


def _wrong(name: str, takes: str) -> BadValue:
    return BadValue(f"{name} is '{os.environ[name]}'; give {takes}, or unset it")
