"""Measures ours and the baselines again in turn (A, B, C, A, B, C, ...), so that a drifting clock meets all of them alike; and measures
again what was throttled.

Callables, timings and a timer in, timings out; no GPU is needed.
"""

import contextlib
import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace

from tileviz.measured import Timing, quantile

from .clocks import Reading, summary
from .statistics import relative_error
from .timers import Run, Timer

AGAIN = 3
"""Most times that one value is measured again."""

SLOW_CLOCK = 0.95
"""A visit whose SM clock is under this share of the median of the same callable's visits is measured again."""

FAR = 3.0
"""A baseline this many times slower than ours sits out: no drift would change who wins, and its turns would eat the others' time."""

ENOUGH = 50
"""Samples in turn from which they alone are the timing; with fewer, the earlier ones count too."""

SURE = 0.005
"""Relative error of the median at which a callable needs no more turns."""

OVERHEAD_S = 1e-4
"""Flush and launch, beside the kernel itself, when the length of a visit is planned."""


@dataclass(frozen=True)
class TurnPlan:
    """How long the turns go on."""

    seconds: float
    """In all; a round that would pass it is not begun. No turns at all when one round takes twice as long."""
    rounds: int = 20
    least_rounds: int = 4
    """Before the turns may end for being sure."""
    visit_s: float = 0.02
    """Seconds of one visit."""
    most_samples: int = 50
    """In one visit."""


GPU_TURNS = TurnPlan(1.0)
CPU_TURNS = TurnPlan(0.3)


@dataclass(frozen=True)
class Entrant:
    """A callable that was checked and timed once already."""

    run: Run
    timing: Timing
    around: Callable[[], contextlib.AbstractContextManager] = contextlib.nullcontext
    """Gives the settings it runs under: math mode, threads."""


@dataclass
class Visit:
    """The samples of one turn, and what the clocks read meanwhile."""

    samples: list[float]
    readings: list[Reading] = field(default_factory=list)

    @property
    def clock_mhz(self) -> float | None:
        return summary(self.readings)["sm_clock_mhz"]

    @property
    def throttled(self) -> bool:
        return bool(summary(self.readings)["throttled"])


def steady(measure: Callable[[], Timing], *, again: int = AGAIN, pause: Callable[[float], None] = time.sleep) -> Timing:
    """measure(), and again after a pause while a thermal or hardware slowdown is seen, at most `again` times.

    Samples that were set aside are kept in `earlier_us`, and the note says why.
    """
    timing, aside = measure(), []
    reasons = timing.throttle_reasons
    for _ in range(again):
        if not timing.throttled:
            break
        aside.append(timing.samples_us)
        pause(0.5)
        timing = measure()
    if not aside:
        return timing
    note = f"measured again {_times(len(aside))}: {', '.join(reasons) or 'throttled'}" + ("; still so" if timing.throttled else "")
    return replace(timing, earlier_us=(*(s for samples in aside for s in samples), *timing.earlier_us), note=note)


def in_turn(
    ours: str,
    entrants: dict[str, Entrant],
    timer: Timer,
    plan: TurnPlan,
    l2: str = "cold",
    watch: Callable[[], object] = lambda: None,
    pause: Callable[[float], None] = time.sleep,
) -> dict[str, Timing]:
    """New timings of ours and of every baseline near it, measured in turn; empty when there is nothing to set beside ours.

    `ours` is its name in `entrants`; watch() gives a fresh `ClockWatch`, or None. The first round begins with ours, the next one with
    the next entrant, and so on. What `run` raises passes through.
    """
    near = _near(ours, entrants)
    counts = {name: _count(entrant, plan) for name, entrant in near.items()}
    round_s = sum(counts[name] * (near[name].timing.median_us / 1e6 + OVERHEAD_S) for name in near)
    if len(near) < 2 or round_s > 2 * plan.seconds:
        return {}
    visit = lambda name: _visit(near[name], counts[name], timer, l2, watch)
    visits, rounds, why = _rounds(list(near), visit, timer, plan)
    aside = {name: _again(visits[name], lambda name=name: visit(name), pause) for name in near}
    alone = all(len(_samples(visits[name])) >= ENOUGH for name in near)
    words = f"measured in turn with {len(near) - 1} other{'s' if len(near) > 2 else ''}, {rounds} round{'s' if rounds > 1 else ''}"
    return {name: _joined(near[name].timing, visits[name], aside[name], alone, words, why) for name in near}


