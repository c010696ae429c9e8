"""Random configs through the real engine: `python -m benchmarks.random_configs --device cpu --count
500 [--seed S] [--out FILE]`.

Draws kernels, small problems of odd sizes, knobs offered and typed, and pass configs, and runs each
(or compiles it, with `--compile-only --target sm_90a`), several at a time. Every result is one line
of FILE as soon as it is there, and the next call with the same FILE goes on where the last one
ended. Prints how often each status came; the exit status is 1 when one has no name, a reason is a
traceback or raw Python, or a config hangs.
"""

import argparse
import json
import os
import random
import re
import signal
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from tileviz import kernels  # noqa: E402
from tileviz.compiler import targets  # noqa: E402
from tileviz.engine import client  # noqa: E402
from tileviz.engine.options import Measuring, Where  # noqa: E402
from tileviz.engine.requests import Request, local_devices, resolve  # noqa: E402
from tileviz.errors import BadRequest, TilevizError  # noqa: E402
from tileviz.kernels.asked import AskedKernel  # noqa: E402
from tileviz.kernels.card import Choice, Flag, Knob, Size  # noqa: E402
from tileviz.kernels.toolkit.pass_configs import (  # noqa: E402
    COMMAND_LINE_ONLY,
    OFFERED,
    choices,
    known_pass_configs,
)
from tileviz.records import STATUSES, Config, Problem, Trial  # noqa: E402
from tileviz.store import Store  # noqa: E402

REFUSED = "refused"
"""The request itself was refused in one sentence."""

NAMED = (*STATUSES, REFUSED)

MOST_FLOPS, MOST_BYTES = 3e8, 4e7
"""Work and traffic of a problem that takes a CPU about a second."""

SCALES = (None, None, 0.125, 1.0, 0.0, -0.5, 3.0)

PRINTS = (
    "tl.ast_print_enable",
    "tl.layout_visualization_enable",
    "tl.enable_vectorize_planner_verbose",
    "tl.pass_profile",
)
"""Pass configs that only fill the log or the disk."""

# Traceback (most recent call last)    KeyError: 'problems'    <object at 0x7f...>    File
# "/opt/...", line 3
RAW = re.compile(
    r"Traceback|\b[A-Z]\w*(?:Error|Exception)\b|\bat 0x[0-9a-f]+|<class '|\bFile \"|the"
    r" engine failed on this job"
)


@dataclass(frozen=True)
class Draw:
    """One config to try, as a person would give it."""

    number: int
    kernel: str
    problem: Problem
    config: Config


@dataclass(frozen=True)
class Result:
    """What came of a draw: one line of the file."""

    number: int
    kernel: str
    problem: Problem
    config: Config
    status: str
    reason: str
    seconds: float
    detail: str = ""

    @property
    def fault(self) -> str:
        """What no result may be; empty where it is none."""
        if self.status not in NAMED:
            return "a status without a name"
        if self.status != "ok" and not self.reason:
            return "no reason"
        return "a reason that is raw Python" if RAW.search(self.reason) else ""


@dataclass(frozen=True)
class Plan:
    """What the draws are made from and run on."""

    seed: int
    names: tuple[str, ...]
    target: str
    device: str | None
    """None to compile only."""
    timeout_s: float = 60.0

    def draw(self, number: int) -> Draw:
        """The same for the same seed and number, whatever was drawn before."""
        rng = random.Random(f"{self.seed} {number} {' '.join(self.names)} {self.target}")
        kernel = kernels.kernel(rng.choice(self.names))
        return Draw(
            number,
            kernel.name,
            draw_problem(kernel, self.target, rng),
            draw_config(kernel, self.target, rng),
        )

    def request(self, draw: Draw) -> Request:
        """Raises BadRequest where the draw makes no sense."""
        kind, where = (
            ("compile", Where(target=self.target))
            if self.device is None
            else ("run", Where(device=self.device))
        )
        how = Measuring(baselines=False, timeout_s=self.timeout_s)
        return resolve(
            draw.kernel, draw.problem, draw.config, kind=kind, where=where, measuring=how
        )


def draw_problem(kernel: AskedKernel, target: str, rng: random.Random) -> Problem:
    """A problem of odd and even sizes that is quick to run; the CPU target gets a dtype that it
    cannot run only now and then."""
    kind = targets.target(target).kind
    while True:
        problem = {field.name: _value(field, rng) for field in kernel.fields}
        if kind == "cpu" and rng.random() < 0.9:
            problem["dtype"] = "float32"
        cost = kernel.cost(kernel.problem(problem, kind))
        if cost.flops <= MOST_FLOPS and cost.bytes <= MOST_BYTES:
            return problem


