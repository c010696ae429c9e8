"""Recorded results on Explore: a whole one where this machine has none, else a few lines beside its
own.

Imports pandas and plotly, so it is imported after the form is on the screen.
"""

import math
from collections.abc import Callable

import pandas as pd
import streamlit as st

from tileviz.engine import presets
from tileviz.engine.presets import recorded_words
from tileviz.engine.requests import Request
from tileviz.formats import assignments, bandwidth, compared_with, duration_us, significant
from tileviz.kernels.asked import AskedKernel
from tileviz.measured import fastest_baseline
from tileviz.records import Trial, TunedConfig
from tileviz.ui import links, session
from tileviz.ui.form import held
from tileviz.ui.form.forms import Chosen
from tileviz.ui.parts import flop_count
from tileviz.ui.parts.stores import presets as known_presets
from tileviz.ui.parts.stores import recorded, store
from tileviz.ui.parts.trouble import guarded, plain


def same(request: Request | None) -> Trial | None:
    """The recorded result of exactly these knobs."""
    there = recorded()
    return there.same(request.kernel, request.problem, request.config, request.target) if there is not None and request else None


def nearest(kernel: AskedKernel, request: Request | None, chosen: Chosen) -> TunedConfig | None:
    """The recorded best config of the problem that is nearest to the form's; where none is like it, that of the kernel's usual one."""
    offered = [tuned for tuned in known_presets(kernel.name) if tuned.recorded]
    problem = request.problem if request is not None else chosen.problem
    found = presets.ranked(kernel, problem, chosen.place.target, offered) if problem is not None else []
    if found or not offered:
        return next(iter(found), None)
    usual = kernel.problem({}, "cuda")
    return min(offered, key=lambda tuned: (presets.distance(kernel, usual, tuned.problem), -math.prod(_sizes(kernel, tuned))))


def _sizes(kernel: AskedKernel, tuned: TunedConfig) -> list[int]:
    return list(presets.sizes_of(kernel, tuned.problem).values())


def draw_whole(chosen: Chosen, request: Request | None, numbers: Callable[[Trial], None]) -> None:
    """A recorded result in full, for a page that has none of this machine; `numbers` draws it."""
    tuned = nearest(chosen.kernel, request, chosen)
    trial = store().trial(tuned.trial) if tuned is not None else None
    if tuned is None or trial is None:
        return
    with st.container(border=True, key="recorded", gap="small"):
        st.markdown(f":material/bookmark: **{plain(title(trial))}**", help=WHAT_RECORDED_IS)
        st.caption(plain(f"{assignments(trial.problem)}, with {assignments(trial.config)}: the best of its sweep."))
        buttons(trial, tuned.sweep)
        numbers(trial)


WHAT_RECORDED_IS = (
    "This result comes with tileviz: it was measured with this tool on the device that is named, and nothing of it on this machine."
)


def title(trial: Trial) -> str:
    """`Recorded on NVIDIA H200, 2026-11-29: not measured on this machine`."""
    words = recorded_words(trial.device, trial.created)
    return f"{words[:1].upper()}{words[1:]}: not measured on this machine"


def buttons(trial: Trial, sweep: str) -> None:
    """To the form of these knobs, and to the sweep that they come from."""
    with st.container(horizontal=True, gap="small"):
        st.button("Set these knobs", key="recorded_set", icon=":material/tune:", on_click=_set, args=(trial,), help=SET_HELP)
        if st.button("See its sweep", key="recorded_sweep", icon=":material/grid_on:", help="Every config that was tried, as a heatmap."):
            links.open_sweep(sweep)


SET_HELP = "Problem, target and knobs on the left as this result has them."


@guarded
def _set(trial: Trial) -> None:
    st.session_state.pop(session.LAST_JOB, None)
    held.load_trial(trial)


def draw_stamp(trial: Trial, chosen: Chosen, request: Request | None) -> None:
    """Above a recorded result that is for the knobs of the form."""
    here = "Run measures it here." if chosen.place.runs else "No such device here; Compile makes its code."
    words = f"{title(trial)}. {here}"
    if request is not None and trial.config != request.config:
        words += f" Same generated code as {assignments(trial.config)}."
    st.info(plain(words), icon=":material/bookmark:")


def draw_beside(chosen: Chosen, request: Request | None, shown: Trial | None) -> None:
    """What was recorded for these knobs and for the nearest problem, under a result of this machine; nothing where nothing is recorded."""
    rows = beside(chosen, request, shown)
    if len(rows) < 2:
        return
    st.header("Beside the recorded results", anchor=False, help=WHAT_RECORDED_IS)
    st.dataframe(
        beside_frame(rows), hide_index=True, width="stretch", key="beside", alt="This result beside the recorded ones", column_config=_RIGHT
    )
    trial, tuned = rows[-1][1], nearest(chosen.kernel, request, chosen)
    if tuned is not None:
        buttons(trial, tuned.sweep)


def beside(chosen: Chosen, request: Request | None, shown: Trial | None) -> list[tuple[str, Trial]]:
    """(what it is, trial): what is shown, the recorded result of the same config, and the recorded best of the nearest problem."""
    there, tuned = recorded(), nearest(chosen.kernel, request, chosen)
    if there is None or shown is None or shown.timing is None:
        return []
    rows = [("shown above", shown)]
    same = there.same(shown.kernel, shown.problem, shown.config, shown.target)
    best = there.trial(tuned.trial) if tuned is not None else None
    if same is not None and same.trial != shown.trial:
        rows.append(("recorded, same config", same))
    if best is not None and best.trial not in (shown.trial, same.trial if same else None):
        rows.append(("recorded, best of its sweep", best))
    return rows


def beside_frame(rows: list[tuple[str, Trial]]) -> pd.DataFrame:
    """A row for each result, as text."""
    return pd.DataFrame([_row(words, flop_count.counted(trial)) for words, trial in rows])


def _row(words: str, trial: Trial) -> dict[str, str]:
    best = fastest_baseline(trial.baselines)
    against = compared_with(best.comparison, best.title) if best is not None else "-"
    return {
        "result": words,
        "on": trial.device or trial.target,
        "latency": duration_us(trial.timing.median_us) if trial.timing and trial.timing.n else trial.status.replace("_", " "),
        "rate": f"{significant(trial.tflops)} TFLOPS" if trial.tflops else bandwidth(trial.gbps) if trial.gbps else "-",
        "against the fastest baseline": against,
        "problem": assignments(trial.problem),
        "config": assignments(trial.config),
    }


_RIGHT = {name: st.column_config.TextColumn(name, alignment="right") for name in ("latency", "rate", "against the fastest baseline")}
