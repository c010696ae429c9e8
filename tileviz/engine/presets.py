"""Presets: the best configs that sweeps found, the user's own and the recorded ones, and which of
them a problem starts from.

The nearest problem wins: same kernel, target, dtype, layout and flags, and the smallest distance
over the sizes. The distance is counted in doublings, each size with its own weight. One measured on
another device is set behind by a doubling, and of equally near ones the user's own comes first. A
preset that breaks a rule for this problem is passed over, and beyond MOST_DISTANCE the plain
defaults stand.
"""

import math
import time
from collections.abc import Iterable
from typing import Any

from tileviz import kernels
from tileviz.errors import BadRequest
from tileviz.kernels.asked import AskedKernel
from tileviz.kernels.card import Choice, Flag, Size
from tileviz.measured import fastest_baseline
from tileviz.records import Config, Problem, Target, Trial, TunedConfig
from tileviz.store import Store, new_id
from tileviz.store.sweeps import SweepView

MOST_DISTANCE = 2.0
"""Doublings: a size that is four times as large, or three that are twice as large, is still
like."""

OTHER_DEVICE = 1.0
"""Doublings that another device counts for."""


def known(store: Store, kernel: str | None = None) -> tuple[TunedConfig, ...]:
    """The user's own presets, newest first, then the recorded ones."""
    return (
        *store.tuned(kernel),
        *(store.recorded.tuned(kernel) if store.recorded is not None else ()),
    )


def start(
    kernel: AskedKernel,
    problem: Problem,
    target: Target,
    presets: Iterable[TunedConfig] = (),
    *,
    device: str = "",
    given: Config | None = None,
) -> tuple[Config, TunedConfig | None]:
    """(the full config that a problem starts from, the preset it comes from or None for the plain
    defaults). What is `given` stands; a preset fills the rest. Raises BadRequest for a given knob
    that cannot be meant."""
    plain = kernel.config(given, target, problem)
    for tuned in ranked(kernel, problem, target, presets, device=device):
        config = _completed(kernel, problem, target, {**tuned.config, **(given or {})})
        if config is not None:
            return config, tuned
    return plain, None


def ranked(
    kernel: AskedKernel,
    problem: Problem,
    target: Target,
    presets: Iterable[TunedConfig],
    *,
    device: str = "",
    most: float = MOST_DISTANCE,
) -> list[TunedConfig]:
    """Presets of problems like this one, the nearest first."""
    like = [
        tuned for tuned in presets if tuned.kernel == kernel.name and tuned.target == target.name
    ]
    far = [
        (distance(kernel, problem, tuned.problem), bool(device) and tuned.device != device, tuned)
        for tuned in like
    ]
    near = [
        (d + OTHER_DEVICE * elsewhere, tuned.recorded, -tuned.created, tuned)
        for d, elsewhere, tuned in far
        if d <= most
    ]
    return [entry[-1] for entry in sorted(near, key=lambda entry: entry[:-1])]


def distance(kernel: AskedKernel, one: Problem, other: Problem) -> float:
    """Weighted doublings between the sizes of two problems; infinite where a dtype, layout or flag
    differs. A number such as an attention's scale decides nothing."""
    if any(
        one.get(f.name) != other.get(f.name) for f in kernel.fields if isinstance(f, (Choice, Flag))
    ):
        return math.inf
    sizes = [f for f in kernel.fields if isinstance(f, Size)]
    if any(f.name not in other for f in sizes):
        return math.inf
    return math.hypot(*(f.weight * math.log2(one[f.name] / other[f.name]) for f in sizes))


def source_words(tuned: TunedConfig, kernel: AskedKernel, problem: Problem) -> str:
    """`your sweep on NVIDIA H200 for this problem`, `recorded on NVIDIA H200, 2026-11-29, at M=4096
    N=4096 K=4096`."""
    where = (
        f"{recorded_words(tuned.device, tuned.created)},"
        if tuned.recorded
        else f"your sweep on {tuned.device}"
    )
    theirs, ours = sizes_of(kernel, tuned.problem), sizes_of(kernel, problem)
    return (
        f"{where} for this problem"
        if theirs == ours
        else f"{where} at {' '.join(f'{name}={size}' for name, size in theirs.items())}"
    )


