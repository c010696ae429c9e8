"""How fast a sweep goes, with cold caches and a warm engine: `python benchmarks/sweep_rate.py
[--device ID] [--autotuner] [--json FILE]`.

On the CPU: how much of the time since the first compile the device measures (target 80 %). On a
GPU: wall time of 82 GEMM configs at 4096^3, all checked and stored (target 15 s), how near the best
an effort of `quick` comes within 5 s (target 2 %), what each phase of a config takes in the compile
children and in the lane, CPU seconds of compiling, and with --autotuner TileLang's own on the same
configs. Prints a table and exits 1 when a target is missed.
"""

import argparse
import json
import os
import random
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import psutil

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from tileviz.engine import client, requests  # noqa: E402
from tileviz.engine.options import Measuring, Where  # noqa: E402
from tileviz.engine.sweeps import client as sweeps  # noqa: E402
from tileviz.engine.sweeps.request import Given, Searching, resolve_sweep  # noqa: E402
from tileviz.kernels import kernel  # noqa: E402
from tileviz.store import Store  # noqa: E402

CPU_PROBLEM = {"M": 512, "N": 512, "K": 512}
CPU_SPACE = {"block_M": [16, 32, 64], "block_N": [16, 32, 64, 128], "block_K": [32, 64]}
CPU_FIXED = {"num_stages": 0, "threads": 128, "enable_swizzle": False, "panel_size": 10}

GPU_PROBLEM = {"M": 4096, "N": 4096, "K": 4096, "dtype": "float16"}
GPU_SPACE = {
    "block_M": [64, 128, 256], "block_N": [64, 128, 256], "block_K": [32, 64, 128],
    "num_stages": [2, 3, 4],
    "threads": [128, 256, 512], "enable_swizzle": [True, False], "panel_size": [10],
}  # fmt: skip
GPU_CONFIGS = 82

QUICK_S = 5.0


@dataclass(frozen=True)
class Figure:
    """One measured figure and what it should be."""

    name: str
    value: float
    unit: str
    target: float | None = None
    at_least: bool = False
    note: str = ""

    @property
    def ok(self) -> bool:
        if self.target is None:
            return True
        return self.value >= self.target if self.at_least else self.value <= self.target


@contextmanager
def fresh_home() -> Generator[Store]:
    """A store with nothing in it; its engine is stopped afterwards."""
    folder = Path(tempfile.mkdtemp(prefix="tileviz-sweep-"))
    os.environ["TILEVIZ_HOME"] = str(folder)
    try:
        yield Store(folder)
    finally:
        pid = client.engine_pid(folder)
        if pid:
            process = psutil.Process(pid)
            process.terminate()
            process.wait(20)
        shutil.rmtree(folder, ignore_errors=True)


def warm(store: Store, device: str) -> None:
    """One run of another kernel: the engine is up, the fork server warm, the device's child
    alive."""
    request = requests.resolve(
        "vector_add", {"N": 4096}, where=Where(device=device), measuring=Measuring(baselines=False)
    )
    client.wait(store, client.submit(store, request), timeout=300)
    time.sleep(5.0 if device != "cpu" else 0.5)


def swept(store: Store, device: str, **settings) -> tuple[dict, list[dict]]:
    """Runs one sweep. ({wall_s, main_s, lane_busy, started}, its frame)."""
    request, space = resolve_sweep(
        "gemm", where=Where(device=device), measuring=Measuring(baselines=False), **settings
    )
    began = time.time()
    sweep = sweeps.submit(store, request, space)
    view = sweeps.wait(store, sweep, timeout=1800)
    frame = store.sweep_frame(sweep)
    times = [
        row["ended"] for row in frame if row["status"] not in ("not_run", "pruned") and row["ended"]
    ] or [began]
    said: dict[str, Any] = {
        "wall_s": time.time() - began,
        "main_s": view.seconds,
        "began": began,
        "counts": view.counts,
    }
    said |= {
        "first_s": min(times) - began,
        "last_s": max(times) - began,
        "phases": phases(store, frame),
    }
    return {**said, "lane_busy": view.notes.get("lane_busy", 0.0)}, frame


