"""`sweep`, `export`, `import`, and `show` of a sweep: submit, watch with a bar on stderr, print."""

import itertools
import json
import sys
import time
from collections import Counter
from pathlib import Path

from tileviz import formats, kernels
from tileviz.bench.roofline import bound_by_rates
from tileviz.cli import trials
from tileviz.cli.cancel import how_to
from tileviz.cli.once import given
from tileviz.cli.terminal import ReaderLeft, reader_left
from tileviz.cli.trials import say
from tileviz.engine import client as jobs
from tileviz.engine import presets
from tileviz.engine.jobs import race
from tileviz.engine.options import Where
from tileviz.engine.sweeps import client, results
from tileviz.engine.sweeps.request import Given, Searching, SweepRequest, resolve_sweep
from tileviz.engine.sweeps.space import Space, rule_kind
from tileviz.errors import BadRequest, TilevizError
from tileviz.measured import Comparison
from tileviz.store import Store, StoreWithRecorded
from tileviz.store.sweeps import NOT_RUN, SweepView

CANCEL_WAIT_S = 15.0

RESUMED = ("budget_trials", "budget_seconds", "patience", "keep_best", "race_autotuner", "json")
"""What may stand beside --resume; of what may not, NOT_RESUMED are those that are no option with
one value."""

NOT_RESUMED = ("kernel", "problem", "space", "config", "all_knobs", "no_presets", "no_baselines")

BAR_WIDTH = 24
TOP = 10


def sweep(asked) -> int:
    """Runs a sweep, or goes on with one; the exit status is 0 when any trial is ok."""
    if asked.resume:
        _refuse_beside_resume(asked)
    store = StoreWithRecorded()
    found = asked.resume or _submit(store, asked)
    if asked.resume:
        client.resume(store, asked.resume, _budget(asked), say)
    say(f"sweep {found}")
    bar = Bar(sys.stderr)
    refused = ""
    try:
        view = client.wait(store, found, on_change=bar.show, each=lambda: _look_for_reader(found))
        if asked.race_autotuner:
            refused = _race(store, view)
    except KeyboardInterrupt:
        _stop(store, found, asked)
        raise
    finally:
        bar.close()
    _print(store, found, asked.json, refused)
    if asked.keep_best and view.counts.get("ok"):
        _keep_best(store, found)
    if view.state == "failed":
        raise TilevizError(
            f"the sweep failed: {view.reason}; `sweep --resume {found}` goes on with it"
        )
    return 0 if view.counts.get("ok") else 1


def _look_for_reader(sweep: str) -> None:
    """Raises ReaderLeft where nobody would read the result: the sweep goes on without its
    command."""
    if reader_left():
        raise ReaderLeft(
            f"nobody reads the output any more; sweep {sweep} goes on: `python -m tileviz"
            f" show {sweep}` shows it, {how_to(sweep)} stops it"
        )


def show(asked) -> int:
    """A stored sweep, or else a stored trial."""
    store = StoreWithRecorded()
    if getattr(asked, "emit", None) or store.sweep(asked.trial) is None:
        if asked.keep_best:
            raise BadRequest(f"--keep-best takes the id of a sweep, and '{asked.trial}' is none")
        return trials.show(asked)
    _print(store, asked.trial, asked.json)
    if asked.keep_best:
        _keep_best(store, asked.trial)
    return 0


def _keep_best(store: Store, sweep: str) -> None:
    """Says on stderr what like problems start from now."""
    for tuned in presets.keep(store, sweep):
        what = formats.assignments(tuned.problem)
        say(
            f"kept as a preset for {what}: {formats.assignments(tuned.config)},"
            f" {formats.duration_us(tuned.median_us)}"
        )


def export(asked) -> int:
    rows = results.export(StoreWithRecorded(), asked.sweep, asked.format, Path(asked.file))
    if asked.json:
        print(
            json.dumps(
                {"sweep": asked.sweep, "file": asked.file, "format": asked.format, "rows": rows}
            )
        )
    else:
        say(f"{formats.several(rows, 'config')} written to {asked.file}")
    return 0


def bring_in(asked) -> int:
    store = Store()
    sweep = results.bring_in(store, Path(asked.file))
    view = results.there(store, sweep)
    if asked.json:
        print(json.dumps({"sweep": sweep, "kernel": view.kernel, "counts": view.counts}))
    else:
        print(
            f"sweep {sweep}: {formats.several(view.requested, 'config')} of {view.kernel}"
            f" from {asked.file}"
        )
    return 0


