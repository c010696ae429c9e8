"""Every page over every pair of kernel, flag, dtype, place and result: which draws these are, and the store that each of them meets."""

import itertools
import random
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from tests.asked import resolve
from tests.ui import examples, sweep_examples
from tileviz import kernels
from tileviz.compiler import targets
from tileviz.engine import presets
from tileviz.kernels.card import Choice, Flag, Knob
from tileviz.measured import ErrorMap
from tileviz.records import Problem, Trial
from tileviz.records_json import to_json
from tileviz.store import Store
from tileviz.store.recording import record
from tileviz.store.sweeps import NOT_RUN, SweepRow
from tileviz.ui import links
from tileviz.ui.parts.headline import SENTENCES

PLACES = {
    "cpu": "cpu",
    "gpu": "cuda:0",  # a stood-in H200
    "elsewhere": "sm_80",  # no device here runs it
    "nothing runs": "cpu",  # no C++ compiler
}
"""Device states, each with its word in the address."""

FAILED = tuple(SENTENCES)
RESULTS = ("none", "ok", *FAILED, "recorded", "running")
BEFORE_CODE = ("pruned", "unsupported", "compile_failed")
"""Statuses of a trial that has no code."""

REASON = "The tool said <b>no</b> to $it$: `[why]`"


@dataclass(frozen=True)
class Draw:
    """One page as it is to be drawn."""

    page: str
    kernel: str
    flags: str
    """`usual`: the kernel's own flags and choices. `other`: every flag the other way, every choice but the dtype its last."""
    dtype: str
    """Where its kernel has it; else the kernel's default."""
    place: str
    result: str

    def __str__(self) -> str:
        return "-".join(map(str, vars(self).values())).replace(" ", "_")


def all_pairs(dimensions: Sequence[Sequence], first: Sequence[tuple] = (), seed: int = 0) -> list[tuple]:
    """Rows, the `first` ones among them, in which every value meets every value of every other dimension: greedy, the best of some
    candidates for each row."""
    pick, places = random.Random(seed), range(len(dimensions))
    left = {((a, x), (b, y)) for a, b in itertools.combinations(places, 2) for x in dimensions[a] for y in dimensions[b]}
    rows = list(first)
    left -= set().union(*map(_pairs, rows))
    while left:
        rows.append(max((_candidate(dimensions, left, pick) for _ in range(8)), key=lambda row: len(_pairs(row) & left)))
        left -= _pairs(rows[-1])
    return rows


def _candidate(dimensions: Sequence[Sequence], left: set, pick: random.Random) -> tuple:
    """A row around a pair that is not covered yet, filled with what covers most beside it."""
    row = dict(pick.choice(sorted(left, key=repr)))
    for place in pick.sample(range(len(dimensions)), len(dimensions)):
        if place not in row:
            gain = {value: sum(tuple(sorted([(place, value), other])) in left for other in row.items()) for value in dimensions[place]}
            row[place] = max(gain, key=lambda value: (gain[value], pick.random()))
    return tuple(row[place] for place in range(len(dimensions)))


def _pairs(row: tuple) -> set:
    return set(itertools.combinations(enumerate(row), 2))


def draws() -> list[Draw]:
    """Explore over all pairs, the other pages over all pairs: together every pair of all six. On Explore a right result of every kernel
    with its flags on every place is among them, since what is drawn under it hangs on all three."""
    dtypes, flags = ("float32", "float16", "bfloat16"), ("usual", "other")
    subjects = [(name, word) for name in kernels.names() for word in flags if word == "usual" or _has_flags(name)]
    right = zip(itertools.product(subjects, PLACES), itertools.cycle(dtypes))
    first = [("", *subject, dtype, place, "ok") for (subject, place), dtype in right]
    rest = (kernels.names(), flags, dtypes, tuple(PLACES), RESULTS)
    return [Draw(*row) for row in (*all_pairs((("",), *rest), first), *all_pairs((("codeview", "sweep", "system"), *rest)))]


def _has_flags(kernel: str) -> bool:
    return any(isinstance(f, (Flag, Choice)) and f.name != "dtype" for f in kernels.kernel(kernel).fields)


def problem_of(draw: Draw) -> Problem:
    kernel = kernels.kernel(draw.kernel)
    values = {"dtype": draw.dtype} if draw.dtype in kernel.field("dtype").choices else {}
    if draw.flags == "other":
        values |= {f.name: not f.default for f in kernel.fields if isinstance(f, Flag)}
        values |= {f.name: f.choices[-1] for f in kernel.fields if isinstance(f, Choice) and f.name != "dtype"}
    return kernel.problem(values, "cpu" if PLACES[draw.place] == "cpu" else "cuda")


