"""What the measure lane does for one config, step by step, on this GPU: `python -m
benchmarks.lane_rate [--configs N] [--json FILE]`.

Compiles a few GEMM configs at 4096^3, then checks and times them as a sweep's lane does: alone, and
with every core busy, as a sweep's compilers keep them. Prints milliseconds of each step, and where
Python spent them. On the CPU a small GEMM, without the GPU's steps.
"""

import argparse
import cProfile
import io
import json
import os
import pstats
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from contextlib import contextmanager
from functools import partial
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from benchmarks.sweep_rate import CPU_FIXED, CPU_PROBLEM, GPU_PROBLEM, eighty_two  # noqa: E402
from tileviz.compiler import runtime, toolchain  # noqa: E402
from tileviz.engine import requests  # noqa: E402
from tileviz.engine.jobs.compile import CompileJob  # noqa: E402
from tileviz.engine.options import Measuring, Where  # noqa: E402
from tileviz.records import Trial  # noqa: E402

ALONE = Measuring(baselines=False)


def milliseconds(step: Callable[[], object], times: int = 10) -> float:
    """Median of `times` calls, after one that does not count."""
    step()
    found = []
    for _ in range(times):
        began = time.perf_counter()
        step()
        found.append((time.perf_counter() - began) * 1e3)
    return round(statistics.median(found), 3)


@contextmanager
def busy_cores(count: int):
    """`count` processes that compute, niced as a sweep's compilers are."""
    burn = "import os\nos.nice(10)\nwhile True: sum(range(100000))"
    processes = [subprocess.Popen([sys.executable, "-c", burn]) for _ in range(count)]
    try:
        time.sleep(1)
        yield
    finally:
        for process in processes:
            process.kill()
            process.wait()


def steps(bench, request, call) -> dict[str, float]:
    """Milliseconds of each step that a config costs."""
    import torch

    from tileviz.bench import draws, timers
    from tileviz.engine.sweeps.measure import MAIN_PLANS, QUICK_PLANS

    run = lambda: call(*bench.inputs, bench.output)
    timer, found = bench.timer, {}
    found["program built"] = milliseconds(
        lambda: bench.kernel.build(request.problem, request.config, bench.target)
    )
    bench.request, bench.call = request, None
    found["load: TileLang's cache"] = milliseconds(
        lambda: (setattr(bench, "call", None), bench._executable())
    )
    found["refill, launch, wait"] = milliseconds(
        lambda: (draws.refill(bench.output), run(), bench._synchronize())
    )
    found["verdict"] = milliseconds(
        lambda: bench.verdict_of(bench.output, math_mode=bench.math_mode)
    )
    found["whole check"] = milliseconds(lambda: bench._check(call))
    plans = MAIN_PLANS[bench.kind], QUICK_PLANS[bench.kind]
    for count in (1, 5, 20, 30):
        found[f"sample({count})"] = milliseconds(lambda count=count: timer.sample(run, count))
    found["warm-up of 1"] = milliseconds(lambda: timer.settle(run, 1))
    found["quick plan"] = milliseconds(lambda: timers.time_callable(run, timer, plans[1]))
    found["main plan, no clocks"] = milliseconds(lambda: timers.time_callable(run, timer, plans[0]))
    if bench.index is None:
        return found
    found["main plan, clocks"] = milliseconds(
        lambda: timers.time_callable(run, timer, plans[0], clocks=bench._watch())
    )
    found["launch on the host"] = milliseconds(run, 50)
    torch.cuda.synchronize()
    found["wait for nothing"] = milliseconds(torch.cuda.synchronize)
    found["flush and wait"] = milliseconds(lambda: (timer.flush(), torch.cuda.synchronize()))
    return {**found, **clock_steps(bench.index), **cupti_steps(timer, run)}


def clock_steps(index: int) -> dict[str, float]:
    """Milliseconds of watching the clocks."""
    from tileviz.bench import clocks, nvml

    watch = clocks.ClockWatch(index)
    with watch:
        pass
    found = {
        "clock watch in and out": milliseconds(lambda: _in_and_out(clocks.ClockWatch(index))),
        "the same, handle known": milliseconds(lambda: _in_and_out(watch)),
        "one look at the card": milliseconds(lambda: clocks.look(watch.handle)),
    }
    clock, temperature = nvml.constant("NVML_CLOCK_SM"), nvml.constant("NVML_TEMPERATURE_GPU")
    for name, function, more in (
        ("power", "nvmlDeviceGetPowerUsage", ()),
        ("reasons", "nvmlDeviceGetCurrentClocksEventReasons", ()),
        ("SM clock", "nvmlDeviceGetClockInfo", (clock,)),
        ("temperature", "nvmlDeviceGetTemperature", (temperature,)),
    ):
        found[f"  {name}"] = milliseconds(partial(nvml.read, function, watch.handle, *more))
    return found


