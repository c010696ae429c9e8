"""The tabs under the heatmap: each is a function that draws a problem of a sweep's table."""

import pandas as pd
import streamlit as st

from tileviz import kernels
from tileviz.bench.peaks import peaks_of
from tileviz.compiler import targets
from tileviz.engine.jobs import importance
from tileviz.engine.jobs.ceilings import stored_ceilings
from tileviz.formats import percent
from tileviz.records import Trial
from tileviz.ui import session
from tileviz.ui.charts import screen
from tileviz.ui.parts import flop_count, places, waiting
from tileviz.ui.parts.cells import kept_as_text
from tileviz.ui.parts.stores import recorded, store
from tileviz.ui.parts.trouble import guarded, plain
from tileviz.ui.sweeps import address, against, corners, effects, failures, map_view, parallel, progress, race, rooflines, shapes, top
from tileviz.ui.sweeps.table import SweepTable

ROWS = (10, 25, 100, 1000)

NO_TIME = "No config of this problem has a time yet."


def draw_top(table: SweepTable, problem: int) -> None:
    most = st.segmented_control("Rows", ROWS, default=ROWS[0], required=True, key="top_rows", label_visibility="collapsed")
    frame = top.top_frame(table, problem, most)
    if frame.empty:
        st.info(NO_TIME)
        return
    _table(top.top_table(frame, table), frame["ordinal"].tolist(), "top_table", "The best configs")
    tied = len(table.tied(problem))
    said = f"= tied: {tied} configs that the best one does not clearly beat, measured in turn. " if tied else ""
    said += f"{plain(table.why_no_best(problem).capitalize())}. " if table.best(problem) is None else ""
    st.caption(f"{said}A row opens its config above. Equal code is listed once.")
    trial = _best_trial(table, problem)
    _clickable(top.top_figure(frame, list(trial.baselines) if trial else []), "top_chart", "Latency of the best configs, with baselines")


def draw_progress(table: SweepTable, problem: int) -> None:
    frame = progress.progress_frame(table, problem)
    if frame.empty:
        st.info("No config of this problem was tried yet, or the file it came from says nothing of when.")
        return
    left, right = st.columns(2, gap="medium")
    for column, by, title in ((left, "seconds", "Fastest so far over time"), (right, "trial", "Fastest so far over configs")):
        with column:
            st.header(title, anchor=False)
            _clickable(progress.progress_figure(frame, by), f"progress_{by}", title)
    st.caption(
        "Line: fastest so far. Crosses at the top: without a time. Finalists stand at their first result, with the time of their last."
    )
    race.draw(table, problem)


def draw_effects(table: SweepTable, problem: int) -> None:
    frame = effects.effects_frame(table, problem)
    if frame.empty:
        st.info("No knob of this sweep has more than one value.")
        return
    st.header("Main effects", anchor=False, help="The best and the median of the configs that share a value; everything else varies.")
    screen.chart(effects.effects_figure(frame), key="effects", alt="Best and median latency by knob value")
    left, right = st.columns(2, gap="medium")
    with left:
        st.header(
            "Importance",
            anchor=False,
            help="Optuna's PED-ANOVA over the configs that gave a time; failures are dropped, so see the shares beside.",
        )
        _importance(table, problem)
    with right:
        st.header("Share that fails", anchor=False, help=effects.SHARE_HELP)
        shares = effects.share_frame(table, problem)
        screen.chart(effects.failure_figure(shares), key="failure_shares", alt="Share of failures by knob value")
        st.caption(plain(effects.share_words(shares)))
        whole = corners.corner_words(corners.least_corners(table, problem), "corner")
        if whole:
            st.caption(plain(f"{whole}."))