class Bar:
    """Done of total, rate, time left, failures: one line that is redrawn on a terminal, and now and
    then a new one elsewhere."""

    def __init__(self, stream, every_s: float = 5.0) -> None:
        self.stream = stream
        self.live = stream.isatty()
        self.every_s = every_s
        self.began: tuple[float, int] | None = None
        self.last = -every_s
        self.drawn = False

    def show(self, view: SweepView) -> None:
        now, done = time.monotonic(), view.requested - view.counts.get(NOT_RUN, 0)
        if self.began is None:
            self.began = (now, done)
        if not self.live and view.active and now - self.last < self.every_s:
            return
        self.last = now
        line = bar_text(view, done, now - self.began[0], done - self.began[1])
        self.stream.write(f"\r\x1b[2K{line}" if self.live else f"{line}\n")
        self.stream.flush()
        self.drawn = True

    def close(self) -> None:
        if self.live and self.drawn:
            self.stream.write("\n")
            self.stream.flush()


def bar_text(view: SweepView, done: int, seconds: float, new: int) -> str:
    """`[####....] 45 of 130, ok 40, pruned 5, 3.1/s, 27 s left`."""
    total = max(view.requested, 1)
    filled = BAR_WIDTH * done // total
    words = [f"[{'#' * filled}{'.' * (BAR_WIDTH - filled)}] {done:,} of {view.requested:,}"]
    words += [
        f"{status} {count:,}"
        for status, count in sorted(view.counts.items())
        if status != NOT_RUN and count
    ]
    if new and seconds > 0 and view.active:
        words += [
            f"{new / seconds:.1f}/s",
            f"{formats.seconds((total - done) * seconds / new)} left at most",
        ]
    return ", ".join(words) if view.active else ", ".join([*words, view.state])


def sweep_text(document: dict) -> str:
    """A sweep as a person reads it: what became of its configs and why, then the best ones."""
    rows = document["trials"]
    counts = ", ".join(
        f"{count:,} {status}"
        for status, count in sorted(document["counts"].items(), key=lambda item: -item[1])
    )
    ended = f"{document['status']}{': ' + document['reason'] if document['reason'] else ''}"
    where = f"{document['kernel']} on {document['device'] or document['target']}"
    lines = [f"{where}: {formats.several(len(rows), 'config')} requested, {counts}", f"  {ended}"]
    lines += [f"  {count:>6,}  {status}: {reason}" for (status, reason), count in _reasons(rows)]
    for number, problem in enumerate(document["problems"]):
        own = [
            row
            for row in rows
            if row["problem_index"] == number and row["same_as"] is None and row["status"] == "ok"
        ]
        best = document["best_of"][number]
        lines += ["", f"  {formats.assignments(problem)}", *_counted(document["kernel"], problem)]
        lines += [f"    {document['no_best'][number]}"] if best is None else []
        lines += _top(
            [row for row in own if not row["implausible"]], best, document["tied"][number]
        )
        lines += _baselines(best)
        raced = document["rival"][number]
        lines += [f"      {formats.race_words(raced)}"] if raced else []
    return "\n".join(lines)


def _reasons(rows: list[dict]) -> list[tuple[tuple[str, str], int]]:
    told = Counter(
        (row["status"], rule_kind(row["reason"]))
        for row in rows
        if row["status"] not in ("ok", NOT_RUN)
    )
    return told.most_common(TOP)


def _top(found: list[dict], best: dict | None, tied: list[str]) -> list[str]:
    """The best one first, then those tied with it, and last those whose time is that of a launch;
    of a file that tells rates alone those of the highest rate; nothing where there is neither."""
    rows = [row for row in found if row["timing"]]
    if not rows:
        return _top_rates([row for row in found if row["tflops"] or row["gbps"]])
    order = sorted(
        rows,
        key=lambda row: (
            row["launch_bound"],
            row is not best,
            row["trial"] not in tied,
            row["timing"]["median_us"],
        ),
    )
    lines = []
    for row in order[:TOP]:
        median, p10, p90 = (
            formats.duration_us(row["timing"][name]) for name in ("median_us", "p10_us", "p90_us")
        )
        tflops, gbps = row["tflops"], row["gbps"]
        rate = f"{formats.rate(tflops, gbps, bound_by_rates(tflops, gbps)):>12}"
        mark = "=" if row["trial"] in tied and len(tied) > 1 else " "
        launch = ", launch-bound" if row["launch_bound"] else ""
        lines.append(
            f"    {mark} {median:>9} ({p10} to {p90}) {rate} "
            f" {formats.assignments(row['config'])}{launch}"
        )
    if len(tied) > 1:
        lines.append(
            f"    = tied best, the first one was fastest in turn: {len(tied)} of {len(rows)}"
        )
    return lines


def _top_rates(rows: list[dict]) -> list[str]:
    if not rows:
        return []
    order = sorted(rows, key=lambda row: (row["tflops"] or 0.0, row["gbps"] or 0.0), reverse=True)
    told = [
        (
            formats.rate(row["tflops"], row["gbps"], bound_by_rates(row["tflops"], row["gbps"])),
            row["config"],
        )
        for row in order[:TOP]
    ]
    return [
        "    rates alone, no times",
        *(f"      {rate:>12}  {formats.assignments(config)}" for rate, config in told),
    ]


