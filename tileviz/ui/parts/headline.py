"""The top row of a result: right or wrong, how long, how much of the ceiling, and against whom."""

import streamlit as st

from tileviz import formats
from tileviz.bench.roofline import bound_by_rates, why_over
from tileviz.formats import Colour, duration_us, percent, significant, small_percent
from tileviz.measured import Roofline, Timing, Verdict, fastest_baseline
from tileviz.records import Trial
from tileviz.ui.parts import flop_count
from tileviz.ui.parts.trouble import plain

SENTENCES = {
    "pruned": "Not compiled: this config breaks a rule.",
    "unsupported": "This target cannot express it.",
    "compile_failed": "It could not be compiled.",
    "launch_failed": "It cannot be launched.",
    "runtime_failed": "It started and then failed.",
    "wrong_result": "It ran, and the output is wrong.",
    "timeout": "It took too long and was stopped.",
    "crashed": "Its process died; nothing else was touched.",
    "cancelled": "Cancelled.",
}
"""A plain sentence for each status of a trial that is not ok."""

CELL_WIDTHS = (18, 20, 25, 26)
"""The third names two ceilings, the fourth a baseline."""

GENTLE = ("pruned", "unsupported", "cancelled")
"""Statuses that are an answer, not a fault."""


def status(trial: Trial) -> None:
    """The sentence of a trial that did not end well, its reason, and the tool's own text folded under it."""
    if trial.status == "ok":
        return
    sentence = SENTENCES.get(trial.status, f"It ended as {trial.status}.")
    reason = f"{trial.reason[:1].upper()}{trial.reason[1:]}" if trial.reason else ""
    if reason and not reason.endswith((".", "!", "?")):
        reason += "."
    if reason.startswith(sentence.rstrip(".")):
        sentence, reason = reason, ""
    box = st.warning if trial.status in GENTLE else st.error
    box(f"**{plain(sentence)}** {plain(reason)}".rstrip())
    if trial.detail:
        with st.expander("What the tool said"):
            st.code(trial.detail, language=None, height=320 if trial.detail.count("\n") > 14 else "content")


def row(trial: Trial, running: bool) -> None:
    """Four cells; a cell with nothing to say has a dash and the reason on hover. Below them the badge."""
    with st.container(key="figures"):
        cells = st.columns(CELL_WIDTHS, gap="small")
    for cell, draw in zip(cells, (verdict, latency, rate, speedup), strict=True):
        with cell:
            draw(trial, running)
    determinism(trial.verdict)


def verdict(trial: Trial, running: bool) -> None:
    found = trial.verdict
    if found is None:
        _cell(
            "Result",
            "\u2026" if running else "-",
            "checking" if running else "not checked",
            "gray",
            "The output has not been compared with a reference.",
        )
        return
    worst = f" Worst element at {list(found.worst_index)}." if found.worst_index is not None else ""
    told = f"Tolerance: {found.tolerance or 'not recorded'}. Reference: {found.reference}."
    told += f" Largest absolute error {significant(found.max_abs_error)}.{worst}"
    if found.ok:
        _cell("Result", "right", f"relative error {significant(found.rel_error, 2)}", "green", told)
        return
    told += f" {found.wrong_count:,} elements are outside it."
    _cell("Result", "wrong", f"{small_percent(found.wrong_fraction)} of elements, error {significant(found.rel_error, 2)}", "red", told)


def determinism(found: Verdict | None) -> None:
    """A badge: whether launch after launch gave the same bits."""
    if found is None or found.determinism is None:
        return
    launches, differing = found.determinism.launches, found.determinism.differing
    told = "Launched again and again on the same inputs, into a cleared output, and compared bit by bit."
    icon, colour = (":material/difference:", "orange") if differing else (":material/done_all:", "green")
    st.badge(formats.determinism(launches, differing), icon=icon, color=colour, help=told)


def latency(trial: Trial, running: bool) -> None:
    timing = trial.timing
    if timing is None or not timing.n:
        _cell(
            "Latency",
            "\u2026" if running else "-",
            "timing" if running else "not timed",
            "gray",
            "Median over the launches, after it was checked.",
        )
        return
    told = f"Median of {timing.n:,} launches after {timing.warmup:,} warm-ups; timer {timing.timer}, L2 {timing.l2}. "
    told += why_it_stopped(timing)
    if timing.implausible:
        _cell("Latency", duration_us(timing.median_us), "implausible", "red", f"{timing.implausible}. {told}")
        return
    if timing.note:
        told += f". {timing.note[:1].upper()}{timing.note[1:]}"
    if timing.launch_bound:
        floor = f"; an empty kernel takes {duration_us(timing.floor_us)}" if timing.floor_us else ""
        _cell("Latency", duration_us(timing.median_us), "launch-bound", "orange", f"Within 2x of an empty kernel{floor}. {told}")
        return
    if timing.l2_resident:
        _cell("Latency", duration_us(timing.median_us), "data from L2", "orange", f"The rate is over what memory can give. {told}")
        return
    _cell("Latency", duration_us(timing.median_us), f"p10 {duration_us(timing.p10_us)}, p90 {duration_us(timing.p90_us)}", "gray", told)


