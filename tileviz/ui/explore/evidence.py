"""The middle of a result: bars against the baselines, every sample behind our bar, and what each
baseline was."""

import functools
from dataclasses import dataclass

import pandas as pd
import plotly.graph_objects as go
import streamlit as st

from tileviz.formats import duration_us, seconds, significant
from tileviz.measured import BaselineResult, Timing
from tileviz.records import Trial
from tileviz.ui.charts import screen
from tileviz.ui.charts.latency import COLUMNS, latency_figure, latency_frame
from tileviz.ui.charts.samples import above_axis, samples_figure, samples_frame
from tileviz.ui.explore import clock_line
from tileviz.ui.parts import kernel_names, places
from tileviz.ui.parts.headline import why_it_stopped
from tileviz.ui.parts.trouble import plain

BASELINES_HELP = (
    "The same inputs, timer and L2 mode as ours, and scored against the same float64 reference."
)

FLUSHES = {"read": ", flushed by reading", "write": ", flushed by writing", "none": ""}


FIGURES_KEPT = 32
"""Figures of results: a moved knob draws the page again with the same ones, and making them takes a
quarter of that."""


@dataclass(frozen=True)
class Line:
    """One baseline in a line."""

    text: str
    """Markdown."""
    help: str = ""
    """On hover: what was shortened, in full."""


def draw(trial: Trial, running: bool) -> None:
    if trial.timing is None or not trial.timing.n:
        return
    left, right = st.columns([3, 2], gap="medium")
    with left:
        st.header("Latency against baselines", anchor=False)
        rows = tuple(latency_frame(trial).itertuples(index=False, name=None))
        screen.chart(_bars(rows), key="latency", alt="Latency of this config and of each baseline")
        if trial.target == "cpu":
            st.caption(places.CPU_CAVEAT)
    with right:
        st.header(
            f"{trial.timing.n:,} samples", anchor=False, help=plain(samples_help(trial.timing))
        )
        strip, above = _strip(trial.timing)
        screen.chart(strip, key="samples", alt="Latency of every launch")
        if above:
            st.caption(plain(above))
        for mark in marks(trial.timing):
            st.markdown(f":orange[:small[{plain(mark)}]]")
        st.caption(plain(conditions(trial.timing)))
        clock_line.draw(trial)
    _baseline_notes(trial, running)


@functools.lru_cache(FIGURES_KEPT)
def _bars(rows: tuple[tuple, ...]) -> go.Figure:
    """Of the rows of `latency_frame`."""
    return latency_figure(pd.DataFrame(rows, columns=COLUMNS))


@functools.lru_cache(FIGURES_KEPT)
def _strip(timing: Timing) -> tuple[go.Figure, str]:
    """(the figure, what lies above its axis)."""
    frame = samples_frame(timing)
    return samples_figure(frame), above_axis(frame)


def conditions(timing: Timing) -> str:
    """Timer, L2 mode, clocks, the empty kernel and how the samples came about, in one line:
    `timer cupti, L2 cold, flushed by reading, 1,980 MHz SM, 2,619 MHz memory, 612 W, 61 C, empty
    kernel 0.58 us, measured in turn ...`."""
    parts = [
        f"timer {timing.timer}",
        f"L2 {timing.l2}{FLUSHES.get(timing.flush, '') if timing.l2 == 'cold' else ''}",
    ]
    parts += [f"{timing.sm_clock_mhz:,.0f} MHz SM"] if timing.sm_clock_mhz else []
    parts += [f"{timing.memory_clock_mhz:,.0f} MHz memory"] if timing.memory_clock_mhz else []
    parts += [f"{timing.power_w:,.0f} W"] if timing.power_w else []
    parts += [f"{timing.temperature_c:.0f} \u00b0C"] if timing.temperature_c else []
    if not timing.sm_clock_mhz:
        parts.append("clocks not read")
    if timing.throttled:
        parts.append(f"throttled ({', '.join(timing.throttle_reasons) or 'reason not given'})")
    parts += [f"empty kernel {duration_us(timing.floor_us)}"] if timing.floor_us else []
    parts += [timing.note] if timing.note else []
    return ", ".join(parts)


