"""Records the results that come with tileviz, on a GPU, with the tool itself: sweeps, baselines,
ceilings, presets, and the code of a few.

    python -m benchmarks.record --seconds 480 --out tileviz/data/recorded.db [--device cuda:0]
        [--kernel NAME ...] [--baselines WHICH]
    python -m benchmarks.record --from HOME --out tileviz/data/recorded.db

What is in TILEVIZ_HOME already is not run again, so a recording that ran out of time goes on when
it is started again; each start writes the file with what there is. `--from` only makes the file, of
another home that is left as it is. Plans: benchmarks/recorded_plans.py.
"""

import argparse
import shutil
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from benchmarks.problems import AGAINST
from benchmarks.recorded_plans import PLANS, Plan, full_problems, shared_configs, wide_configs
from tileviz.bench.baselines import MAX_AUTOTUNE
from tileviz.cli.terminal import printed
from tileviz.compiler import targets
from tileviz.engine import client, presets
from tileviz.engine.jobs import ceilings, importance
from tileviz.engine.jobs.ceilings import stored_ceilings
from tileviz.engine.options import Measuring, Where
from tileviz.engine.requests import baseline_names, local_devices
from tileviz.engine.sweeps import client as sweeps
from tileviz.engine.sweeps.request import Given, Searching, resolve_sweep
from tileviz.errors import TilevizError
from tileviz.formats import assignments, duration_us, rates, seconds, significant, size_bytes
from tileviz.kernels import kernel as kernel_of
from tileviz.kernels import names
from tileviz.records import Config, Device, Problem, canonical_json
from tileviz.store import Store
from tileviz.store.recording import Recording, record
from tileviz.store.sweeps import SweepView

WIDE_SHARE = 0.55
"""Of a kernel's time, for the wide sweep; its finals and baselines come on top, and the shared
sweep takes the rest."""

MAIN_PASS = 0.6
"""Share of a sweep's time for its main pass: the rest is for finals and baselines."""

CODE_OF_BEST = 3
"""Configs of the wide sweep that keep their code, beside the default; of every other problem the
best one does."""

CONFIG_S = 20.0
"""Most seconds for compiling a config, and again for its check and timing: one that hangs costs
this much."""

LEAST_S = 5.0

WAIT_S = 60.0
"""Most seconds for what is small: ceilings, importance."""


@dataclass(frozen=True)
class Recorder:
    """Where it is recorded, and until when."""

    store: Store
    device: Device
    deadline: float
    """`time.monotonic()` at which nothing new is begun."""
    baselines: str

    @property
    def left_s(self) -> float:
        return self.deadline - time.monotonic()

    def run(self, plans: Sequence[Plan]) -> list[str]:
        """Records every plan; gives what was left out for lack of time."""
        self._ceilings()
        left = []
        weights = [(plan, part) for part in ("wide", "shared") for plan in plans]
        for place, (plan, part) in enumerate(weights):
            ahead = sum(_weight(*entry) for entry in weights[place:])
            budget = self.left_s * _weight(plan, part) / ahead
            if budget < LEAST_S:
                left.append(f"{part} sweep of {plan.kernel}")
                continue
            self._sweep(plan, part, budget)
        return left

    def _ceilings(self) -> None:
        if stored_ceilings(self.device.id, self.store) is None:
            say("ceilings")
            self._done(ceilings.submit(self.store, self.device.id))

    def _sweep(self, plan: Plan, part: str, budget_s: float) -> None:
        """Runs a sweep, or goes on with it, or leaves it when it is done."""
        problems = full_problems(plan)[:1] if part == "wide" else full_problems(plan)
        before = stored_sweep(self.store, plan.kernel, problems)
        if before is not None and before.state == "done" and not before.reason:
            say(f"{plan.kernel}, {part}: recorded before")
            return
        say(f"{plan.kernel}, {part}: {seconds(budget_s)}")
        if before is not None:
            spent = before.seconds + MAIN_PASS * budget_s
            sweeps.resume(
                self.store, before.id, {"seconds": spent, "trials": None, "patience": None}
            )
            sweep = before.id
        else:
            sweep = self._submitted(plan, part, problems, MAIN_PASS * budget_s)
        view = self._waited(sweep)
        say(
            f"  {sweep}: {view.state}{f', {view.reason}' if view.reason else ''};"
            f" {counts_words(view)}"
        )
        self._importance(view)

    def _submitted(self, plan: Plan, part: str, problems: list[Problem], main_s: float) -> str:
        target = targets.target(self.device.target)
        if part == "wide":
            configs = wide_configs(plan, target)
        else:
            configs = shared_configs(plan, target, self._best_configs(plan))
        request, space = resolve_sweep(
            plan.kernel, problems, given=Given(configs),
            searching=Searching(
                "grid" if part == "wide" else "model", "full", seconds=main_s,
                finalists=10 if part == "wide" else 4,
            ),  # where time runs out, a picture without holes; the likely ones first
            where=Where(device=self.device.id),
            measuring=Measuring(
                baselines=self.baselines == "all" or (self.baselines == "wide" and part == "wide"),
                only_baselines=self._against(plan, part), timeout_s=CONFIG_S,
            ),
        )  # fmt: skip
        return sweeps.submit(self.store, request, space)

    def _against(self, plan: Plan, part: str) -> tuple[str, ...]:
        """Of the wide sweep all but torch.compile's max-autotune, which takes up to a minute a
        problem; of the others the fast ones."""
        known = baseline_names(kernel_of(plan.kernel), self.device)
        return tuple(
            name
            for name in known
            if (
                name in AGAINST[plan.kernel]
                if part == "shared"
                else not name.endswith(MAX_AUTOTUNE)
            )
        )

    def _best_configs(self, plan: Plan) -> list[Config]:
        wide = stored_sweep(self.store, plan.kernel, full_problems(plan)[:1])
        return (
            [row["config"] for row in fastest_rows(self.store, wide, 0)] if wide is not None else []
        )

    def _waited(self, sweep: str) -> SweepView:
        """Waits for its end; past the deadline it is stopped, and what it has stays."""
        try:
            return sweeps.wait(self.store, sweep, timeout=max(LEAST_S, self.left_s))
        except TimeoutError:
            sweeps.cancel(self.store, sweep)
            return sweeps.wait(self.store, sweep, timeout=WAIT_S)

    def _importance(self, view: SweepView) -> None:
        if view.counts.get("ok", 0) >= importance.LEAST and importance.KIND not in view.notes:
            self._done(importance.submit(self.store, view.id))

    def _done(self, job: str) -> None:
        """Waits for a small job; the recording goes on without it."""
        try:
            ended = client.wait(self.store, job, timeout=WAIT_S)
            trouble = ended.reason if ended.state != "done" else ""
        except TimeoutError as error:
            trouble = str(error)
        if trouble:
            say(f"  {trouble}")


