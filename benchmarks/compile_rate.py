"""CPU time that compiling costs a sweep, by phase: `python -m benchmarks.compile_rate [--target
sm_90a] [--configs 82] [--workers N]`.

Runs the 82 GEMM configs of `sweep_rate` through the sweep's own pool of children, with a cold
cache, a warm fork server and a made header. Needs no GPU. CPU seconds count what a child and all it
starts spend; they grow when two of them share a core.
"""

import argparse
import json
import os
import shutil
import statistics
import sys
import tempfile
import time
from collections import deque
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from benchmarks import compile_rate as here
from benchmarks import sweep_rate
from tileviz.compiler import targets, toolchain
from tileviz.engine.jobs.background import HeaderJob
from tileviz.engine.processes.channel import with_news
from tileviz.engine.processes.lanes import ForkServer
from tileviz.engine.processes.reports import Report, quiet
from tileviz.engine.requests import Request
from tileviz.engine.sweeps.jobs import SweepCompileJob
from tileviz.engine.sweeps.pool import CompilePool, Item
from tileviz.engine.sweeps.space import space_of
from tileviz.kernels import kernel as kernel_of
from tileviz.records import Device, Trial

PARTS = {
    ("lower", 0): "lowering",
    ("compile", 0): "NVRTC",
    ("compile", 1): "host library (C compiler)",
    ("disassemble", 0): "lines and counts",
    ("disassemble", 1): "nvdisasm",
}
"""What a phase costs in the child itself (0) and in the processes it starts (1)."""


@dataclass(frozen=True)
class MeteredJob:
    """A compile of a sweep that tells its CPU seconds in place of the artifact: {(phase, 0 own or 1
    of started processes): seconds}."""

    request: Request

    def __call__(self, report: Report = quiet) -> dict[tuple[str, int], float]:
        spent: dict[tuple[str, int], float] = {}
        phase, times = "lower", os.times()

        def meter(kind: str, value: object) -> None:
            nonlocal phase, times
            if kind == "phase":
                now, before = os.times(), times
                for who, seconds in enumerate(
                    (
                        now[0] + now[1] - before[0] - before[1],
                        now[2] + now[3] - before[2] - before[3],
                    )
                ):
                    key = (phase, who)
                    spent[key] = spent.get(key, 0.0) + seconds
                phase, times = str(value), now
            report(kind, value)

        SweepCompileJob(self.request, executable=True)(meter)
        meter("phase", "")
        return spent


@contextmanager
def fork_server(target: str):
    """A fork server with nothing in its caches, warm and with the header of `target`."""
    folder = Path(tempfile.mkdtemp(prefix="tileviz-compile-"))
    os.environ["TILEVIZ_HOME"] = str(folder)
    toolchain.configure_environment(folder)
    server = ForkServer.start()
    try:
        child = server.child()
        child.send(HeaderJob(target))
        until_done(server, child)
        child.kill()
        yield server
    finally:
        server.kill()
        shutil.rmtree(folder, ignore_errors=True)


def until_done(server: ForkServer, child) -> None:
    while True:
        for ready in with_news([server.control, child.connection]):
            if ready is server.control:
                server.listen()
            elif child.connection.recv()[0] in ("done", "failed"):
                return


def compiled(
    server: ForkServer, requests: list[Request], workers: int
) -> tuple[float, list[dict[tuple[str, int], float]], int]:
    """(wall seconds, CPU seconds of each config by phase, configs that failed)."""
    pool = CompilePool(workers, server.child, server.learn_exit, 120.0)
    left, done, failed = deque(enumerate(requests)), [], 0
    began = time.perf_counter()
    while left or pool.busy:
        while left and pool.has_room:
            number, request = left.popleft()
            blank = Trial(
                str(number),
                request.kernel,
                request.problem,
                request.config,
                request.target,
                request.device,
                "ok",
            )
            pool.give(Item(number, 0, blank), here.MeteredJob(request))
        workers_by_ear = {worker.child.connection: worker for worker in pool.workers}
        for ready in with_news([server.control, *workers_by_ear], 1.0):
            if ready is server.control:
                server.listen()
            elif (told := pool.hear(workers_by_ear[ready])) is not None:
                failed += isinstance(told[1], Trial)
                done += [told[1]] if isinstance(told[1], dict) else []
    wall = time.perf_counter() - began
    pool.kill()
    return wall, done, failed


def requests_of(target: str, count: int) -> list[Request]:
    """The configs of `sweep_rate` for a target, whether or not a device of it is here."""
    described, chosen = kernel_of("gemm"), targets.target(target)
    problem = described.problem(sweep_rate.GPU_PROBLEM, "cuda")
    space = space_of(
        described,
        chosen,
        (problem,),
        sweep_rate.GPU_SPACE,
        (),
        sweep_rate.others(sweep_rate.GPU_SPACE),
        Device("", "", target),
    )
    configs = sweep_rate.some_of(space)[:count]
    return [Request("run", "gemm", problem, config, chosen.name) for config in configs]


def measured(target: str, count: int, workers: int) -> dict:
    """{configs, failed, workers, wall_s, cpu_s: {part: mean seconds a config}}"""
    with fork_server(target) as server:
        wall, done, failed = compiled(server, requests_of(target, count), workers)
    parts = (
        {name: statistics.mean(each.get(key, 0.0) for each in done) for key, name in PARTS.items()}
        if done
        else {}
    )
    return {
        "configs": len(done),
        "failed": failed,
        "workers": workers,
        "wall_s": wall,
        "cpu_s": {**parts, "all": sum(parts.values())},
    }


def main() -> int:
    words = argparse.ArgumentParser(description=__doc__.partition("\n\n")[0])
    words.add_argument("--target", default="sm_90a")
    words.add_argument("--configs", type=int, default=sweep_rate.GPU_CONFIGS)
    words.add_argument("--workers", type=int, default=os.cpu_count() or 1)
    words.add_argument("--json", metavar="FILE")
    asked = words.parse_args()
    found = measured(asked.target, asked.configs, asked.workers)
    print(
        f"{found['configs']} configs for {asked.target}, {asked.workers} children,"
        f" {os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}"
    )
    print(f"{'wall':<30} {found['wall_s']:8.2f} s, {found['failed']} failed")
    for name, seconds in found["cpu_s"].items():
        print(f"{name:<30} {seconds:8.3f} CPU s a config")
    if asked.json:
        Path(asked.json).write_text(json.dumps(found))
    return 0


if __name__ == "__main__":
    sys.exit(main())
