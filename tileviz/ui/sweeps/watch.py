"""Watches a sweep: done of total, rate, time left, best so far, failures by kind; Cancel and Resume. A tick redraws no chart."""

import time

import streamlit as st

from tileviz.engine import client as jobs
from tileviz.engine.jobs import race
from tileviz.engine.sweeps import client
from tileviz.formats import Colour, age, assignments, duration_us, percent, race_words, seconds
from tileviz.measured import why_no_best
from tileviz.records import JobView
from tileviz.store.sweeps import NOT_RUN, Pace, SweepView
from tileviz.ui.parts import runs
from tileviz.ui.parts.stores import store
from tileviz.ui.parts.trouble import guarded, plain
from tileviz.ui.sweeps import address, loading, space_form
from tileviz.ui.sweeps.table import SHORT, rated

TICK_S = 1.0

STATUS_HELP = {
    "pruned": "Pruned: the config breaks a rule of its kernel or target that is known before compiling, such as more shared memory than a"
    " block may use. It was not compiled.",
    "unsupported": "The target cannot express it, such as float16 on the CPU.",
    SHORT.get(NOT_RUN, NOT_RUN): "The search ended, or has not come to it yet.",
}
"""On hover, for words that are met here first."""

LEAST_BETWEEN_CHARTS_S = 4.0
"""A sweep finds a new best often at its start; charts follow at this pace."""


def panel(view: SweepView) -> None:
    """The sweep's state; while it runs, kept up to date without running the page again."""
    if view.active:
        st.fragment(guarded(_tick), run_every=TICK_S, key="_sweep_live")(view.id, view.state, view.bests, time.monotonic())
    else:
        _draw(view)


def _tick(sweep: str, state: str, best: dict, drawn: float) -> None:
    view = store().sweep(sweep)
    if view is None or view.state != state or not view.active:
        st.rerun()
    if view.job is not None:
        jobs.watch(store(), view.job)  # an engine that died is started again
    if view.bests != best and time.monotonic() - drawn > LEAST_BETWEEN_CHARTS_S:
        loading.refresh()
        st.rerun()
    _draw(view)


def _draw(view: SweepView) -> None:
    pace = store().sweep_pace(view.id)
    job = store().job(view.job) if view.job and view.active else None
    with st.container(border=True, key="sweep_watch", gap="xsmall"):
        with st.container(horizontal=True, vertical_alignment="center", gap="small"):
            st.markdown(f"**{plain(headline(view, job))}**")
            st.space("stretch")
            _buttons(view, job)
        if view.active:
            st.progress(progress(view, pace), text=plain(pace_words(view, pace)))
        with st.container(horizontal=True, gap="small", vertical_alignment="center"):
            if not view.active:
                st.caption(plain(pace_words(view, pace)))
            for text, colour in badges(pace):
                st.badge(plain(text), color=colour, help=STATUS_HELP.get(text.rpartition(" ")[0]))
            st.caption(plain(best_words(view)))
        for sentence in note_words(view):
            st.caption(plain(sentence))


def _buttons(view: SweepView, job: JobView | None) -> None:
    if view.active:
        st.button("Refresh charts", key="_sweep_refresh", icon=":material/refresh:", on_click=loading.refresh, type="tertiary")
        stopping = job is not None and job.state == "cancelling"
        st.button("Cancel", key="_sweep_cancel", icon=":material/stop:", on_click=_cancel, args=(view.id,), disabled=stopping)
    elif not (view.recorded or view.request.get("imported")) and view.counts.get(NOT_RUN):
        left = view.counts[NOT_RUN]
        st.button(
            "Resume", key="_sweep_resume", icon=":material/play_arrow:", on_click=_resume, args=(view.id,),
            help=f"Runs the rest: {left:,} configs have no result yet. What is done is kept.",
        )  # fmt: skip


@guarded
def _cancel(sweep: str) -> None:
    client.cancel(store(), sweep)


@guarded
def _resume(sweep: str) -> None:
    client.resume(store(), sweep, say=lambda words: st.session_state.update(_link_notes=[f"{words[0].upper()}{words[1:]}."]))
    loading.refresh()
    address.show(sweep)