def trial_of(draw: Draw) -> Trial:
    """What a run of this draw left, or a compile where nothing here runs it."""
    problem = problem_of(draw)
    if draw.result == "recorded" or draw.place == "gpu":
        made = examples.trial(draw.kernel, problem=problem, device=examples.H200)
    elif draw.place == "elsewhere":
        asked = resolve(draw.kernel, problem, kind="compile", target=PLACES[draw.place], devices=[examples.CPU])
        made = replace(
            examples.trial(draw.kernel, problem=problem), config=asked.config, target=asked.target, device=None, key=asked.key,
            artifact=asked.key, verdict=None, timing=None, tflops=None, gbps=None, roofline=None, baselines=(),
        )  # fmt: skip
    else:
        made = examples.trial(draw.kernel, problem=problem)
    return _failed(made, draw.result) if draw.result in FAILED else made


def _failed(made: Trial, status: str) -> Trial:
    verdict = None
    if status == "wrong_result":
        errors = ErrorMap((128, 128), (64, 64), ((0.1, 0.1), (9.0, 0.1)), ((0, 0), (64, 0)))
        verdict = examples.right(ok=False, wrong_count=64, wrong_fraction=64 / 128**2, reason="one tile wrong", errors=errors)
    return replace(
        made, status=status, reason=REASON, detail="the tool's own words", verdict=verdict, timing=None, tflops=None, gbps=None,
        roofline=None, baselines=(), artifact=None if status in BEFORE_CODE else made.artifact,
    )  # fmt: skip


def put(draw: Draw, store: Store, folder: Path) -> tuple[dict[str, str], Path | None]:
    """Stores what the draw is of; (the address, the recorded file or None)."""
    made = trial_of(draw)
    address = {"kernel": draw.kernel, "target": PLACES[draw.place], **links.words_of(problem_of(draw))}
    if draw.result == "none":
        return address, None
    if draw.result == "recorded":
        return address, _recorded(draw, made, folder)
    if draw.result == "running":
        asked = {"kind": "run", "kernel": made.kernel, "problem": made.problem, "config": made.config, "target": made.target}
        job = store.submit("run", {**asked, "device": made.device})
        store.claim(job)
        store.start_phase(job, "compile")
        address |= {"job": job} if draw.page != "sweep" else {}
    else:
        store.save_trial(made)
        if made.artifact:
            store.save_artifact(examples.artifact(made))
    if draw.page == "sweep":
        _sweep(draw, made, store)
        address |= {"sweep": "s1", "config": "0"}
    return address, None


def _sweep(draw: Draw, made: Trial, store: Store) -> None:
    """Four configs that ended as the draw says; of a running one, the half has not run yet."""
    kernel, target = kernels.kernel(draw.kernel), targets.target(made.target)
    several = [knob for knob in kernel.knobs if len(knob.offered(target.name)) > 1][:2]
    configs = [{**made.config, **dict(found)} for found in itertools.product(*(_two(knob, target.name) for knob in several))]
    values = {name: list(dict.fromkeys(config[name] for config in configs)) for name in made.config}
    device = made.device or "cuda:0"
    asked = sweep_examples.request([made.problem], values, kernel=draw.kernel, target=made.target, device=device)
    rows = [SweepRow(n, 0, config, *_ended(draw, made, n)) for n, config in enumerate(configs)]
    store.create_sweep("s1", asked, rows, state="running" if draw.result == "running" else "done")


def _two(knob: Knob, target: str) -> list[tuple]:
    return [(knob.name, value) for value in knob.offered(target)[:2]]


def _ended(draw: Draw, made: Trial, ordinal: int) -> tuple:
    """(status, reason, same_as, results) of one config."""
    if draw.result == "running" and ordinal > 1:
        return NOT_RUN, "", None, {}
    if draw.result in FAILED:
        return draw.result, REASON, None, {}
    us = 100.0 + ordinal
    measured = {"median_us": us, "p10_us": us * 0.99, "p90_us": us * 1.02, "n": 50, "tflops": 12.0, "gbps": 300.0, "ended": 1.0}
    return "ok", "", None, {"trial": made.trial if ordinal == 0 else f"t{ordinal}", **measured}


def _recorded(draw: Draw, made: Trial, folder: Path) -> Path:
    """A recorded file with one sweep of this very problem, made on an H200."""
    gpu = Store(folder / "gpu")
    made = replace(made, fingerprint={"device": examples.H200.name}, created=1_795_900_000.0)
    artifact = examples.artifact(made)
    gpu.save_artifact(replace(artifact, cubin=b"machine code"))
    asked = sweep_examples.request([made.problem], {}, kernel=made.kernel, target=made.target, device=made.device)
    gpu.create_sweep("r1", to_json(asked), [SweepRow(0, 0, made.config)], state="done")
    gpu.save_sweep_trials("r1", [((0,), made)])
    gpu.save_device(examples.H200)
    for tuned in presets.best_of(gpu, gpu.sweep("r1")):
        gpu.save_tuned(tuned)
    record(gpu, folder / "recorded.db", ["r1"], {made.trial}, {made.trial})
    return folder / "recorded.db"
