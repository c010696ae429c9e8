"""What to take along: the best config as Python, the best ones as a list for TileLang's autotune,
and the sweep as a file."""

import streamlit as st

from tileviz import kernels
from tileviz.compiler import targets
from tileviz.engine import presets
from tileviz.engine.sweeps import results
from tileviz.store.sweeps import SweepView
from tileviz.ui.parts import script
from tileviz.ui.parts.stores import store
from tileviz.ui.parts.trouble import guarded, plain
from tileviz.ui.sweeps import top
from tileviz.ui.sweeps.table import SweepTable

FORMATS = {"csv": ("CSV", "csv"), "json": ("JSON", "json"), "t4": ("Kernel Tuner T4", "t4.json")}
"""A format of `exchange.FORMATS`, its title, and how its file ends."""

LISTED = (1, 5, 10, 25)


def draw(table: SweepTable, problem: int) -> None:
    _downloads(table)
    best = table.best(problem)
    if best is None:
        why = table.why_no_best(problem)
        st.info(plain(f"{why[:1].upper()}{why[1:]}; the files above hold what there is."))
        return
    _preset(table)
    left, right = st.columns(2, gap="medium")
    with left:
        st.header("The best config, as Python", anchor=False)
        st.caption("A script that needs TileLang and PyTorch and nothing of tileviz.")
        st.code(best_script(table, problem, best), language="python", height=340)
    with right:
        with st.container(horizontal=True, vertical_alignment="center"):
            st.header("For TileLang's autotune", anchor=False)
            most = st.segmented_control(
                "Configs",
                LISTED,
                default=LISTED[1],
                required=True,
                key="take_most",
                label_visibility="collapsed",
            )
        st.caption("The best configs: `@autotune(configs=configs)`.")
        st.code(autotune_text(table, problem, most), language="python", height=200)
        st.header("Again from a shell", anchor=False)
        st.code("\n".join(shell_lines(table.view)), language=None)


def _preset(table: SweepTable) -> None:
    """What problems like these start from: kept by a click, and forgotten by another."""
    view, kept = table.view, presets.kept(store(), table.view)
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        st.header("As a preset", anchor=False, help=PRESET_HELP)
        if view.recorded:
            st.caption(
                f"{len(kept):,} of its configs are presets that come with tileviz."
                if kept
                else "None of its configs is a preset."
            )
        elif kept:
            st.badge(
                f"kept for {len(kept):,} problem{'s' if len(kept) > 1 else ''}",
                color="green",
                icon=":material/bookmark:",
            )
            st.button(
                "Forget it",
                key="_preset_forget",
                type="tertiary",
                on_click=_forget,
                args=([tuned.id for tuned in kept],),
            )
        if not view.recorded and not view.active:
            words = (
                f"Keep the best of {len(view.best):,} problems"
                if len(view.best) > 1
                else "Keep the best"
            )
            again = "Keep them again" if len(view.best) > 1 else "Keep it again"
            st.button(
                again if kept else words,
                key="_preset_keep",
                icon=":material/bookmark_add:",
                on_click=_keep,
                args=(view.id,),
            )


PRESET_HELP = (
    "The best config of each problem becomes what Explore, Code and the command line start from,"
    " for this problem and for like ones on this"
    " target: the nearest problem wins, and the page says which."
)


@guarded
def _keep(sweep: str) -> None:
    presets.keep(store(), sweep)


@guarded
def _forget(ids: list[str]) -> None:
    for tuned in ids:
        store().forget_tuned(tuned)


def shell_lines(view: SweepView) -> list[str]:
    lines = [f"python -m tileviz show {view.id}"]
    if view.recorded or view.request.get("imported"):
        return lines
    return [
        *lines,
        f"python -m tileviz show {view.id} --keep-best",
        f"python -m tileviz sweep --resume {view.id}",
    ]


def best_script(table: SweepTable, problem: int, best: int) -> str:
    """The whole script; the config alone where the kernel is not here."""
    view, config = table.view, table.configs[best]
    alone = f"config = {config!r}"
    if view.kernel not in kernels.names():
        return alone
    try:
        kernel, target = kernels.kernel(view.kernel), targets.target(view.target)
        device = "cuda" if view.recorded else view.device  # a recorded one goes by its name
        return script.script(
            kernel, kernel.problem(table.problems[problem], target.kind), config, target, device
        )
    except kernels.FOREIGN:
        return alone


def autotune_text(table: SweepTable, problem: int, most: int) -> str:
    frame = top.top_frame(table, problem, most)
    return results.autotune_list([table.configs[index] for index in frame["index"]])


def _downloads(table: SweepTable) -> None:
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        st.caption("The whole sweep as a file, failures included:")
        for form, (title, ending) in FORMATS.items():
            st.download_button(
                title, data=_maker(table.view.id, form),
                file_name=f"{table.view.kernel}_{table.view.id}.{ending}", on_click="ignore",
                key=f"take_{form}", icon=":material/download:",
                mime="text/csv" if form == "csv" else "application/json",
            )  # fmt: skip


def _maker(sweep: str, form: str):
    """Writes the file when it is asked for, of what is stored then."""
    return lambda: results.written(store(), sweep, form)[0]
