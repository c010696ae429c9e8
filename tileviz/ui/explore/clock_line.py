"""Under the samples: the SM clock while they were taken, its median, and what held it back."""

import streamlit as st

from tileviz.formats import percent
from tileviz.measured import Timing
from tileviz.records import Trial
from tileviz.ui.charts import screen
from tileviz.ui.charts.clocks import clocks_figure, clocks_frame
from tileviz.ui.parts.trouble import plain

HELP = (
    "Read every 20 ms while the launches were timed, ours and each baseline. Grey marks: held by"
    " the power cap, the steady state of a heavy"
    " kernel. Red marks: a slowdown by heat or hardware, which flags the value."
)


def draw(trial: Trial) -> None:
    """Nothing where clocks cannot be read, or were not kept."""
    if trial.timing is None or not trial.timing.sm_clocks_mhz:
        return
    st.caption(plain(words(trial.timing)), help=HELP)
    screen.chart(clocks_figure(clocks_frame(trial)), key="clocks", alt="SM clock during the timing")


def words(timing: Timing) -> str:
    """`SM clock 1,755 MHz median, 1,410 to 1,980; power cap in 40 % of the readings`."""
    mhz, count = timing.sm_clocks_mhz, len(timing.sm_clocks_mhz)
    middle = (
        f"SM clock {timing.sm_clock_mhz:,.0f} MHz median" if timing.sm_clock_mhz else "SM clock"
    )
    spread = f"{middle}, {min(mhz):,.0f} to {max(mhz):,.0f}" if min(mhz) < max(mhz) else middle
    held: dict[str, int] = {}
    for first, last, reasons in timing.clock_limits:
        for reason in reasons.split(", "):
            held[reason] = held.get(reason, 0) + last - first + 1
    told = [
        f"{reason} in {'all' if n == count else f'{percent(n / count, 0)} of the'} readings"
        for reason, n in held.items()
    ]
    return "; ".join([spread, *told])
