"""Picks the best config of a Triton program that a kernel has as a baseline.

Imports neither Triton nor torch when read. Every config that runs is checked like any other output; the fastest right one, by the
trial's own timer, is the baseline, and its config is part of the kernel's name.
"""

import math
import time
from collections.abc import Callable
from typing import Any, NoReturn

from tileviz.errors import CompileFailed
from tileviz.measured import quantile

from .timers import Plan, time_callable

PICK_PLAN = Plan(warmup=3, max_seconds=0.15, min_samples=20, max_samples=30)
"""How long each config is timed to find the fastest; the winner is timed again like every baseline."""

FINAL_PLAN = Plan(warmup=1, max_seconds=0.15, min_samples=25, max_samples=25)
FINAL_ROUNDS = 4
NEAR = 1.05
"""Configs within this of the fastest are timed again in turn, so that the same one is picked in every run."""

TIED = 1.005
"""Within this of the fastest, the first of the list is picked."""

LEAST_CAPABILITY = (8, 0)


def tuned(baseline, setting) -> tuple[Callable, str, float]:
    """(call of the fastest right config, its words, seconds it took to find). Raises CompileFailed when no config is right.

    `baseline` is a `kernels.toolkit.triton_baseline.TritonBaseline`, `setting` a `baselines.Setting`.
    """
    import torch

    start = time.perf_counter()
    capability = torch.cuda.get_device_capability(setting.device)
    if capability < LEAST_CAPABILITY:
        raise CompileFailed(f"written for compute capability {LEAST_CAPABILITY[0]}.{LEAST_CAPABILITY[1]} or newer")
    tried = [Attempt(config) for config in baseline.configs(setting.problem, capability)]
    for attempt in tried:
        attempt.run(baseline, setting)
    right = [attempt for attempt in tried if attempt.median_us < math.inf]
    if not right:
        why = "\n".join(f"{words(a.config)}: {a.reason}" for a in tried)
        raise CompileFailed(f"none of {len(tried)} Triton configs ran and was right; the first: {tried[0].reason}", why)
    best = picked(right, setting)
    said = f"{words(best.config)}: the fastest of {len(right)} right configs of {len(tried)}"
    return best.call, said, time.perf_counter() - start


def words(config: dict[str, Any]) -> str:
    """`block_M=128 num_warps=8 tma`: a config as it is shown."""
    return " ".join(name if value is True else f"{name}={value}" for name, value in config.items() if value is not False)


def picked(right: list["Attempt"], setting) -> "Attempt":
    """The fastest config: those near it are timed again in turn, and of a tie the first in the list is taken."""
    least = min(attempt.median_us for attempt in right)
    near = [attempt for attempt in right if attempt.median_us <= NEAR * least]
    if len(near) == 1:
        return near[0]
    samples: dict[int, list[float]] = {i: [] for i in range(len(near))}
    for _ in range(FINAL_ROUNDS):
        for i, attempt in enumerate(near):
            samples[i] += time_callable(setting.run_of(attempt.call), setting.timer, FINAL_PLAN, setting.l2).samples_us
    medians = [quantile(samples[i], 0.5) for i in range(len(near))]
    return next(attempt for attempt, median in zip(near, medians) if median <= TIED * min(medians))


class Attempt:
    """One config on its way: compiled, checked, timed; or the reason why not."""

    def __init__(self, config: dict[str, Any]) -> None:
        self.config = config
        self.call: Callable = _not_ready
        self.median_us = math.inf
        """Until it ran and was right."""
        self.reason = ""

    def run(self, baseline, setting) -> None:
        try:
            call = baseline.program(setting.problem, self.config)
            verdict = setting.verdict_of(setting.once(call), math_mode=baseline.math_mode(setting.problem), roundings=1)
            if not verdict.ok:
                self.reason = f"wrong: {verdict.reason}"
                return
            timing = time_callable(setting.run_of(call), setting.timer, PICK_PLAN, setting.l2)
        except Exception as failure:  # Triton's compiler and launcher raise classes of their own: too much shared memory, no layout
            self.reason = f"{type(failure).__name__}: {next(iter(str(failure).strip().splitlines()), '')}"
            return
        self.call, self.median_us = call, timing.median_us


def _not_ready(*_inputs) -> NoReturn:
    raise CompileFailed("this config was never compiled")