def rate(trial: Trial, running: bool) -> None:
    """TFLOPS where arithmetic binds, GB/s or TB/s where memory does; the formula is on hover."""
    both = formats.rates(trial.tflops, trial.gbps)
    if not both:
        _cell(
            "Rate",
            "\u2026" if running else "-",
            "timing" if running else "not timed",
            "gray",
            "FLOPs or bytes of the problem over the median latency.",
        )
        return
    told = [_formulas(trial), f"This run: {' and '.join(both)}."]
    share, ceilings = shares(trial.roofline)
    bound = trial.roofline.bound if trial.roofline else bound_by_rates(trial.tflops, trial.gbps)
    _cell("Rate", formats.rate(trial.tflops, trial.gbps, bound), share, "gray", " ".join([*told, *ceilings]))


def shares(point: Roofline | None) -> tuple[str, list[str]]:
    """(shares of the ceilings in a few words, a sentence for each ceiling with its source)."""
    if point is None:
        return "no ceiling known", []
    told = [f"Bound by {'memory' if point.bound == 'memory' else 'arithmetic'}."]
    if point.fraction is not None:
        told.append(f"Datasheet: {percent(point.fraction)} of {point.ceiling}.")
    if point.ceiling_measured:
        share = f"{percent(point.fraction_measured)} of " if point.fraction_measured is not None else ""
        told.append(f"Measured on the device: {share}{point.ceiling_measured}.")
    told += filter(None, [why_over(point)])
    if point.fraction is not None and point.fraction_measured is not None:
        return f"{percent(point.fraction, 0)} datasheet, {percent(point.fraction_measured, 0)} measured", told
    if point.fraction is not None:
        return f"{percent(point.fraction)} of the {point.bound} ceiling", told
    if point.fraction_measured is not None:
        return f"{percent(point.fraction_measured)} of the measured ceiling", told
    return "no ceiling known", told if point.ceiling_measured else []


def speedup(trial: Trial, running: bool) -> None:
    best = fastest_baseline(trial.baselines)
    against = best.comparison if best is not None else None
    label = "Against the fastest baseline"
    if best is None or against is None:
        why = "baselines are still running" if running else _no_baseline(trial)
        _cell(
            label,
            "\u2026" if running and trial.timing else "-",
            why,
            "gray",
            "Baselines that could not be compared are listed with their reasons below.",
        )
        return
    if trial.timing is not None and trial.timing.launch_bound:
        _cell(label, "-", "launch-bound: not ranked", "gray", f"The fastest is {best.title}; times this short are those of a launch.")
        return
    word, colour = formats.COMPARED[against.verdict]
    told = f"Their median over ours is {significant(against.ratio)}, 95 % interval {formats.interval(against)}: above 1"
    told += " this config is faster, and an interval that holds 1 is a tie."
    told += f" Math: {best.math_mode}." if best.math_mode else ""
    _cell(label, formats.compared_value(against), f"{word} {best.title}", colour, told)


def _no_baseline(trial: Trial) -> str:
    ours = trial.timing is not None and not trial.timing.implausible
    return "no baseline to compare with" if ours else "no time of ours to compare"


def _formulas(trial: Trial) -> str:
    cost = flop_count.cost_of(trial.kernel, trial.problem)
    if cost is None:
        return "The kernel's formula is not known here."
    flops = flop_count.words(cost, flop_count.chosen()) if cost.flops else ""
    return f"{flops}Model bytes = {cost.bytes_formula} = {formats.count(cost.bytes)}."


def _cell(label: str, value: str, below: str, colour: Colour, help: str) -> None:
    st.metric(label, value, plain(below), delta_color=colour, delta_arrow="off", help=plain(help), border=True, height="stretch")


def why_it_stopped(timing: Timing) -> str:
    """Why sampling stopped, never in the words of the verdict's relative error, which older results used here too."""
    why = timing.stop_reason or "the reason was not recorded"
    return f"Sampling stopped: {why.replace('relative error', 'uncertainty of the median')}"
