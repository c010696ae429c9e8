"""Every kernel against its baselines on this device, through the engine: a table, and JSON.

    python -m benchmarks.kernels [--quick] [--kernel NAME ...] [--case TEXT ...] [--device ID]
        [--out FILE] [--against FILE]

With `--out` a stopped run goes on where it ended. `--against` sets the result beside an earlier
one: how well two runs agree.
"""

import argparse
import json
import os
import statistics
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from benchmarks.problems import AGAINST, judged
from tileviz.cli.terminal import printed
from tileviz.engine import client, presets
from tileviz.engine.options import Measuring, Where
from tileviz.engine.requests import local_devices, resolve
from tileviz.errors import BadRequest, TilevizError
from tileviz.formats import (
    assignments,
    compared_value,
    compared_with,
    duration_us,
    percent,
    significant,
)
from tileviz.measured import BaselineResult, fastest_baseline
from tileviz.records import Device, Trial, canonical_json
from tileviz.records_json import to_json, trial_from_json
from tileviz.store import Store, StoreWithRecorded


@dataclass(frozen=True)
class Case:
    """A kernel and what of its problem differs from the device's default."""

    kernel: str
    problem: dict[str, Any] = field(default_factory=dict)
    baselines: tuple[str, ...] = ()
    """Names; empty for all of them."""

    @property
    def words(self) -> str:
        return f"{self.kernel} {assignments(self.problem)}".strip()


GPU_QUICK = (
    Case("vector_add", {"N": 1 << 26, "dtype": "float32"}),
    Case("gemm", {"M": 4096, "N": 4096, "K": 4096}),
    Case("gemm_bias_gelu", {"M": 8192, "N": 4096, "K": 1024}),
    Case("softmax", {"M": 8192, "N": 8192}),
    Case("flash_attention", {"B": 4, "H": 16, "Sq": 4096, "Sk": 4096, "D": 128}),
)
CPU_QUICK = tuple(
    Case(name) for name in ("vector_add", "gemm", "gemm_bias_gelu", "softmax", "flash_attention")
)
CPU = (
    *CPU_QUICK,
    Case("gemm", {"M": 250, "N": 231, "K": 243}),
    Case("softmax", {"M": 1000, "N": 1000}),
)


def cases(
    device: Device, quick: bool, only: list[str] | None = None, texts: list[str] | None = None
) -> tuple[Case, ...]:
    """The quick cases, or all by which a kernel is judged; `only` these kernels, and cases in whose
    words one of the `texts` is."""
    if device.id == "cpu":
        chosen = CPU_QUICK if quick else CPU
    elif quick:
        chosen = GPU_QUICK
    else:
        chosen = tuple(
            Case(kernel, problem, AGAINST[kernel])
            for kernel, problems in judged().items()
            for problem in problems
        )
    found = (case for case in chosen if not only or case.kernel in only)
    return tuple(case for case in found if not texts or any(text in case.words for text in texts))


def measure(store: Store, case: Case, device: Device) -> Trial:
    """One trial, always measured anew. Raises TilevizError when the job gave none."""
    known = presets.known(store, case.kernel)
    how = Measuring(timeout_s=300, only_baselines=tuple(case.baselines))
    request = resolve(
        case.kernel, case.problem, where=Where(device=device.id), measuring=how, presets=known
    )
    job = client.wait(
        store,
        client.submit(store, request),
        on_phase=lambda job: _say(f"  {case.words}: {job.phase or job.state}"),
    )
    trial = store.trial(job.trial) if job.trial else None
    if trial is None:
        raise TilevizError(
            f"{case.words}: the job ended as {job.state}: {job.reason or 'no reason was given'}"
        )
    return trial


def row(case: str, trial: Trial) -> dict[str, Any]:
    """What the table shows of a trial, and the trial itself without its samples."""
    best = fastest_baseline(trial.baselines)
    return {
        "case": case,
        "status": trial.status,
        "us": trial.timing.median_us if trial.timing else None,
        "tflops": trial.tflops,
        "gbps": trial.gbps,
        "best": best.name if best else None,
        "best_us": best.timing.median_us if best and best.timing else None,
        "speedup": best.speedup if best else None,
        "verdict": best.comparison.verdict if best and best.comparison else None,
        "trial": _without_samples(to_json(trial)),
    }


