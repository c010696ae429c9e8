"""Our time of a cold launch against Nsight Compute's gpu__time_duration, for twenty kernels from 1
us to 5 ms and a no-op.

    python -m benchmarks.accuracy [--device cuda:0] [--out FILE]

Launches are apart by a pause on both sides, so that no power cap slows either: like clocks. Needs
ncu and the right to read counters.
"""

import argparse
import json
import os
import sys
import time
from pathlib import Path

from benchmarks.works import ACCURACY, nothing
from tileviz.bench import clocks, facts, ncu, nvml
from tileviz.bench.pick_timer import pick_timer
from tileviz.bench.timers import Timer
from tileviz.cli.terminal import printed
from tileviz.engine.processes.lanes import package_root
from tileviz.errors import TilevizError
from tileviz.formats import significant
from tileviz.measured import quantile

REPEATS = 7
PAUSE_S = 0.01
MARKER = "spin_kernel"
"""Name of PyTorch's spin kernel, launched before each call under ncu: it tells one call's launches
from the next one's."""

SHARE, FIXED_US = 0.03, 1.5
"""What the two may differ by: 3 %, and the profiler's own fixed cost."""

WORKS = (nothing(), *ACCURACY)


def ours(device: str, timer: Timer) -> list[dict]:
    """[{"name", "us", "sm_clock_mhz"}]: medians of single cold launches."""
    handle = nvml.handle_of_torch(device)
    rows = []
    for work in WORKS:
        run = work.make(device)
        timer.settle(run, 3)
        samples, mhz = [], []
        for _ in range(3 * REPEATS):
            time.sleep(PAUSE_S)
            samples += timer.sample(run, 1)
            mhz += [] if handle is None else [clocks.look(handle).sm_clock_mhz]
        known = [value for value in mhz if value]
        rows.append(
            {
                "name": work.name,
                "kind": work.kind,
                "us": quantile(samples, 0.5),
                "sm_clock_mhz": quantile(known, 0.5) if known else None,
            }
        )
        del run
        _free()
    return rows


def target(device: str) -> None:
    """Runs under ncu: every work, marked."""
    import torch

    cudart = torch.cuda.cudart()
    with torch.cuda.device(device):
        for work in WORKS:
            run = work.make(device)
            for _ in range(3):
                run()
            torch.cuda.synchronize()
            for _ in range(REPEATS):
                time.sleep(PAUSE_S)
                cudart.cudaProfilerStart()
                torch.cuda._sleep(0)
                run()
                torch.cuda.synchronize()
                cudart.cudaProfilerStop()
            del run
            _free()


def target_command(device: str) -> list[str]:
    """The command line that ncu runs."""
    return [sys.executable, "-m", "benchmarks.accuracy", "--target", "--device", device]


def environment() -> dict[str, str]:
    """What it needs to find this project from any folder."""
    return {
        "PYTHONPATH": os.pathsep.join(
            filter(None, [str(package_root()), os.environ.get("PYTHONPATH")])
        )
    }


def theirs(launches: list[ncu.Launch]) -> list[dict]:
    """[{"us", "sm_clock_mhz"}] for each work in order, from all launches under ncu: split at the
    markers, medians over the repeats.

    A marker right after a marker is the no-op itself.
    """
    calls: list[list[ncu.Launch]] = []
    for launch in launches:
        if MARKER in launch.kernel and (not calls or calls[-1]):
            calls.append([])
        else:
            calls[-1].append(launch)
    return [_median_of(calls[i : i + REPEATS]) for i in range(0, len(calls), REPEATS)]


def compared(rows: list[dict], profiled: list[dict]) -> list[dict]:
    """One row a work, with the difference and whether it is within 3 % plus 1.5 us."""
    out = []
    for row, other in zip(rows, profiled, strict=True):
        gap = row["us"] - other["us"]
        within = abs(gap) <= SHARE * other["us"] + FIXED_US
        out.append(
            {
                **row,
                "ncu_us": other["us"],
                "ncu_sm_clock_mhz": other["sm_clock_mhz"],
                "gap_us": gap,
                "within": within,
            }
        )
    return out


def table(rows: list[dict], timer: str) -> str:
    lines = [
        f"{'kernel':<34} {timer:>9} {'ncu':>9} {'gap us':>8} {'gap %':>7}  {'MHz':>5}"
        f" {'ncu MHz':>7}  within 3 % + 1.5 us"
    ]
    for row in rows:
        mhz = [
            f"{row[name]:.0f}" if row[name] else "-"
            for name in ("sm_clock_mhz", "ncu_sm_clock_mhz")
        ]
        share = f"{row['gap_us'] / row['ncu_us'] * 100:+.1f}"
        lines.append(
            f"{row['name']:<34} {significant(row['us']):>9}"
            f" {significant(row['ncu_us']):>9} {row['gap_us']:>+8.2f} {share:>7}"
            f"  {mhz[0]:>5} {mhz[1]:>7}  {'yes' if row['within'] else 'NO'}"
        )
    return "\n".join([*lines, f"{sum(row['within'] for row in rows)} of {len(rows)} within"])


def main(words: list[str] | None = None) -> int:
    asked = _parser().parse_args(words)
    if asked.target:
        target(asked.device)
        return 0
    try:
        reason = ncu.is_available()
        if reason:
            raise TilevizError(reason)
        timer = pick_timer(asked.device)
        profiled = theirs(
            ncu.profile(
                target_command(asked.device), ncu.metrics(only_duration=True), env=environment()
            )
        )
        rows = compared(ours(asked.device, timer), profiled)
    except TilevizError as error:
        print(f"benchmarks.accuracy: {error.message}", file=sys.stderr)
        print(error.detail, file=sys.stderr)
        return 1
    print(table(rows, timer.name))
    if asked.out:
        doc = {
            "timer": timer.name,
            "device": asked.device,
            "fingerprint": facts.fingerprint(asked.device),
            "rows": rows,
        }
        Path(asked.out).write_text(json.dumps(doc, indent=1))
    return 0


def _median_of(calls: list[list[ncu.Launch]]) -> dict:
    """A call's time is the sum of its launches."""
    times = [sum(launch.duration_us or 0.0 for launch in call) for call in calls]
    mhz = [launch.sm_clock_mhz for call in calls for launch in call if launch.sm_clock_mhz]
    return {"us": quantile(times, 0.5), "sm_clock_mhz": quantile(mhz, 0.5) if mhz else None}


def _free() -> None:
    import torch

    if torch.cuda.is_available():
        torch.cuda.empty_cache()


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.accuracy", description="Our timer against Nsight Compute."
    )
    parser.add_argument("--device", default="cuda:0", help="cuda:0, ... (default: cuda:0)")
    parser.add_argument("--out", metavar="FILE", help="write the table as JSON")
    parser.add_argument("--target", action="store_true", help=argparse.SUPPRESS)
    return parser


if __name__ == "__main__":
    sys.exit(printed(main))