def _importance(table: SweepTable, problem: int) -> None:
    """The stored one; else it is asked for, once the sweep has ended. Never computed in this process."""
    timed = int(table.of_problem(problem)["timed"].sum())
    found = importance.stored(table.view.notes, problem)
    if found is not None:
        shares, of = found
        figure = effects.importance_figure(shares)
        screen.chart(figure, key="importance", alt="Importance of each knob")
        st.caption(
            f"From {timed:,} timed configs." if of == table.view.counts.get("ok") else "Computed before the last configs were measured."
        )
        if of == table.view.counts.get("ok"):
            return
    if timed < importance.LEAST:
        st.caption(f"Needs {importance.LEAST} timed configs; there are {timed}.")
        return
    if importance.KIND in table.view.notes and found is None:
        st.caption("All times are equal, or no knob varies.")
        return
    name = f"importance:{table.view.id}"
    if waiting.draw(name):
        return
    for reason in waiting.failures(name):
        st.warning(plain(f"Importance could not be computed: {reason}"))
    if table.view.recorded:
        st.caption("It was not recorded with this sweep.")
        return
    st.button("Compute importance", key="_importance", icon=":material/functions:", on_click=_ask_importance, args=(table.view.id,))


@guarded
def _ask_importance(sweep: str) -> None:
    waiting.keep(f"importance:{sweep}", [importance.submit(store(), sweep)])


def draw_parallel(table: SweepTable, problem: int) -> None:
    frame = parallel.parallel_frame(table, problem)
    if frame.empty or len(frame.columns) < 2:
        st.info(NO_TIME)
        return
    screen.chart(parallel.parallel_figure(frame, table), key="parallel", alt="Parallel coordinates of the configs")
    all_of = len(table.timed(problem))
    which = (
        f"the fastest {len(frame):,} of {all_of:,} configs"
        if len(frame) < all_of
        else f"all {all_of:,} timed configs with code of their own"
    )
    st.caption(f"Each line is a config: {which}. Drag along an axis to keep a part of it; drag a name to move the axis.")


def draw_against(table: SweepTable, problem: int) -> None:
    known = against.measures(table)
    if not known:
        st.info("No resource or instruction count differs between the configs of this sweep.")
        return
    measure = st.selectbox("Latency against", known, key="_against", width=320)
    frame = against.against_frame(table, problem, measure)
    if frame.empty:
        st.info(NO_TIME)
        return
    _clickable(against.against_figure(frame, table, measure), "against_chart", f"Latency against {measure}")
    st.caption(f"{len(frame):,} configs with code of their own. Counts are static: how often a class is written. Click a point to open it.")


def draw_shapes(table: SweepTable, problem: int) -> None:
    sizes = shapes.sizes(table)
    if not sizes:
        st.info(
            "This sweep has one size. Give several, such as M = 512, 1024, 2048 or 512..4096, and this compares them with the baselines."
        )
        return
    trials = {n: trial for n in range(len(table.problems)) if (trial := _best_trial(table, n)) is not None}
    frame = shapes.shapes_frame(table, trials)
    if frame.empty:
        st.info(NO_TIME)
        return
    with st.container(horizontal=True, vertical_alignment="bottom"):
        size = st.selectbox("Against", sizes, key="_shape_size", width=160)
        rates = {"latency": "us", "TFLOPS": "tflops", "GB/s": "gbps"}
        offered = [title for title, column in rates.items() if frame[column].notna().any()]
        metric = st.segmented_control("Show", offered, default=offered[0], required=True, key="_shape_metric")
    screen.chart(shapes.shapes_figure(frame, table, size, rates[metric]), key="shapes", alt=f"{metric} against {size}")
    st.caption(
        "The best config of each problem, each with knobs of its own (on hover), beside the baselines measured with the same inputs."
    )