def headline(view: SweepView, job: JobView | None = None) -> str:
    """`running: compile and measure, 12 s`, `queued: 1 job before it`, `done 3 minutes ago: all 48 ran`."""
    if job is not None and job.active:
        if job.state == "running" and job.phase:
            return f"{view.state}: {runs.TITLES.get(job.phase, job.phase)}, {seconds(time.time() - (job.phase_started or time.time()))}"
        return runs.headline(job).replace("\\", "")
    when = f" {age(view.ended)}" if view.ended else ""
    return f"{view.state}{when}" + (f": {view.reason}" if view.reason and view.reason != view.state else "")


def progress(view: SweepView, pace: Pace) -> float:
    """Share that is done, 0 to 1: of the configs or of the budget, whichever is further."""
    budget = view.request.get("budget") or {}
    shares = [pace.done / max(1, min(pace.total, budget.get("trials") or pace.total))]
    if budget.get("seconds"):
        shares.append(view.seconds / budget["seconds"])
    return max(0.0, min(1.0, max(shares)))


def pace_words(view: SweepView, pace: Pace) -> str:
    """`45 of 130 configs, 3.1 a second, 27 s left`: equal configs once, without those that a rule forbids."""
    budget = view.request.get("budget") or {}
    total = min(pace.total, budget.get("trials") or pace.total)
    words = [f"{pace.done:,} of {total:,} configs" + (f" (of {pace.total:,} in the space)" if total < pace.total else "")]
    if pace.done and view.seconds > 0:
        rate = pace.done / view.seconds
        words.append(f"{rate:.1f} a second" if rate >= 0.1 else f"{rate * 60:.1f} a minute")
        if view.active and pace.done < total:
            left = (total - pace.done) / rate
            left = min(left, budget["seconds"] - view.seconds) if budget.get("seconds") else left
            words.append(f"about {seconds(max(0.0, left))} left" if left > 0 else "best ones are measured again")
    if view.seconds:
        words.append(f"{seconds(view.seconds)} of search")
    return ", ".join(words)


def badges(pace: Pace) -> list[tuple[str, Colour]]:
    """(words, colour) for each status, ok first."""
    colours: dict[str, Colour] = {"ok": "green", NOT_RUN: "gray", "pruned": "violet", "unsupported": "violet", "cancelled": "gray"}
    found = sorted(((s, n) for s, n in pace.counts.items() if n), key=lambda item: (item[0] != "ok", -item[1]))
    return [(f"{SHORT.get(status, status)} {count:,}", colours.get(status, "red")) for status, count in found]


def best_words(view: SweepView) -> str:
    """The best so far, its time, rate and knobs; of several problems the number that have one."""
    if not view.bests:
        return "no time yet" if view.active else why_no_best(store().sweep_frame(view.id, instructions=False, statuses=("ok",)))
    if len(view.request["problems"]) > 1:
        return f"a best for {len(view.bests):,} of {len(view.request['problems']):,} problems"
    words = f"best {'so far ' if view.active else ''}{duration_us(view.bests[0].median_us)}"
    trial = store().trial(view.best[0]) if view.best.get(0) else None
    if trial is None:
        return words
    tied = len(view.tied.get(0, ()))
    also = f", tied with {tied - 1:,} other{'s' if tied > 2 else ''}" if tied > 1 and not view.active else ""
    return f"{words}, {rated(trial.tflops, trial.gbps)}: {assignments(trial.config)}{also}"


def note_words(view: SweepView) -> list[str]:
    """What else is to be said of a sweep that ended: how busy the device was, what failed after the search, who won a race."""
    busy = view.notes.get("lane_busy")
    words = [f"The device measured {percent(busy, 0)} of the time after the first compile."] if busy else []
    raced = [race_words(found) for n in range(len(view.request["problems"])) if (found := race.told(view.notes, n))]
    return words + [str(text) for name, text in view.notes.items() if name.startswith(("turns", "baselines"))] + raced


def settings_button(view: SweepView, kernel) -> None:
    """Puts a stored sweep's settings into the sidebar."""
    st.button(
        "Use these settings", key="_sweep_load", type="tertiary", icon=":material/tune:", on_click=space_form.load,
        args=(kernel, view.request), help="The sidebar's space as this sweep had it, to start it again or a changed one.",
    )  # fmt: skip