def phases(store: Store, frame: list[dict]) -> dict[str, list[float]]:
    """Wall seconds of each phase of every config: of the compile children first, then of the
    lane."""
    found: dict[str, list[float]] = {}
    for row in frame:
        trial = store.trial(row["trial"]) if row["trial"] and row["same_as"] is None else None
        for name, seconds in (trial.seconds if trial else {}).items():
            found.setdefault(name, []).append(seconds)
    return found


def phase_figures(found: dict[str, list[float]]) -> list[Figure]:
    """The median of each phase, and their sum over all configs."""
    each = [
        (name, statistics.median(values), sum(values)) for name, values in found.items() if values
    ]
    return [
        Figure(f"{name}: median of a config, all together", median, "s", note=f"{total:.1f} s")
        for name, median, total in each
    ]


def on_cpu() -> list[Figure]:
    fixed = {**others(CPU_SPACE), **CPU_FIXED}
    with fresh_home() as store:
        warm(store, "cpu")
        run, frame = swept(
            store,
            "cpu",
            problems=CPU_PROBLEM,
            values=CPU_SPACE,
            given=Given(fixed=fixed),
            searching=Searching("grid", "full"),
        )
    count = sum(row["status"] == "ok" for row in frame)
    return [
        Figure("configs checked and timed", count, ""),
        Figure("main pass", run["main_s"], "s"),
        Figure("configs a second", count / run["main_s"], "1/s"),
        Figure(
            "device lane busy since the first compile", run["lane_busy"], "", 0.8, at_least=True
        ),
        Figure("first result", run["first_s"], "s"),
        Figure("with the finals", run["wall_s"], "s"),
        *phase_figures(run["phases"]),
    ]


def on_gpu(device: str, autotuner: bool) -> list[Figure]:
    configs = eighty_two(device)
    settings = {"problems": GPU_PROBLEM, "given": Given(configs)}
    with fresh_home() as store:
        warm(store, device)
        run, frame = swept(store, device, searching=Searching("grid", "full"), **settings)
    done = [row for row in frame if row["status"] == "ok"]
    best = min((row["median_us"] for row in done), default=float("inf"))
    with fresh_home() as store:
        warm(store, device)
        quick, early = swept(store, device, searching=Searching(effort="quick"), **settings)
    soon = [
        row["median_us"]
        for row in early
        if row["status"] == "ok" and (row["ended"] - quick["began"] <= QUICK_S or row["finalist"])
    ]
    return [
        Figure("configs", len(frame), ""),
        Figure("of them right and timed", len(done), "", len(frame) * 0.5, at_least=True),
        Figure("main pass, cold cache", run["main_s"], "s", 15.0),
        Figure("first result", run["first_s"], "s"),
        Figure("last result", run["last_s"], "s"),
        Figure("with finals, all stored", run["wall_s"], "s"),
        Figure("device lane busy since the first compile", run["lane_busy"], ""),
        Figure("best", best, "us"),
        Figure("quick: configs tried", sum(row["status"] != "not_run" for row in early), ""),
        Figure(
            "quick: best within 5 s, over the best",
            min(soon, default=float("inf")) / best - 1,
            "",
            0.02,
        ),
        Figure("quick: whole", quick["wall_s"], "s"),
        *phase_figures(run["phases"]),
        *compile_cpu(next(d for d in requests.local_devices() if d.id == device).target),
        *(against(raced(device, configs), run["wall_s"]) if autotuner else ()),
    ]


def against(theirs: list[Figure], ours_s: float) -> list[Figure]:
    """The AutoTuner's figures, and how many times as long as ours, finals and all, it took."""
    return [*theirs, Figure("AutoTuner over ours", theirs[0].value / ours_s, "")]


def others(values: dict) -> dict:
    """The default of every knob that has no values: the space stays the same when the kernel gets
    new knobs."""
    return {knob.name: knob.default for knob in kernel("gemm").knobs if knob.name not in values}


def compile_cpu(target: str) -> list[Figure]:
    """CPU seconds that compiling costs a config, by part, from `compile_rate` in a process of its
    own."""
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder, "found.json")
        command = [
            sys.executable,
            "-m",
            "benchmarks.compile_rate",
            "--target",
            target,
            "--json",
            out,
        ]
        said = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
        if not out.is_file():
            return [
                Figure(
                    "compile CPU seconds: " + (said.stderr.strip().splitlines() or ["no word"])[-1],
                    0.0,
                    "",
                )
            ]
        found = json.loads(out.read_text())
    wall = Figure(
        f"compiling alone, {found['configs']} configs in {found['workers']} children",
        found["wall_s"],
        "s",
    )
    return [
        wall,
        *(
            Figure(f"compile CPU of a config: {name}", seconds, "s")
            for name, seconds in found["cpu_s"].items()
        ),
    ]


