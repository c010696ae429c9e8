"""The middle of a result: bars against the baselines, and every sample behind our bar."""

import streamlit as st

from tileviz.formats import duration_us, seconds, significant
from tileviz.records import BaselineResult, Timing, Trial
from tileviz.ui.charts import style
from tileviz.ui.charts.latency import latency_figure, latency_frame
from tileviz.ui.charts.samples import samples_figure, samples_frame
from tileviz.ui.trouble import plain

CPU_CAVEAT = "Functional run on the CPU, one thread each (TileLang's C is one serial loop): no claim of speed."


def draw(trial: Trial, running: bool) -> None:
    if trial.timing is None or not trial.timing.n:
        return
    left, right = st.columns([3, 2], gap="medium")
    with left:
        st.markdown("**Latency against baselines**")
        frame = latency_frame(trial)
        st.plotly_chart(latency_figure(frame), key="latency", config=style.CONFIG, alt="Latency of this config and of each baseline")
        if trial.target == "cpu":
            st.caption(CPU_CAVEAT)
        _baseline_notes(trial, running)
    with right:
        st.markdown(f"**{trial.timing.n:,} samples**")
        st.plotly_chart(samples_figure(samples_frame(trial.timing)), key="samples", config=style.CONFIG, alt="Latency of every launch")
        st.caption(plain(conditions(trial.timing)))


def conditions(timing: Timing) -> str:
    """Timer, L2 mode and clocks in one line: `timer cupti, L2 cold, 1,980 MHz SM, 2,619 MHz memory, 612 W, 61 C`."""
    parts = [f"timer {timing.timer}", f"L2 {timing.l2}"]
    parts += [f"{timing.sm_clock_mhz:,.0f} MHz SM"] if timing.sm_clock_mhz else []
    parts += [f"{timing.memory_clock_mhz:,.0f} MHz memory"] if timing.memory_clock_mhz else []
    parts += [f"{timing.power_w:,.0f} W"] if timing.power_w else []
    parts += [f"{timing.temperature_c:.0f} \u00b0C"] if timing.temperature_c else []
    if not timing.sm_clock_mhz:
        parts.append("clocks not read")
    if timing.throttled:
        parts.append(f"throttled ({', '.join(timing.throttle_reasons) or 'reason not given'})")
    return ", ".join(parts)


def _baseline_notes(trial: Trial, running: bool) -> None:
    """A line for every baseline that ran, then those that did not, by reason."""
    with st.container(gap="xsmall"):
        for line in baseline_lines(trial):
            st.caption(line)
        if running:
            st.caption("More baselines are on their way.")


def baseline_lines(trial: Trial) -> list[str]:
    """Markdown lines; baselines that were not compared for the same reason share one."""
    ran = [baseline_line(b, trial.timing) for b in trial.baselines if b.status == "ok"]
    left_out: dict[tuple[str, str], list[str]] = {}
    for baseline in trial.baselines:
        if baseline.status != "ok":
            left_out.setdefault((baseline.status, baseline.reason), []).append(plain(baseline.title))
    return ran + [
        f"**{'; '.join(titles)}**: not compared ({plain(status.replace('_', ' '))}): {plain(reason or 'no reason was given')}"
        for (status, reason), titles in left_out.items()
    ]


def baseline_line(baseline: BaselineResult, ours: Timing | None) -> str:
    """Markdown for one that ran: the title in bold, then what there is to know."""
    name = f"**{plain(baseline.title)}**"
    if baseline.timing is None:
        return f"{name}: no time. {plain(baseline.reason)}"
    parts = [duration_us(baseline.timing.median_us)]
    parts += [baseline.math_mode] if baseline.math_mode else []
    parts += [f"relative error {significant(baseline.verdict.rel_error, 2)}"] if baseline.verdict else []
    parts += [f"compiled in {seconds(baseline.compile_s)}"] if baseline.compile_s else []
    parts += [f"kernel {baseline.kernel_name}"] if baseline.kernel_name else []
    if ours is not None and (ours.timer, ours.l2) != (baseline.timing.timer, baseline.timing.l2):
        parts.append(f"timer {baseline.timing.timer}, L2 {baseline.timing.l2}: not on the chart, which never mixes timers")
    if baseline.verdict is not None and not baseline.verdict.ok:
        parts.append("its own result is wrong")
    if baseline.timing.implausible:
        parts.append(baseline.timing.implausible)
    return f"{name}: {plain(', '.join(parts))}"