def _counted(kernel: str, problem: dict) -> list[str]:
    """Which count of FLOPs the rates follow and how a mask lies, where there is more than one
    way."""
    try:
        found = kernels.kernel(kernel)
        halved = (
            ["TFLOPS: causal, halved as papers count"]
            if found.cost(problem).exact_flops is not None
            else []
        )
        return [f"    {words}" for words in (*found.conventions(problem), *halved)]
    except kernels.FOREIGN:
        return []


def _baselines(best: dict | None) -> list[str]:
    found = [
        b for b in (best or {}).get("baselines") or () if b.get("timing") and b.get("comparison")
    ]
    said = [
        (b["title"], formats.duration_us(b["timing"]["median_us"]), Comparison(**b["comparison"]))
        for b in found
    ]
    return [
        f"      {title}: {median}, the best is {formats.compared_with(comparison, 'it')}"
        for title, median, comparison in said
    ]


def _submit(store: Store, asked) -> str:
    if asked.kernel is None:
        raise BadRequest("which kernel? `python -m tileviz kernels` lists them; or --resume SWEEP")
    request, space = _resolved(store, asked)
    counted = request.counted
    asked_for = formats.several(counted["requested"], "config")
    said = (
        f"{asked_for} requested, {counted['unique']:,} to compile,"
        f" {counted['duplicates']:,} the same code"
    )
    say(
        f"{said}, {counted['pruned']:,} break a rule, {counted['unsupported']:,}"
        f" unsupported; strategy {request.strategy}"
    )
    if standing := _standing(asked, request, space):
        say(standing)
    return client.submit(store, request, space)


def _standing(asked, request: SweepRequest, space: Space) -> str:
    """Which knobs do not vary, though they were not given, and how they would; "" where there are
    none."""
    named = {name for name, _ in (*asked.space, *asked.config)}
    if not space.starts:
        kept = [
            k.name
            for k in space.kernel.knobs
            if k.name not in named and len(request.values[k.name]) < len(k.offered(request.target))
        ]
        words = (
            "at their defaults, since all values together are too many:"
            f" {', '.join(kept)}; -s NAME=VALUE,... sweeps over them"
        )
        return words if kept else ""
    stand = {
        name: "/".join(map(formats.word, found))
        for name, found in request.values.items()
        if name not in named
    }
    return (
        f"knobs that were not given stand at {formats.assignments(stand)}; --all-knobs"
        " sweeps over them, too"
        if stand
        else ""
    )


def _resolved(store: Store, asked) -> tuple[SweepRequest, Space]:
    sizes = dict(asked.problem)
    problems = [
        dict(zip(sizes, combination, strict=True))
        for combination in itertools.product(*sizes.values())
    ]
    return resolve_sweep(
        asked.kernel,
        problems,
        dict(asked.space),
        given=Given(fixed=dict(asked.config), all_knobs=asked.all_knobs or not asked.space),
        searching=Searching(
            asked.strategy, asked.effort, finalists=asked.finalists, **_budget(asked)
        ),
        where=Where(asked.target, asked.device),
        measuring=trials.measuring_of(asked),
        presets=trials.presets_of(store, asked),
    )


def _refuse_beside_resume(asked) -> None:
    """A sweep goes on as it was asked for: what would change it is refused, not dropped."""
    if {name for name in NOT_RESUMED if getattr(asked, name)} | given(asked) - {"resume", *RESUMED}:
        taken = ", ".join(f"--{name.replace('_', '-')}" for name in RESUMED)
        raise BadRequest(
            f"--resume goes on with a sweep as it was asked for; beside it only {taken} may stand"
        )


def _budget(asked) -> dict:
    given = {
        "trials": asked.budget_trials,
        "seconds": asked.budget_seconds,
        "patience": asked.patience,
    }
    return {name: value for name, value in given.items() if value is not None}


def _stop(store: Store, sweep: str, asked) -> None:
    client.cancel(store, sweep)
    try:
        client.wait(store, sweep, timeout=CANCEL_WAIT_S)
    except TimeoutError as error:
        say(f"the sweep was told to stop, but has not ended yet: {error}")
    if asked.json:
        print(json.dumps(results.document(store, sweep)))
    say(f"what was measured is kept; `python -m tileviz sweep --resume {sweep}` goes on")


def _race(store: Store, view: SweepView) -> str:
    """Races TileLang's AutoTuner over each problem that has a time. Why there is no race here, or
    an empty sentence."""
    refused = race.why_not(view)
    if refused:
        say(f"no race: {refused}")
        return refused
    for number in sorted(view.best):
        say(
            f"{race.TITLE}: over the same configs of"
            f" {formats.assignments(view.request['problems'][number])}"
        )
        jobs.wait(store, race.submit(store, view.id, number))
    return ""


def _print(store: Store, sweep: str, as_json: bool, no_race: str = "") -> None:
    document = results.document(store, sweep)
    if no_race:
        document["rival"] = [{"reason": no_race} for _ in document["problems"]]
    print(json.dumps(document) if as_json else f"{sweep_text(document)}\n\n  sweep {sweep}")