def raced(device: str, configs: list[dict]) -> list[Figure]:
    """TileLang's own AutoTuner over the same configs, in a process of its own with cold caches."""
    with tempfile.TemporaryDirectory() as folder:
        given, out = Path(folder, "configs.json"), Path(folder, "found.json")
        given.write_text(json.dumps(configs))
        command = [
            sys.executable,
            Path(__file__).resolve(),
            "--device",
            device,
            "--race",
            given,
            "--json",
            out,
        ]
        subprocess.run(command, cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        found = json.loads(out.read_text()) if out.is_file() else None
    if found is None:
        return [Figure("AutoTuner: it gave no result", 0.0, "")]
    return [
        Figure("AutoTuner: whole", found["wall_s"], "s"),
        Figure("AutoTuner: failed of those it tried", found["failed"], ""),
        Figure("AutoTuner: its best, as it says", found["says_us"], "us"),
    ]


def race(device: str, given: Path, out: Path) -> int:
    """The process of `raced`."""
    from tileviz.compiler import toolchain
    from tileviz.engine.jobs.race import RaceJob

    folder = Path(tempfile.mkdtemp(prefix="tileviz-race-"))
    try:
        toolchain.configure_environment(folder)
        request = requests.resolve(
            "gemm", GPU_PROBLEM, where=Where(device=device), measuring=Measuring(baselines=False)
        )
        found = RaceJob(request, tuple(json.loads(given.read_text())), str(folder))()
        out.write_text(
            json.dumps(
                {
                    "wall_s": found.wall_s,
                    "failed": found.failed,
                    "says_us": found.says_us,
                    "config": found.config,
                }
            )
        )
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    return 0


def eighty_two(device: str) -> list[dict]:
    """82 configs of the space that break no rule, the same ones each time."""
    _, space = resolve_sweep(
        "gemm",
        GPU_PROBLEM,
        GPU_SPACE,
        given=Given(fixed=others(GPU_SPACE)),
        where=Where(device=device),
    )
    return some_of(space)


def some_of(space) -> list[dict]:
    legal = [point.config for point in space.points() if not point.status and point.same_as is None]
    return random.Random(0).sample(legal, min(GPU_CONFIGS, len(legal)))


def table(figures: list[Figure]) -> str:
    lines = []
    for figure in figures:
        sign = (
            ""
            if figure.target is None
            else f"{'at least' if figure.at_least else 'at most'} {figure.target:g}"
        )
        lines.append(
            f"{figure.name:<48} {figure.value:>10.3f} {figure.unit:<4}"
            f" {sign or figure.note:<16} {'' if figure.ok else 'MISSED'}"
        )
    return "\n".join(lines)


def main() -> int:
    words = argparse.ArgumentParser(description=__doc__.partition("\n\n")[0])
    words.add_argument("--device", help="cpu, cuda:0, ... (default: the first GPU, else the CPU)")
    words.add_argument("--json", metavar="FILE", help="also write the figures there")
    words.add_argument(
        "--autotuner",
        action="store_true",
        help="also time TileLang's AutoTuner on the same configs (a GPU, a minute)",
    )
    words.add_argument("--race", metavar="FILE", type=Path, help=argparse.SUPPRESS)
    asked = words.parse_args()
    device = asked.device or requests.default_device(requests.local_devices()).id
    if asked.race:
        return race(device, asked.race, Path(asked.json))
    figures = on_cpu() if device == "cpu" else on_gpu(device, asked.autotuner)
    print(f"sweep on {device}, {os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}")
    print(table(figures))
    if asked.json:
        Path(asked.json).write_text(
            json.dumps(
                {"device": device, "cores": os.cpu_count(), "figures": [asdict(f) for f in figures]}
            )
        )
    return 0 if all(figure.ok for figure in figures) else 1


if __name__ == "__main__":
    sys.exit(main())