def draw_config(kernel: AskedKernel, target: str, rng: random.Random) -> Config:
    """Some or all knobs, typed or as offered; the others are left to the kernel. Now and then pass
    configs, the offered ones more often."""
    share = rng.choice((0.15, 0.4, 1.0))
    config = {knob.name: _knob(knob, target, rng) for knob in kernel.knobs if rng.random() < share}
    for _ in range(rng.choice((0, 0, 0, 1, 1, 2))):
        name = rng.choice(tuple(OFFERED) if rng.random() < 0.6 else OTHERS)
        config[name] = rng.choice(choices(name))
    return {name: str(value) if rng.random() < 0.5 else value for name, value in config.items()}


OTHERS = tuple(
    name
    for name in known_pass_configs()
    if choices(name) and name not in (*COMMAND_LINE_ONLY, *PRINTS)
)


def _value(field, rng: random.Random) -> Any:
    if isinstance(field, Size):
        return min(max(1, int(2 ** rng.uniform(0, 11)) + rng.choice((-1, 0, 0, 1))), field.maximum)
    if isinstance(field, Choice):
        return rng.choice(field.choices)
    return rng.choice((True, False)) if isinstance(field, Flag) else rng.choice(SCALES)


def _knob(knob: Knob, target: str, rng: random.Random) -> Any:
    if knob.is_flag:
        return rng.choice((True, False))
    if knob.is_word or rng.random() < 0.7:
        return rng.choice(knob.choices if rng.random() < 0.2 else knob.offered(target))
    most = min(knob.maximum, 4 * max(knob.choices))
    if knob.power_of_two:
        return rng.choice(
            [value for power in range(20) if knob.minimum <= (value := 1 << power) <= most]
        )
    return rng.randint(-(-knob.minimum // knob.step), most // knob.step) * knob.step


class Runner:
    """Keeps some draws in flight and hands over each result when it is there."""

    def __init__(self, plan: Plan, store: Store, abreast: int) -> None:
        self.plan, self.store, self.abreast = plan, store, abreast
        self.flying: dict[str, tuple[Draw, float]] = {}

    def results(self, draws: Iterator[Draw]) -> Iterator[Result]:
        """In the order in which they end."""
        waiting = iter(draws)
        while True:
            while len(self.flying) < self.abreast and (draw := next(waiting, None)) is not None:
                yield from self._start(draw)
            if not self.flying:
                return
            yield from self._ended()
            time.sleep(0.02)

    def _start(self, draw: Draw) -> Iterator[Result]:
        try:
            self.flying[client.submit(self.store, self.plan.request(draw))] = draw, time.monotonic()
        except BadRequest as error:
            yield Result(**asdict(draw), status=REFUSED, reason=error.message, seconds=0.0)

    def _ended(self) -> Iterator[Result]:
        for job, (draw, since) in list(self.flying.items()):
            view, seconds = client.watch(self.store, job), time.monotonic() - since
            if view is None:
                raise TilevizError(f"job {job} is not in the store any more")
            if view.active and seconds < self._most_s():
                continue
            del self.flying[job]
            if view.active:
                client.cancel(self.store, job)
                yield Result(
                    **asdict(draw),
                    status="hang",
                    reason=f"{view.state} in phase '{view.phase}'",
                    seconds=round(seconds, 2),
                )
                continue
            trial = self.store.trial(view.trial) if view.trial else None
            yield self._result(draw, trial, view.state, view.reason, seconds)

    def _result(
        self, draw: Draw, trial: Trial | None, state: str, reason: str, seconds: float
    ) -> Result:
        status, why, detail = (
            (trial.status, trial.reason, trial.detail)
            if trial and state == "done"
            else (f"job {state}", reason, "")
        )
        return Result(
            **asdict(draw),
            status=status,
            reason=why,
            seconds=round(seconds, 2),
            detail=detail[-2000:],
        )

    def _most_s(self) -> float:
        """All that are in flight may have to wait for one device, each for as long as compiling and
        measuring may take."""
        return 60 + 2 * self.plan.timeout_s * (self.abreast + 1)


def stored_results(path: Path, plan: Plan) -> list[Result]:
    """What an earlier call left there. Exits when the file is of another plan."""
    if not path.exists() or not path.read_text().strip():
        path.write_text(json.dumps({"plan": asdict(plan)}) + "\n")
        return []
    first, *lines = path.read_text().splitlines()
    if json.loads(first)["plan"] != json.loads(json.dumps(asdict(plan))):
        sys.exit(f"{path} holds the results of other draws; give another file")
    return [Result(**json.loads(line)) for line in lines if line.endswith("}")]


def told(results: list[Result]) -> str:
    """Counts of each status, and every fault with its config."""
    counts = Counter(result.status for result in results)
    lines = [f"{count:>6,}  {status}" for status, count in counts.most_common()]
    for result in results:
        if result.fault or result.status in (
            "wrong_result",
            "crashed",
            "timeout",
            "runtime_failed",
            "hang",
        ):
            mark = f"FAULT ({result.fault}) " if result.fault else ""
            given = {**result.problem, **result.config}
            lines.append(
                f"{mark}#{result.number} {result.kernel} {given}: {result.status}: {result.reason}"
            )
    return "\n".join(
        [
            f"{len(results):,} configs, {sum(bool(result.fault) for result in results)} faults",
            *lines,
        ]
    )


@contextmanager
def home_of(path: Path | None) -> Generator[Path]:
    """The home to work in: the one that is given, or one that is gone afterwards. Its engine ends,
    too."""
    with tempfile.TemporaryDirectory() as fresh:
        home = path or Path(fresh)
        os.environ["TILEVIZ_HOME"] = str(home)
        os.environ.setdefault("TILEVIZ_ENGINE_IDLE", "30")
        try:
            yield home
        finally:
            end_engine(home)


def end_engine(home: Path, seconds: float = 20.0) -> None:
    pid = client.engine_pid(home)
    if pid:
        os.kill(pid, signal.SIGTERM)
    end = time.monotonic() + seconds
    while client.engine_pid(home) is not None and time.monotonic() < end:
        time.sleep(0.05)


def plan_of(asked: argparse.Namespace) -> Plan:
    names = tuple(sorted(asked.kernels.split(","))) if asked.kernels else kernels.names()
    for name in names:
        kernels.kernel(name)
    if asked.compile_only:
        return Plan(
            asked.seed, names, targets.target(asked.target or "sm_90a").name, None, asked.timeout
        )
    found = next((device for device in local_devices() if device.id == asked.device), None)
    if found is None:
        raise BadRequest(
            f"there is no device '{asked.device}' here; give cpu, or --compile-only with a --target"
        )
    return Plan(asked.seed, names, found.target, found.id, asked.timeout)


def arguments(words: list[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.random_configs", description=__doc__.partition("\n\n")[0]
    )
    parser.add_argument("--device", default="cpu", help="cpu, cuda:0, ...")
    parser.add_argument("--count", type=int, default=100, help="how many configs")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--kernels", default="", help="names with commas between; all without it")
    parser.add_argument(
        "--out", type=Path, help="one JSON line for each result; goes on where it ends"
    )
    parser.add_argument("--compile-only", action="store_true")
    parser.add_argument(
        "--target", help="what is compiled for, with --compile-only: sm_90a without it"
    )
    parser.add_argument(
        "--timeout", type=float, default=60.0, help="seconds for each step of a config"
    )
    parser.add_argument(
        "--abreast", type=int, default=2 + (os.cpu_count() or 1), help="configs in flight"
    )
    parser.add_argument("--home", type=Path, help="a home to keep; a fresh one without it")
    return parser.parse_args(words)


def main(words: list[str] | None = None) -> int:
    asked = arguments(words)
    try:
        plan = plan_of(asked)
    except BadRequest as error:
        sys.exit(error.message)
    with home_of(asked.home) as home:
        out = asked.out or home / "random_configs.jsonl"
        results = stored_results(out, plan)
        done = {result.number for result in results}
        left = (plan.draw(number) for number in range(asked.count) if number not in done)
        with open(out, "a") as file:
            for result in Runner(plan, Store(home), asked.abreast).results(left):
                results.append(result)
                print(json.dumps(asdict(result)), file=file, flush=True)
                print(
                    f"#{result.number:<4} {result.seconds:6.1f} s  {result.kernel:<16}"
                    f" {result.status}: {result.reason[:150]}",
                    flush=True,
                )
    print(told(results))
    return int(any(result.fault for result in results))


if __name__ == "__main__":
    sys.exit(main())