def _in_and_out(watch) -> None:
    with watch:
        pass


def cupti_steps(timer, run) -> dict[str, float]:
    """Milliseconds of CUPTI's own steps, where it is the timer."""
    if timer.name != "cupti":
        return {}
    import torch

    from tileviz.bench.gpu_timers import _Capture, _cupti

    cupti = _cupti()
    capture = _Capture.of(cupti)
    on, off, flush = ([], [], [])
    for _ in range(10):
        times = [time.perf_counter()]
        capture.__enter__()
        times.append(time.perf_counter())
        for _ in range(5):
            run()
        torch.cuda.synchronize()
        times.append(time.perf_counter())
        cupti.activity_flush_all(1)
        times.append(time.perf_counter())
        for kind in capture.kinds:
            cupti.activity_disable(kind)
        times.append(time.perf_counter())
        on.append(times[1] - times[0])
        flush.append(times[3] - times[2])
        off.append(times[4] - times[3])
    names = {"cupti: kinds on": on, "cupti: flush of 5 launches": flush, "cupti: kinds off": off}
    return {name: round(statistics.median(found) * 1e3, 3) for name, found in names.items()}


def whole(bench, entries) -> dict[str, float]:
    """Mean milliseconds of each phase of a config, as a sweep's lane reports them."""
    spent: dict[str, list[float]] = {}
    for request, trial in entries:
        began = time.perf_counter()
        done = bench.measured(request, trial, lambda *_: None, 250.0, False)
        spent.setdefault("whole", []).append(time.perf_counter() - began)
        for name, seconds in done.seconds.items():
            spent.setdefault(name, []).append(seconds)
    return {name: round(statistics.mean(found) * 1e3, 2) for name, found in spent.items()}


def profiled(bench, entries) -> str:
    """Where Python spends the time of these configs."""
    profile, text = cProfile.Profile(), io.StringIO()
    profile.enable()
    whole(bench, entries)
    profile.disable()
    pstats.Stats(profile, stream=text).sort_stats("tottime").print_stats(28)
    return "\n".join(line for line in text.getvalue().splitlines() if line.strip())


def main() -> int:
    words = argparse.ArgumentParser(description=__doc__.partition("\n\n")[0])
    words.add_argument("--device", default="cuda:0")
    words.add_argument("--configs", type=int, default=8)
    words.add_argument("--json", metavar="FILE")
    asked = words.parse_args()
    home = Path(tempfile.mkdtemp(prefix="tileviz-lane-"))
    os.environ["TILEVIZ_HOME"] = str(home)
    try:
        return measure(asked, home)
    finally:
        shutil.rmtree(home, ignore_errors=True)


def compiled(device: str, count: int) -> list[tuple]:
    """(request, blank trial) of each config, its executable left in TileLang's cache."""
    on_cpu = device == "cpu"
    configs = (
        [{**CPU_FIXED, "block_M": 32, "block_N": 16 << i} for i in range(3)]
        if on_cpu
        else eighty_two(device)
    )
    entries = []
    for config in configs[:count]:
        request = requests.resolve(
            "gemm",
            CPU_PROBLEM if on_cpu else GPU_PROBLEM,
            config,
            where=Where(device=device),
            measuring=ALONE,
        )
        if not on_cpu:
            runtime.prepare(request.target)
        print("compiled", CompileJob(request, executable=True)().seconds, flush=True)
        facts = request.kernel, request.problem, request.config, request.target, request.device
        entries.append((request, Trial(request.key[:12], *facts, "ok", key=request.key)))
    return entries


def measure(asked, home: Path) -> int:
    toolchain.configure_environment(home)
    runtime.warm_up(home)
    entries = compiled(asked.device, asked.configs)
    from tileviz.engine.sweeps.measure import bench_of

    began = time.perf_counter()
    bench = bench_of(entries[0][0])
    bench.get_ready()
    found = {
        "get ready, s": round(time.perf_counter() - began, 2),
        "first round": whole(bench, entries),
        "quiet": whole(bench, entries),
    }
    with busy_cores(os.cpu_count() or 1):
        found["cores busy"] = whole(bench, entries)
    request = entries[0][0]
    bench.request, bench.call = request, None
    found["steps"] = steps(bench, request, bench._executable())
    with busy_cores(os.cpu_count() or 1):
        found["steps, cores busy"] = steps(bench, request, bench._executable())
    print(json.dumps(found, indent=1))
    print(profiled(bench, entries))
    if asked.json:
        Path(asked.json).write_text(json.dumps(found))
    return 0


if __name__ == "__main__":
    sys.exit(main())