def recorded_words(device: str | None, created: float) -> str:
    """`recorded on NVIDIA H200, 2026-11-29`: of everything that comes with tileviz."""
    return (
        f"recorded on {device or 'another machine'},"
        f" {time.strftime('%Y-%m-%d', time.gmtime(created))}"
    )


def sizes_of(kernel: AskedKernel, problem: Problem) -> dict[str, Any]:
    return {
        f.name: problem[f.name] for f in kernel.fields if isinstance(f, Size) and f.name in problem
    }


def keep(store: Store, sweep: str) -> list[TunedConfig]:
    """Makes the best config of each problem of a sweep a preset, in the place of an earlier one for
    the same problem and device.

    Raises BadRequest for a sweep that is not there, is recorded or imported, has no best, or is of
    another form of the kernel.
    """
    view = store.sweep(sweep)
    if view is None:
        raise BadRequest(f"no sweep '{sweep}' under {store.home}")
    found = best_of(store, view)
    if view.recorded or not found:
        why = (
            "came from a file, and its trials are not here"
            if view.request.get("imported")
            else "has no config with a time"
        )
        why = "comes with tileviz, and so do its presets" if view.recorded else why
        raise BadRequest(f"sweep {sweep} {why}: there is nothing to keep")
    if unused := next(filter(None, map(why_unused, found)), ""):
        raise BadRequest(f"sweep {sweep} is {unused}; sweep again")
    for tuned in found:
        store.save_tuned(tuned)
    return found


def why_unused(tuned: TunedConfig) -> str:
    """Why nothing starts from a preset of another form of its kernel, or ""."""
    if tuned.kernel not in kernels.names():
        return ""
    other = _other_knobs(kernels.kernel(tuned.kernel), tuned.config)
    return (
        f"of another form of {tuned.kernel}, knobs {', '.join(other)}: nothing starts from it"
        if other
        else ""
    )


def kept(store: Store, view: SweepView) -> list[TunedConfig]:
    """Presets that came from this sweep and still stand."""
    return [tuned for tuned in known(store, view.kernel) if tuned.sweep == view.id]


def best_of(store: Store, view: SweepView) -> list[TunedConfig]:
    """The best config of each problem of a sweep that has one."""
    trials = [store.trial(view.best[number]) for number in sorted(view.best)]
    names = {device.id: device.name for device in store.devices()}
    return [
        tuned_of(trial, view.id, names)
        for trial in trials
        if trial is not None and trial.timing is not None and trial.timing.n
    ]


def tuned_of(trial: Trial, sweep: str = "", names: dict[str, str] | None = None) -> TunedConfig:
    """A preset of a timed trial. Raises BadRequest for one without a time."""
    if trial.timing is None:
        raise BadRequest(f"trial {trial.trial} has no time, so nothing starts from it")
    best = fastest_baseline(trial.baselines)
    return TunedConfig(
        id=new_id(),
        kernel=trial.kernel,
        problem=trial.problem,
        config=trial.config,
        target=trial.target,
        device=str(
            trial.fingerprint.get("device")
            or (names or {}).get(trial.device or "")
            or trial.device
            or ""
        ),
        median_us=trial.timing.median_us,
        tflops=trial.tflops,
        gbps=trial.gbps,
        baseline=best.title if best else "",
        baseline_us=best.timing.median_us if best and best.timing else None,
        speedup=best.speedup if best else None,
        comparison=best.comparison if best else None,
        sweep=sweep,
        trial=trial.trial,
        fingerprint=trial.fingerprint,
        created=trial.created,
    )


def _other_knobs(kernel: AskedKernel, config: Config) -> list[str]:
    """Knobs that only one of them has."""
    return sorted(
        {knob.name for knob in kernel.knobs} ^ {name for name in config if "." not in name}
    )


def _completed(
    kernel: AskedKernel, problem: Problem, target: Target, values: Config
) -> Config | None:
    """The config, or None where the kernel has other knobs by now, or a rule forbids it for this
    problem."""
    if _other_knobs(kernel, values):
        return None
    try:
        config = kernel.config(values, target, problem)
    except BadRequest:
        return None
    return None if kernel.rules(problem, config, target).broken else config
