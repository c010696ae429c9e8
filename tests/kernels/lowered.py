"""Lowers a kernel for a CUDA target, with what the rules say beside what came out. Needs no GPU and no CUDA compiler."""

import functools
import json
import os
import re
import tempfile
from dataclasses import dataclass

from tileviz import kernels
from tileviz.compiler.lowering import lower
from tileviz.compiler.targets import target
from tileviz.errors import CompileFailed
from tileviz.records import Estimate

BARRIER_BYTES = 1024
"""Static shared memory of barriers, with the padding up to the dynamic part."""


@dataclass(frozen=True)
class Outcome:
    """What the rules foresaw and what TileLang made."""

    estimate: Estimate
    source: str = ""
    threads: int = 0
    shared_bytes: int = 0
    error: str = ""
    limit_bytes: int = 0

    @property
    def runs(self) -> bool:
        """It lowered, and a block of it fits on the target."""
        return not self.error and self.shared_bytes <= self.limit_bytes and self.threads <= 1024


def lowered(name: str, arch: str, problem: dict | None = None, config: dict | None = None) -> Outcome:
    """The outcome of one config; knobs that are not given take what suits the problem and target."""
    return _lowered(name, arch, json.dumps(problem), json.dumps(config))


@functools.cache
def _lowered(name: str, arch: str, problem: str, config: str) -> Outcome:
    """Each once in a process: several tests read the same text."""
    os.environ.setdefault("TILELANG_CACHE_DIR", tempfile.mkdtemp(prefix="tilelang-"))
    kernel, chosen = kernels.code(name), target(arch)
    full = kernel.problem(json.loads(problem))
    knobs = kernel.config(json.loads(config), chosen, full)
    estimate, limit = kernel.rules(full, knobs, chosen), chosen.limits.shared_per_block_bytes
    try:
        made = lower(lambda: kernel.build(full, knobs, chosen), chosen, kernel.pass_configs(knobs))
    except CompileFailed as error:
        return Outcome(estimate, error=error.detail or error.message, limit_bytes=limit)
    (launch,) = made.launches
    shared = launch.dynamic_shared_bytes + (BARRIER_BYTES if re.search(r"uint64_t \w+_mem\[", made.source) else 0)
    return Outcome(estimate, made.source, launch.threads, shared, limit_bytes=limit)