def _rounds(names: list[str], visit: Callable[[str], Visit], timer: Timer, plan: TurnPlan) -> tuple[dict[str, list[Visit]], int, str]:
    """(visits of each, rounds made, why they ended)."""
    visits: dict[str, list[Visit]] = {name: [] for name in names}
    start, done, last = timer.now(), 0, 0.0
    while done < plan.rounds:
        if done and timer.now() - start + last > plan.seconds:
            return visits, done, f"cap of {plan.seconds:g} s in turn"
        if done >= plan.least_rounds and all(_is_sure(made) for made in visits.values()):
            return visits, done, f"every median in turn known to {SURE * 100:.1f} %"
        began = timer.now()
        for name in _rotated(names, done):
            visits[name].append(visit(name))
        done, last = done + 1, timer.now() - began
    return visits, done, f"cap of {plan.rounds} rounds in turn"


def _near(ours: str, entrants: dict[str, Entrant]) -> dict[str, Entrant]:
    if ours not in entrants:
        return {}
    limit = FAR * entrants[ours].timing.median_us
    return {name: e for name, e in entrants.items() if e.timing.samples_us and e.timing.median_us <= limit}


def _count(entrant: Entrant, plan: TurnPlan) -> int:
    return max(1, min(plan.most_samples, int(plan.visit_s / (entrant.timing.median_us / 1e6 + OVERHEAD_S))))


def _rotated(names: list[str], by: int) -> list[str]:
    by %= len(names)
    return names[by:] + names[:by]


def _visit(entrant: Entrant, count: int, timer: Timer, l2: str, watch) -> Visit:
    clocks = watch()
    with entrant.around():
        timer.settle(entrant.run, 1)
        with clocks or contextlib.nullcontext():
            samples = timer.sample(entrant.run, count, l2)
    return Visit(samples, list(clocks.readings) if clocks else [])


def _again(visits: list[Visit], visit: Callable[[], Visit], pause: Callable[[float], None]) -> list[Visit]:
    """Measures flagged visits again, in place; gives those that were set aside."""
    aside: list[Visit] = []
    while len(aside) < AGAIN and (flagged := _flagged(visits)) is not None:
        aside.append(visits.pop(flagged))
        pause(0.2)
        visits.append(visit())
    return aside


def _flagged(visits: list[Visit]) -> int | None:
    """Index of a visit that was throttled, or whose SM clock is far under the others'."""
    clocks = [v.clock_mhz for v in visits if v.clock_mhz]
    usual = quantile(clocks, 0.5) if clocks else 0.0
    return next((i for i, v in enumerate(visits) if v.throttled or (v.clock_mhz or usual) < SLOW_CLOCK * usual), None)


def _samples(visits: list[Visit]) -> tuple[float, ...]:
    return tuple(sample for visit in visits for sample in visit.samples)


def _is_sure(visits: list[Visit]) -> bool:
    samples = _samples(visits)
    return len(samples) >= ENOUGH and relative_error(samples) < SURE


def _joined(first: Timing, visits: list[Visit], aside: list[Visit], alone: bool, words: str, why: str) -> Timing:
    samples, before = _samples(visits), _samples(aside)
    if aside:
        words += f"; {_times(len(aside))} again, {_why(aside)}"
    readings = [reading for visit in visits for reading in visit.readings]
    return replace(
        first,
        samples_us=samples if alone else first.samples_us + samples,
        earlier_us=first.earlier_us + (first.samples_us if alone else ()) + before,
        stop_reason=f"{why}, median known to {relative_error(samples) * 100:.2f} %" if alone else first.stop_reason,
        note=f"{first.note}; {words}" if first.note else words,
        **(summary(readings) if readings else {}),
    )


def _why(aside: list[Visit]) -> str:
    throttled = next((v for v in aside if v.throttled), None)
    if throttled is not None:
        return ", ".join(summary(throttled.readings)["throttle_reasons"])
    return f"SM clock {min(v.clock_mhz for v in aside if v.clock_mhz is not None):,.0f} MHz"


def _times(count: int) -> str:
    return "once" if count == 1 else f"{count} times"