def _weight(plan: Plan, part: str) -> float:
    return plan.weight * (WIDE_SHARE if part == "wide" else 1 - WIDE_SHARE)


def stored_sweep(store: Store, kernel: str, problems: Sequence[Problem]) -> SweepView | None:
    """The newest sweep of these problems with the kernel as its file is now, run here; None when
    there is none."""
    wanted = canonical_json(problems)
    for view in store.sweeps(kernel, limit=1000):
        same = canonical_json(view.request["problems"]) == wanted and not view.request.get(
            "imported"
        )
        if same and view.request.get("values") == {} and not _is_stale(store, view):
            return view
    return None


def _is_stale(store: Store, view: SweepView) -> bool:
    """Whether its best was measured with another form of the kernel's file."""
    trial = store.trial(next(iter(view.best.values()))) if view.best else None
    return trial is not None and trial.fingerprint.get("kernel_source") not in (
        None,
        kernel_of(view.kernel).source_hash,
    )


def fastest_rows(store: Store, view: SweepView, problem: int) -> list[dict]:
    """Right, plausible configs with code of their own, fastest first; the best of the finals before
    all."""
    rows = [
        r
        for r in store.sweep_frame(view.id, instructions=False, statuses=("ok",))
        if r["problem_index"] == problem
    ]
    usable = [
        r
        for r in rows
        if r["same_as"] is None and r["median_us"] is not None and not r["implausible"]
    ]
    return sorted(
        usable, key=lambda row: (row["trial"] != view.best.get(problem), row["median_us"])
    )


def keep_presets(store: Store, views: Sequence[SweepView]) -> None:
    """The best of every problem as a preset; of a problem in several sweeps the one in the sweep
    with fewer problems, measured widely. Where time ran out before a problem's baselines, many of
    its configs were not tried either: the kernel's own one stands."""
    for view in sorted(views, key=lambda view: -len(view.request["problems"])):
        if view.best:
            kept = presets.keep(store, view.id)
            for tuned in kept:
                if view.request.get("baselines", True) and tuned.speedup is None:
                    store.forget_tuned(tuned.id)


def made(store: Store, views: Sequence[SweepView], out: Path) -> Recording:
    """Writes the file: code and every sample of the best few and of the default of each problem."""
    chosen: set[str] = set()
    for view in views:
        for number, problem in enumerate(view.request["problems"]):
            most = CODE_OF_BEST if len(view.request["problems"]) == 1 else 1
            chosen |= {row["trial"] for row in fastest_rows(store, view, number)[:most]}
            chosen |= default_trials(store, view, number, problem)
    out.parent.mkdir(parents=True, exist_ok=True)
    return record(store, out, [view.id for view in views], chosen, chosen)


def default_trials(store: Store, view: SweepView, number: int, problem: Problem) -> set[str]:
    """The trial of the kernel's own config for a problem, where it was tried."""
    kernel, target = kernel_of(view.kernel), targets.target(view.target)
    own = kernel.same_code(problem, kernel.config({}, target, problem), target)
    rows = store.sweep_frame(view.id, instructions=False)
    return {
        r["trial"]
        for r in rows
        if r["problem_index"] == number
        and r["trial"]
        and _same_code(kernel, problem, r["config"], target) == own
    }


