"""TileLang's own AutoTuner over a list of configs, as a peer to race against: it tries every one and tells only its best.

For a process of its own: it runs threads that cannot be stopped, prints as it likes, and writes autotuner.log into the working folder.
"""

import inspect
import shlex
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from tileviz.compiler import lowering
from tileviz.errors import RuntimeFailed
from tileviz.records import Config, Target

LOG = "autotuner.log"

LOST = ("Compilation failed for config", "An error occurred while testing config", "A timeout occurred while testing config")
"""How its log begins the line of a config that gave no time."""

ALL_FAILED = "TileLang's AutoTuner found no config that compiles and runs"


@dataclass(frozen=True)
class Tuned:
    """What it told."""

    config: Config
    """Its best config: knobs, then pass configs."""
    latency_us: float
    """As it says: the mean of 100 launches by CUDA events, a cold L2 before each."""
    seconds: float
    """Wall time of `run`."""
    tried: int
    failed: int
    """Configs that gave no time, by its log."""


def tuned(
    build: Callable[[Config], object],
    configs: Sequence[Config],
    target: Target,
    supply: Callable[[], list],
    outputs: Sequence[int] = (-1,),
) -> Tuned:
    """Runs `AutoTuner.from_kernel` with its own defaults, results unchecked, over full configs of the same knobs.

    `build(config)` gives the program; `supply()` its inputs on the current device; `outputs` are the places of the others among its
    parameters, which the AutoTuner makes itself: none where all is written in place. Call in the folder that may take autotuner.log.
    Raises RuntimeFailed, with its log as detail, when no config works.
    """
    lowering.imported()
    from tilelang.autotuner import AutoTuner

    tuner = AutoTuner.from_kernel(_program(build, configs), [as_autotune_takes(config) for config in configs])
    tuner.set_compile_args(out_idx=list(outputs), target=lowering.tvm_target(target))
    tuner.set_profile_args(supply_prog=lambda _params: supply(), skip_check=True)
    began = time.perf_counter()
    try:
        found = tuner.run()
    except Exception as error:
        first = next(iter(str(error).strip().splitlines()), "no message")
        sentence = ALL_FAILED if "No configuration successfully compiled" in str(error) else f"TileLang's AutoTuner failed: {first}"
        raise RuntimeFailed(sentence, _log()) from error
    seconds = time.perf_counter() - began
    best = next(config for config in configs if as_autotune_takes(config) == dict(found.config))
    return Tuned(best, 1000 * float(found.latency), seconds, len(configs), sum(map(line_is_lost, _log().splitlines())))


def as_autotune_takes(config: Config) -> dict:
    """Knobs as they are; pass configs under `pass_configs`, compiler flags as a list of words."""
    knobs = {name: value for name, value in config.items() if "." not in name}
    passes = {name: value for name, value in config.items() if "." in name}
    if isinstance(passes.get(lowering.DEVICE_FLAGS), str):
        passes[lowering.DEVICE_FLAGS] = shlex.split(passes[lowering.DEVICE_FLAGS])
    return {**knobs, "pass_configs": passes} if passes else knobs


def line_is_lost(line: str) -> bool:
    """True for `2026-11-29 12:00:00,000 DEBUG:Compilation failed for config {...}`."""
    return any(words in line for words in LOST)


def _program(build: Callable[[Config], object], configs: Sequence[Config]) -> Callable:
    """A function with the knobs as parameters and no closure: the AutoTuner reads both."""

    def program(*, _build=build, **knobs):
        return _build(knobs)

    names = [name for name in configs[0] if "." not in name]
    program.__dict__["__signature__"] = inspect.Signature([inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY) for name in names])
    return program


def _log() -> str:
    path = Path(LOG)
    return path.read_text(errors="replace") if path.is_file() else ""
