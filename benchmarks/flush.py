"""What the flush of L2 does to a number: the same launches after a write flush, a read flush and
none.

    python -m benchmarks.flush [--device cuda:0] [--samples 40] [--out FILE]

A write leaves dirty lines, which a memory-bound kernel then pays for; without a flush the launch
before it has the same effect, or leaves its data in L2. Medians in us.
"""

import argparse
import json
import sys
from pathlib import Path

from benchmarks.works import FLUSH, Work
from tileviz.bench import facts
from tileviz.bench.pick_timer import pick_timer
from tileviz.bench.timers import GPU_PLAN, Timer, time_callable
from tileviz.cli.terminal import printed
from tileviz.errors import TilevizError
from tileviz.formats import significant

MODES = ("write", "read", "none")


def measure(work: Work, device: str, timers: dict[str, Timer], samples: int) -> dict:
    """{"name", "kind", "write", "read", "none"}: medians in us, with the spread of each."""
    from dataclasses import replace

    plan = replace(GPU_PLAN, min_samples=samples, max_samples=samples)
    run = work.make(device)
    timings = {mode: time_callable(run, timer, plan) for mode, timer in timers.items()}
    spread = {f"{mode}_p10_p90": [t.p10_us, t.p90_us] for mode, t in timings.items()}
    return {
        "name": work.name,
        "kind": work.kind,
        **{mode: t.median_us for mode, t in timings.items()},
        **spread,
    }


def table(rows: list[dict], timer: str) -> str:
    """The rows as text, with how much the write flush adds."""
    lines = [
        f"{'kernel':<26} {'write':>9} {'read':>9} {'none':>9}   write over read   ({timer}, us)"
    ]
    for row in rows:
        more = (row["write"] / row["read"] - 1) * 100
        lines.append(
            f"{row['name']:<26} {significant(row['write']):>9}"
            f" {significant(row['read']):>9} {significant(row['none']):>9}   {more:+.1f} %"
        )
    return "\n".join(lines)


def main(words: list[str] | None = None) -> int:
    asked = _parser().parse_args(words)
    try:
        timers = {mode: pick_timer(asked.device, flush=mode) for mode in MODES}
    except TilevizError as error:
        print(f"benchmarks.flush: {error.message}", file=sys.stderr)
        return 1
    name = timers["read"].name
    rows = []
    for work in FLUSH:
        rows.append(measure(work, asked.device, timers, asked.samples))
        print(f"{work.name}: done", file=sys.stderr, flush=True)
    print(table(rows, name))
    if asked.out:
        doc = {
            "timer": name,
            "device": asked.device,
            "fingerprint": facts.fingerprint(asked.device),
            "rows": rows,
        }
        Path(asked.out).write_text(json.dumps(doc, indent=1))
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.flush",
        description="Write, read and no flush of L2, side by side.",
    )
    parser.add_argument(
        "--device", default="cuda:0", type=_gpu, help="cuda:0, ... (default: cuda:0)"
    )
    parser.add_argument(
        "--samples", type=int, default=40, help="launches of each kernel in each mode (default: 40)"
    )
    parser.add_argument("--out", metavar="FILE", help="write the table as JSON")
    return parser


def _gpu(word: str) -> str:
    if not word.startswith("cuda:"):
        raise argparse.ArgumentTypeError(
            f"'{word}' has no L2 that could be flushed; give cuda:0, ..."
        )
    return word


if __name__ == "__main__":
    sys.exit(printed(main))