def marks(timing: Timing) -> list[str]:
    """What a reader must know before trusting the number; a sentence each."""
    found = []
    if timing.launch_bound:
        found.append(
            "Launch-bound: within 2x of an empty kernel, so this times the launch, not the work."
            " It is not ranked."
        )
    if timing.l2_resident:
        found.append(
            "The data came from L2: the rate is over what memory can give. Measure with a cold L2"
            " to see memory's."
        )
    return found


def samples_help(timing: Timing) -> str:
    """How many there are and why it stopped there."""
    set_aside = (
        f" {len(timing.earlier_us):,} earlier samples were set aside and are kept."
        if timing.earlier_us
        else ""
    )
    return (
        f"Every launch that was timed, after {timing.warmup:,} warm-ups."
        f" {why_it_stopped(timing)}.{set_aside}"
    )


def _baseline_notes(trial: Trial, running: bool) -> None:
    """A line for every baseline that ran, then those that did not, by reason."""
    lines = baseline_lines(trial)
    if not lines and not running:
        return
    mode = shared_mode(trial)
    with st.container(gap="xsmall"):
        st.header(
            f"Baselines{f', each {plain(mode)}' if mode else ''}", anchor=False, help=BASELINES_HELP
        )
        for line in lines:
            st.caption(line.text, help=line.help or None)
        if running:
            st.caption("More baselines are on their way.")


def baseline_lines(trial: Trial) -> list[Line]:
    """Those that ran, the fastest first; those that were not compared for the same reason share a
    line."""
    timed = [b for b in trial.baselines if b.status == "ok"]
    mode = shared_mode(trial)
    ran = [baseline_line(b, trial.timing, with_mode=not mode) for b in sorted(timed, key=_median)]
    left_out: dict[tuple[str, str], list[str]] = {}
    for baseline in trial.baselines:
        if baseline.status != "ok":
            left_out.setdefault((baseline.status, baseline.reason), []).append(
                plain(baseline.title)
            )
    return ran + [
        Line(
            f"**{'; '.join(titles)}**: not compared ({plain(status.replace('_', ' '))}):"
            f" {plain(reason or 'no reason was given')}"
        )
        for (status, reason), titles in left_out.items()
    ]


def shared_mode(trial: Trial) -> str:
    """The math mode of the baselines that ran, where several ran and all have one; else empty, and
    each line says its own."""
    modes = [b.math_mode for b in trial.baselines if b.status == "ok" and b.timing is not None]
    return modes[0] if len(modes) > 1 and len(set(modes)) == 1 else ""


def baseline_line(baseline: BaselineResult, ours: Timing | None, with_mode: bool = True) -> Line:
    """For one that ran: the title in bold, its config where it was tuned, then what there is to
    know."""
    name = f"**{plain(baseline.title)}**"
    if baseline.timing is None:
        return Line(f"{name}: no time. {plain(baseline.reason)}")
    launched, picked = kernel_names.split_picked(baseline.kernel_name)
    short = kernel_names.readable(launched)
    parts = [duration_us(baseline.timing.median_us)]
    parts += [baseline.math_mode] if baseline.math_mode and with_mode else []
    parts += (
        [f"relative error {significant(baseline.verdict.rel_error, 2)}"] if baseline.verdict else []
    )
    parts += (
        [f"{'tuned' if picked else 'compiled'} in {seconds(baseline.compile_s)}"]
        if baseline.compile_s
        else []
    )
    parts += [picked] if picked else []
    parts += [f"kernel {short}"] if launched else []
    if ours is not None and (ours.timer, ours.l2) != (baseline.timing.timer, baseline.timing.l2):
        parts.append(
            f"timer {baseline.timing.timer}, L2 {baseline.timing.l2}: not on the chart, which"
            " never mixes timers"
        )
    if baseline.verdict is not None and not baseline.verdict.ok:
        parts.append("its own result is wrong")
    if baseline.timing.implausible:
        parts.append(baseline.timing.implausible)
    if baseline.timing.launch_bound:
        parts.append("launch-bound")
    return Line(
        f"{name}: {plain(', '.join(parts))}",
        plain(f"Launches: {launched}") if short != launched else "",
    )


def _median(baseline: BaselineResult) -> float:
    return (
        baseline.timing.median_us
        if baseline.timing is not None and baseline.timing.n
        else float("inf")
    )
