"""Where the bytes go: the model of a fused kernel against the chain it replaces, and what Nsight Compute measured of one launch."""

import pandas as pd
import streamlit as st

from tileviz import kernels
from tileviz.bench import ncu
from tileviz.engine import requests
from tileviz.engine.options import INPUTS, Measuring, Where, check_word
from tileviz.errors import TilevizError
from tileviz.formats import age, duration_us, percent, significant, size_bytes
from tileviz.records import Chain, Trial
from tileviz.ui import links
from tileviz.ui.charts import screen
from tileviz.ui.charts.traffic import traffic_figure, traffic_frame
from tileviz.ui.parts import places, shown
from tileviz.ui.parts.stores import learned_device, store
from tileviz.ui.parts.trouble import guarded, plain

BUTTON = "Profile one launch with Nsight Compute"

MODEL_HELP = (
    "A model, not a measurement: each launch reads its inputs once from DRAM and writes its outputs once, L2 serves every block its tiles,"
    " shared memory takes a tile in once and gives it out once, registers hold float32. Formulas are on hover."
)
PROFILE_HELP = (
    "Runs this kernel once more under ncu, with cold caches and clocks left alone, and reads the device's own counters."
    " Takes some ten seconds; needs Nsight Compute and the permission to read counters."
)

MOST_STALLS = 3


def draw(trial: Trial, running: bool) -> None:
    """The picture where the kernel has a model, the profile where it ran on a GPU."""
    if trial.status != "ok" or trial.timing is None:
        return
    if found := chains_of(trial):
        _model(found)
    on_gpu = trial.device is not None and trial.device != "cpu"
    if on_gpu and not trial.recorded:
        _profile(trial, running)


def _model(found: tuple[Chain, ...]) -> None:
    st.header("Memory traffic, by formula", anchor=False, help=MODEL_HELP)
    figure = traffic_figure(traffic_frame(found))
    screen.chart(figure, key="traffic", alt="Model bytes of each chain through each level of memory")
    st.caption(plain(saved(found)))


def chains_of(trial: Trial) -> tuple[Chain, ...]:
    """The chains of this problem and config on its device; none for a kernel without a model, or one that is not here."""
    if trial.kernel not in kernels.names():
        return ()
    device = next((d for d in places.devices() if d.id == trial.device), None)
    learned = learned_device(trial.device) or device
    facts = learned.facts if learned is not None else {}
    return kernels.kernel(trial.kernel).traffic(trial.problem, trial.config, facts.get("l2_bytes"), facts.get("sm_count"))


def saved(chains: tuple[Chain, ...]) -> str:
    """What our chain moves of what the first one does, in a sentence; with its note."""
    first, own = chains[0], next(chain for chain in chains if chain.ours)
    note = f" {own.note[:1].upper()}{own.note[1:]}." if own.note else ""
    if own is first:
        return f"{size_bytes(own.total('dram'))} through DRAM.{note}"
    share = own.total("dram") / first.total("dram")
    return f"This program moves {size_bytes(own.total('dram'))} through DRAM, {percent(share, 0)} of what {first.title} would.{note}"


def _profile(trial: Trial, running: bool) -> None:
    with st.container(horizontal=True, vertical_alignment="center", horizontal_alignment="distribute"):
        st.header("One launch under the profiler", anchor=False)
        st.button(
            BUTTON, key="_profile", icon=":material/troubleshoot:", help=PROFILE_HELP, disabled=running, on_click=_start, args=(trial,)
        )
    found = trial.profile
    if not found:
        return
    if found.get("reason"):
        st.info(plain(f"Not profiled: {found['reason']}."))
        return
    st.dataframe(
        profile_frame(found, model_bytes(trial)), hide_index=True, width="stretch", key="profile", alt="What ncu measured",
        column_config=_RIGHT,
    )  # fmt: skip
    st.caption(plain(f"Nsight Compute, one cold launch of {found.get('kernel', '')}, {age(found.get('created', 0))}."))


def model_bytes(trial: Trial) -> float | None:
    """DRAM bytes by formula, of the kernel's own chain or else its cost."""
    if found := chains_of(trial):
        return next(chain for chain in found if chain.ours).total("dram")
    return trial.gbps * trial.timing.median_us * 1e3 if trial.gbps and trial.timing else None


def profile_frame(found: dict, model: float | None = None) -> pd.DataFrame:
    """Three columns of text: what, how much, and what it means. A value that ncu did not give is left out."""
    read, written = found.get("dram_read_bytes"), found.get("dram_write_bytes")
    rows = [
        ("duration", _of(found.get("duration_us"), duration_us), "with 1 to 1.5 \u00b5s of ncu's own"),
        ("DRAM read", _of(read, size_bytes), ""),
        ("DRAM written", _of(written, size_bytes), ""),
        ("tensor pipe busy", _of(found.get("tensor_percent"), lambda v: f"{significant(v)} %"), "of the cycles an SM was active"),
        ("SM clock", _of(found.get("sm_clock_mhz"), lambda v: f"{v:,.0f} MHz"), ""),
    ]  # fmt: skip
    if read is not None and written is not None and model:
        total = read + written
        rows.insert(3, ("DRAM in all", size_bytes(total), f"{significant(total / model)} of the model's {size_bytes(model)}"))
    rows += [
        (f"stall: {reason.replace('_', ' ')}", f"{significant(warps)} warps", ncu.STALLS.get(reason, ""))
        for reason, warps in (found.get("stalls") or ())[:MOST_STALLS]
    ]
    return pd.DataFrame([row for row in rows if row[1]], columns=["measured", "value", "note"])


def _of(value, words) -> str:
    return "" if value is None else words(value)


@guarded
def _start(trial: Trial) -> None:
    """In the callback: the job takes the place of the one in the address, and the page watches it."""
    from tileviz.engine.jobs import profile

    try:
        request = requests.resolve(
            trial.kernel,
            trial.problem,
            trial.config,
            where=Where(None, trial.device, places.devices()),
            measuring=Measuring(inputs=check_word("inputs", trial.inputs, INPUTS), seed=trial.seed),
        )
    except TilevizError as error:
        links.note([f"This result cannot be profiled here: {error.message}."])
        return
    shown.show_job(profile.submit(store(), request, trial.trial))


_RIGHT = {"value": st.column_config.TextColumn("value", alignment="right")}