def table(rows: list[dict[str, Any]]) -> str:
    """One line a case, and under it every baseline with its status."""
    lines = [f"{'case':<58} {'ours':>9} {'rate':>13} {'of ceilings':>15}   fastest baseline"]
    for entry in rows:
        trial = trial_from_json(entry["trial"])
        lines.append(_case_line(entry, trial))
        lines += [f"    {b.title:<30} {_baseline_words(b)}" for b in trial.baselines]
    return "\n".join(lines)


def means(rows: list[dict[str, Any]]) -> str:
    """For each kernel and dtype the geometric mean of how many times as fast ours is as the fastest
    baseline, the range, and the cases."""
    found: dict[tuple[str, str], list[float]] = {}
    for entry in rows:
        if entry["speedup"]:
            found.setdefault(
                (entry["trial"]["kernel"], entry["trial"]["problem"]["dtype"]), []
            ).append(entry["speedup"])
    lines = [
        f"{'kernel':<18} {'dtype':<9} {'cases':>5} {'mean':>6} {'least':>6} {'most':>6}  "
        " times as fast as the fastest baseline"
    ]
    for (kernel, dtype), ratios in found.items():
        words = (
            significant(ratio)
            for ratio in (statistics.geometric_mean(ratios), min(ratios), max(ratios))
        )
        lines.append(
            f"{kernel:<18} {dtype:<9} {len(ratios):>5} " + " ".join(f"{word:>6}" for word in words)
        )
    return "\n".join(lines)


def agreement(rows: list[dict[str, Any]], earlier: list[dict[str, Any]]) -> str:
    """How far two runs of the same cases are apart, absolutely and as a ratio to the fastest
    baseline of the first."""
    before = {entry["case"]: entry for entry in earlier}
    lines = [
        f"{'case':<58} {'us':>9} {'earlier':>9} {'apart':>8} {'ratio':>7} {'earlier':>7}"
        f" {'apart':>8}"
    ]
    for entry in rows:
        other = before.get(entry["case"])
        if other is None or not entry["us"] or not other["us"]:
            continue
        now, then = (_ratio(e, other["best"]) for e in (entry, other))
        apart = f"{(now / then - 1) * 100:+.2f} %" if now and then else "-"
        shown = [significant(ratio) if ratio else "-" for ratio in (now, then)]
        absolute = f"{(entry['us'] / other['us'] - 1) * 100:+.2f} %"
        lines.append(
            f"{entry['case']:<58} {significant(entry['us'], 4):>9}"
            f" {significant(other['us'], 4):>9} {absolute:>8}"
            f" {shown[0]:>7} {shown[1]:>7} {apart:>8}"
        )
    return "\n".join(lines)


def main(words: list[str] | None = None) -> int:
    asked = _parser().parse_args(words)
    try:
        device = _device(asked.device)
        chosen = cases(device, asked.quick, asked.kernel, asked.case)
        if not chosen:
            asked_for = (
                f"is of {asked.kernel or 'any kernel'} and has one of"
                f" {asked.case or 'any words'} in it"
            )
            raise BadRequest(f"no case for {device.id} {asked_for}")
        rows = _run(StoreWithRecorded(), device, chosen, asked.out)
    except TilevizError as error:
        print(f"benchmarks.kernels: {error.message}", file=sys.stderr)
        return 1
    print(f"{device.id}: {device.name}")
    print(table(rows))
    print(means(rows))
    if asked.against:
        print(agreement(rows, json.loads(Path(asked.against).read_text())["rows"]))
    return 0 if all(entry["status"] == "ok" for entry in rows) else 1


def _run(
    store: Store, device: Device, chosen: tuple[Case, ...], out: str | None
) -> list[dict[str, Any]]:
    rows = _done(out, device)
    for case in chosen:
        if any(entry["case"] == case.words for entry in rows):
            _say(f"{case.words}: measured before")
            continue
        _say(case.words)
        rows.append(row(case.words, measure(store, case, device)))
        _write(out, device, rows)
    order = {case.words: number for number, case in enumerate(chosen)}
    return sorted(
        (entry for entry in rows if entry["case"] in order), key=lambda entry: order[entry["case"]]
    )


