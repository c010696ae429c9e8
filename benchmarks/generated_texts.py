"""Hashes of the code that is generated today: `python -m benchmarks.generated_texts [--every N]
[--out FILE] [--compare FILE]`.

Lowers what is recorded for its target, and each kernel's own problems for the CPU and for every
target's default config, and prints a hash of each text, one line a config. Two runs, before and
after a change of how kernels are written, show by `--compare` that no generated code has changed.
Needs no GPU and no CUDA compiler: two or three CPU seconds a config.

Of what is recorded these are taken: every preset and every trial whose code is kept; with
`--every N` also each N-th of the others, `--every 1` for all of them (an hour of CPU time).
"""

import argparse
import hashlib
import json
import os
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from tileviz import kernels
from tileviz.compiler import targets
from tileviz.compiler.lowering import lower
from tileviz.errors import TilevizError
from tileviz.records import Config, Problem, canonical_json
from tileviz.store.recorded import FILE, Recorded


@dataclass(frozen=True)
class Case:
    """What is lowered: a complete problem and config of a kernel, for a target."""

    kernel: str
    target: str
    problem: Problem
    config: Config

    @property
    def name(self) -> str:
        """The case as one line of JSON: the key of its hash in a file."""
        return canonical_json([self.kernel, self.target, self.problem, self.config])


def own_cases() -> Iterator[Case]:
    """Every kernel's default and presets on the CPU, and its default problem on each target."""
    for name in kernels.names():
        kernel = kernels.kernel(name)
        for arch in targets.TARGETS:
            target = targets.target(arch)
            problems = [kernel.problem({}, target.kind)]
            if target.kind == "cpu":
                offered = (preset for preset in kernel.presets if preset.kind != "cuda")
                problems += [kernel.problem(preset.problem, "cpu") for preset in offered]
            for problem in problems:
                if target.kind == "cpu":
                    problem = {**problem, "dtype": "float32"}
                if kernel.unsupported(problem, target) is None:
                    yield Case(name, arch, problem, kernel.config({}, target, problem))


def recorded_cases(recorded: Recorded, every: int | None) -> Iterator[Case]:
    """The recorded presets, the trials whose code is kept, and each `every`-th of all others."""
    for tuned in recorded.tuned():
        yield Case(tuned.kernel, tuned.target, tuned.problem, _whole(tuned.kernel, tuned.config))
    for name in kernels.names():
        kept = {trial.trial for trial in recorded.with_code(name)}
        for number, trial in enumerate(recorded.trials(name, limit=1_000_000)):
            if trial.trial in kept or (every and number % every == 0):
                yield Case(name, trial.target, trial.problem, _whole(name, trial.config))


def _whole(kernel: str, config: Config) -> Config:
    return kernels.kernel(kernel).whole(config)


def hash_of(case: Case) -> str:
    """Hash of the case's CUDA or C text, or the first line of why there is none."""
    kernel, target = kernels.code(case.kernel), targets.target(case.target)
    try:
        made = lower(
            lambda: kernel.build(case.problem, case.config, target),
            target,
            kernel.pass_configs(case.config),
        )
    except TilevizError as error:
        return f"{type(error).__name__}: {str(error).splitlines()[0]}"
    return hashlib.sha256(made.source.encode()).hexdigest()[:16]


def changed(before: dict[str, str], now: dict[str, str]) -> list[str]:
    """The cases whose text is another than before, and those that only one of the two has."""
    return sorted(name for name in before.keys() | now.keys() if before.get(name) != now.get(name))


def main(words: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="benchmarks.generated_texts", description=__doc__)
    parser.add_argument("--every", type=int, help="also each N-th recorded trial")
    parser.add_argument("--recorded", type=Path, default=FILE, help="another recorded file")
    parser.add_argument("--out", type=Path, help="file for the hashes, as JSON")
    parser.add_argument(
        "--compare", type=Path, help="hashes of an earlier run to hold them against"
    )
    asked = parser.parse_args(words)
    os.environ.setdefault("TILELANG_CACHE_DIR", tempfile.mkdtemp(prefix="tilelang-"))
    found: dict[str, str] = {}
    for case in (*own_cases(), *recorded_cases(Recorded(asked.recorded), asked.every)):
        if case.name not in found:
            found[case.name] = hash_of(case)
            print(found[case.name], case.name, flush=True)
    if asked.out:
        asked.out.write_text(json.dumps(found, indent=1, sort_keys=True) + "\n")
    if asked.compare is None:
        return 0
    others = changed(json.loads(asked.compare.read_text()), found)
    print(f"{len(found)} texts, {len(others)} not as in {asked.compare}", *others, sep="\n")
    return 1 if others else 0


if __name__ == "__main__":
    sys.exit(main())