def draw_roofline(table: SweepTable, problem: int) -> None:
    view = table.view
    if view.kernel not in kernels.names():
        st.info(plain(f"The kernel {view.kernel} is not here, so its FLOPs and bytes are not known."))
        return
    kernel, trial = kernels.kernel(view.kernel), _best_trial(table, problem)
    peaks, ceilings = _ceilings(table, trial)
    try:
        costs = {n: kernel.cost(p).counted(flop_count.chosen()) for n, p in enumerate(table.problems)}
        mode = kernel.math_mode(table.problems[problem], targets.target(view.target))
    except kernels.FOREIGN:
        st.info("The problems of this sweep are not as this kernel has them.")
        return
    frame = rooflines.roofline_frame(table, costs)
    if not frame.empty:
        _clickable(rooflines.roofline_figure(frame, peaks, ceilings, mode), "roofline", "Roofline with every config")
        st.caption(
            f"Math mode {mode}. Configs of a problem have one intensity;"
            f" they are spread by {percent(rooflines.SPREAD, 0)} to be told apart."
        )
    else:
        rows = table.timed(problem)
        if rows.empty or rows["gbps"].isna().all():
            st.info(NO_TIME)
            return
        _clickable(
            rooflines.rate_figure(rows.assign(us=rows["median_us"])[["gbps", "us", "ordinal"]], peaks, ceilings),
            "roofline",
            "Rate of every config",
        )
        st.caption("The field counts no FLOPs for this kernel: model bytes over time, under the memory's bandwidth.")
    if peaks is None and ceilings is None:
        st.caption("No ceiling is known for this device: it is in no datasheet table, and none was measured (System page).")


def draw_failures(table: SweepTable, problem: int) -> None:
    frame = failures.failure_frame(table, problem)
    if frame.empty:
        st.info("Nothing failed, and no config broke a rule.")
        return
    _table(failures.failure_table(frame), frame["ordinal"].tolist(), "failure_table", "Failures by kind")
    st.caption("Reasons that differ in numbers alone are one line. A row opens its first config above. Shares by knob value: tab Knobs.")


def _ceilings(table: SweepTable, trial: Trial | None):
    """(datasheet peaks or None, measured ceilings or None) of the device that the sweep ran on."""
    kept = recorded() if table.view.recorded else None
    known = (*places.devices(), *(kept.devices() if kept is not None else ()))
    there = next((d for d in known if d.id == table.view.device and d.target == table.view.target), None)
    named = (trial.fingerprint.get("device") if trial else None) or (there.name if there else "")
    return peaks_of(str(named)), stored_ceilings(there.id, kept if kept is not None else store()) if there else None


def _best_trial(table: SweepTable, problem: int) -> Trial | None:
    index = table.best(problem)
    found = table.rows.at[index, "trial"] if index is not None else None
    return store().trial(found) if isinstance(found, str) else None


def _clickable(figure, key: str, alt: str) -> None:
    """A chart whose points open their config."""
    screen.chart(figure, key=key, alt=alt, on_select=_clicked)
    st.session_state.setdefault(session.CLICKABLE, {})[key] = True


@guarded
def _clicked() -> None:
    """Opens what was clicked, in whichever of the charts."""
    for key in st.session_state.get(session.CLICKABLE, {}):
        event = st.session_state.get(key)
        if event and event["selection"]["points"]:
            map_view.open_points(event)


def _table(frame: pd.DataFrame, ordinals: list[int], key: str, alt: str) -> None:
    """A table whose rows open their config."""
    right = {name: st.column_config.TextColumn(name, alignment="right") for name in _NUMBERS if name in frame}
    st.session_state[session.ordinals_of(key)] = ordinals
    st.dataframe(
        kept_as_text(frame), hide_index=True, width="stretch", key=key, on_select=lambda: _row_picked(key), selection_mode="single-row",
        alt=alt, column_config=right, height=min(38 + 35 * max(1, len(frame)), 423),
    )  # fmt: skip


@guarded
def _row_picked(key: str) -> None:
    rows, ordinals = st.session_state[key].selection.rows, st.session_state.get(session.ordinals_of(key), [])
    if rows and rows[0] < len(ordinals):
        address.open_config(ordinals[rows[0]])


_NUMBERS = ("#", "latency", "p10 to p90", "of best", "rate", "ceiling", "registers", "shared, B", "configs", "share", "config")