def _done(out: str | None, device: Device) -> list[dict[str, Any]]:
    """Rows of an unfinished run of the same device and versions."""
    if out is None or not Path(out).exists():
        return []
    try:
        doc = json.loads(Path(out).read_text())
    except (OSError, ValueError) as error:
        raise TilevizError(
            f"{out} cannot be read as an earlier result ({error}); give another file"
        ) from error
    if canonical_json(doc.get("fingerprint")) != canonical_json(device.fingerprint):
        raise TilevizError(f"{out} is of another device or other versions; give another file")
    return doc["rows"]


def _write(out: str | None, device: Device, rows: list[dict[str, Any]]) -> None:
    """Replaces the file in one step, so that a stop leaves the old one or the new one."""
    if out is None:
        return
    beside = Path(f"{out}.part")
    beside.write_text(
        json.dumps(
            {
                "device": device.id,
                "name": device.name,
                "fingerprint": device.fingerprint,
                "rows": rows,
            },
            indent=1,
        )
    )
    os.replace(beside, out)


def _device(name: str | None) -> Device:
    devices = local_devices()
    found = devices[0] if name is None else next((d for d in devices if d.id == name), None)
    if found is None:
        raise TilevizError(f"no device '{name}' here; there is {', '.join(d.id for d in devices)}")
    return found


def _case_line(entry: dict[str, Any], trial: Trial) -> str:
    if trial.timing is None:
        return f"{entry['case']:<58} {trial.status}: {trial.reason}"
    rate = _rate(trial)
    point = trial.roofline
    shares = f"{percent(point.fraction)} {percent(point.fraction_measured)}" if point else ""
    best = fastest_baseline(trial.baselines)
    told = "none"
    if best and best.timing and best.comparison:
        told = (
            f"{best.name} {duration_us(best.timing.median_us)}: ours"
            f" {compared_with(best.comparison, 'it')}"
        )
    return (
        f"{entry['case']:<58} {duration_us(trial.timing.median_us):>9} {rate:>13}"
        f" {shares:>15}   {told}"
    )


def _rate(trial: Trial) -> str:
    """GB/s where memory binds, else TFLOPS, or GFLOPS below one."""
    if trial.tflops and (trial.roofline is None or trial.roofline.bound == "compute"):
        return (
            f"{significant(trial.tflops)} TFLOPS"
            if trial.tflops >= 1
            else f"{significant(trial.tflops * 1000)} GFLOPS"
        )
    return f"{significant(trial.gbps)} GB/s" if trial.gbps else "-"


def _baseline_words(baseline: BaselineResult) -> str:
    if baseline.status != "ok":
        return f"{baseline.status}: {baseline.reason}"
    speedup = compared_value(baseline.comparison) if baseline.comparison else "not compared"
    compiled = f", compiled in {baseline.compile_s:.1f} s" if baseline.compile_s else ""
    time = duration_us(baseline.timing.median_us) if baseline.timing else "-"
    return f"{time:>9} {speedup}, {baseline.math_mode}{compiled}  {baseline.kernel_name[:100]}"


def _ratio(entry: dict[str, Any], name: str | None) -> float | None:
    found = next((b for b in entry["trial"]["baselines"] if b["name"] == name), None)
    return found["speedup"] if found else None


def _without_samples(doc: dict[str, Any]) -> dict[str, Any]:
    """Thins the samples out to their median, p10 and p90, which give the same median again."""
    for timing in (doc.get("timing"), *(b.get("timing") for b in doc.get("baselines", ()))):
        if timing:
            timing["samples_us"] = [timing["p10_us"], timing["median_us"], timing["p90_us"]]
            timing["earlier_us"] = []
    return doc


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.kernels",
        description="Every kernel against its baselines on this device.",
    )
    parser.add_argument("--quick", action="store_true", help="one problem a kernel")
    parser.add_argument("--kernel", nargs="+", metavar="NAME", help="only these kernels")
    parser.add_argument(
        "--case",
        nargs="+",
        metavar="TEXT",
        help="only cases whose line has one of these in it, as in 'Sq=512 '",
    )
    parser.add_argument(
        "--device", metavar="ID", help="cpu, cuda:0, ... (default: the first GPU, else the CPU)"
    )
    parser.add_argument(
        "--out",
        metavar="FILE",
        help="write JSON after each case; a file that is there is gone on with",
    )
    parser.add_argument("--against", metavar="FILE", help="an earlier --out to set this run beside")
    return parser


def _say(words: str) -> None:
    print(words, file=sys.stderr, flush=True)


if __name__ == "__main__":
    sys.exit(printed(main))