def _same_code(kernel, problem: Problem, config: Config, target) -> Config | None:
    try:
        return kernel.same_code(problem, kernel.config(config, target, problem), target)
    except (TilevizError, KeyError):
        return None


def report(store: Store, views: Sequence[SweepView], made: Recording) -> str:
    """What is in the file, and what takes its bytes."""
    lines = [
        f"{made.path}: {size_bytes(made.bytes)}; {made.sweeps} sweeps, {made.trials:,}"
        f" trials, {made.with_code} with code,"
    ]
    lines[0] += f" {made.presets} presets"
    lines.append(
        "  bytes of content: "
        + ", ".join(
            f"{part} {size:,}" for part, size in sorted(made.parts.items(), key=lambda p: -p[1])
        )
    )
    for view in views:
        lines.append(
            f"  {view.kernel}, {len(view.request['problems'])} problems: {counts_words(view)}"
        )
    for tuned in sorted(store.tuned(), key=lambda t: (t.kernel, t.created)):
        against = (
            f", {significant(tuned.speedup)} times as fast as {tuned.baseline}"
            if tuned.speedup
            else ""
        )
        rate = ", ".join(rates(tuned.tflops, tuned.gbps))
        lines.append(
            f"    {tuned.kernel} {assignments(tuned.problem)}:"
            f" {duration_us(tuned.median_us)}, {rate}{against}"
        )
        lines.append(f"      {assignments(tuned.config)}")
    return "\n".join(lines)


def counts_words(view: SweepView) -> str:
    return (
        ", ".join(f"{count:,} {status}" for status, count in Counter(view.counts).most_common())
        or "nothing"
    )


def gpu_sweeps(store: Store) -> list[SweepView]:
    """Sweeps that ran on a GPU and found something, the oldest first."""
    found = [
        v
        for v in store.sweeps(limit=1000)
        if v.device != "cpu" and not v.request.get("imported") and v.counts.get("ok")
    ]
    return found[::-1]


def planned_sweeps(store: Store, plans: Sequence[Plan]) -> list[SweepView]:
    asked = [
        (plan.kernel, problems)
        for plan in plans
        for problems in (full_problems(plan)[:1], full_problems(plan))
    ]
    found = [stored_sweep(store, kernel, problems) for kernel, problems in asked]
    return [view for view in found if view is not None and view.counts.get("ok")]


def of_another_home(home: Path, make: Callable[[Store], None]) -> None:
    """Opens a copy of a home's store; its artifacts are read where they are."""
    folder = home if home.is_dir() else home.parent
    with tempfile.TemporaryDirectory(prefix="tileviz-recording-") as copy:
        for path in folder.glob("store.db*"):
            shutil.copy(path, copy)
        if (folder / "artifacts").is_dir():
            (Path(copy) / "artifacts").symlink_to(
                (folder / "artifacts").absolute(), target_is_directory=True
            )
        make(Store(copy))


def say(words: str) -> None:
    print(words, file=sys.stderr, flush=True)


def main(words: list[str] | None = None) -> int:
    asked = _parser().parse_args(words)
    out = Path(asked.out).absolute()
    chosen = [plan for plan in PLANS if not asked.kernel or plan.kernel in asked.kernel]

    def write(store: Store, views: list[SweepView]) -> None:
        keep_presets(store, views)
        print(report(store, views, made(store, views, out)))

    try:
        if asked.home:
            of_another_home(Path(asked.home), lambda store: write(store, gpu_sweeps(store)))
            return 0
        store, device = Store(), next((d for d in local_devices() if d.id == asked.device), None)
        if device is None or device.id == "cpu":
            raise TilevizError(f"there is no GPU '{asked.device}' here; it is recorded on one")
        left = Recorder(store, device, time.monotonic() + asked.seconds, asked.baselines).run(
            chosen
        )
        write(store, planned_sweeps(store, chosen))
    except TilevizError as error:
        say(f"benchmarks.record: {error.message}")
        return 1
    if left:
        say(f"no time was left for: {', '.join(left)}; start again to go on")
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.record", description=__doc__.partition("\n\n")[0]
    )
    parser.add_argument(
        "--out", required=True, metavar="FILE", help="the file to write: tileviz/data/recorded.db"
    )
    parser.add_argument(
        "--seconds",
        type=float,
        default=480.0,
        help="for everything but writing the file (default: 480)",
    )
    parser.add_argument(
        "--device", default="cuda:0", metavar="ID", help="which GPU (default: cuda:0)"
    )
    parser.add_argument("--kernel", action="append", choices=names(), help="this one alone; repeat")
    parser.add_argument(
        "--baselines",
        choices=("all", "wide", "none"),
        default="all",
        help="wide: for each kernel's first problem only",
    )
    parser.add_argument(
        "--from", dest="home", metavar="HOME", help="only make the file, of the sweeps in this home"
    )
    return parser


if __name__ == "__main__":
    sys.exit(printed(main))
