"""The System page: what this machine is, what is missing and the line that gets it, what runs, and what is stored."""

import time
from collections import Counter
from collections.abc import Callable, Sequence

import pandas as pd
import streamlit as st

from tileviz import settings
from tileviz.bench.ceilings import ceilings_from_json
from tileviz.bench.peaks import peaks_of
from tileviz.compiler import toolchain
from tileviz.engine import client, requests
from tileviz.engine.jobs.ceilings import FACT as CEILINGS
from tileviz.formats import age, arithmetic, assignments, bandwidth, percent, size_bytes
from tileviz.records import Device, JobView
from tileviz.store.deletion import CodeEntry
from tileviz.store.home import network_warning
from tileviz.store.recorded import Recorded
from tileviz.ui import session
from tileviz.ui.parts import deleting, runs
from tileviz.ui.parts.places import devices as local_devices
from tileviz.ui.parts.stores import recorded, store
from tileviz.ui.parts.trouble import guarded, plain

TICK_S = 2.0

MOST_CODE = 100
"""Entries of compiled code that are listed."""

FACTS = {
    "compute_capability": "compute capability", "sm_count": "SMs", "cores": "cores", "memory_bytes": "memory",
    "shared_per_block_bytes": "shared memory a block", "shared_per_sm_bytes": "shared memory an SM", "l2_bytes": "L2 cache",
    "registers_per_sm": "registers an SM", "threads_per_sm": "threads an SM", "sm_clock_max_mhz": "SM clock, highest",
    "memory_clock_max_mhz": "memory clock, highest", "power_cap_w": "power cap", "cuda_driver_version": "driver's CUDA",
}  # fmt: skip
"""Names of facts, in the order they are shown; a fact that is not named here comes after them under its own name."""

CEILINGS_HELP = (
    "Datasheet peaks are for the boost clock and ideal traffic. The measured ones are what a large copy and a large torch.matmul reach on"
    " this device; results are set against both. A GPU is measured once by itself, in a few seconds."
)


RIGHT = {name: st.column_config.TextColumn(name, alignment="right") for name in ("value", "size", "measured", "datasheet", "share")}


PARTS = ("Jobs", "Devices", "Toolchain", "Storage")


def contents() -> None:
    """The sidebar: a link to each part. Every page has a sidebar, so that none jumps when another is opened."""
    with st.sidebar, st.container(gap="xsmall", key="form"):
        st.markdown("**On this page**")
        for name in PARTS:
            st.markdown(f"[{name}](#{name.lower()})")


def notices() -> None:
    """A damaged store that was set aside; a home on a network file system."""
    for text in store().notices():
        st.warning(plain(text))
    warning = network_warning(store().home)
    if warning:
        st.warning(plain(warning))


def devices() -> None:
    """Those of this machine, and beside them what the recorded results were measured on."""
    st.header("Devices", anchor="devices")
    there = recorded()
    recorded_devices = there.devices() if there is not None else []
    found = [*known_devices(), *recorded_devices]
    for place, (column, device) in enumerate(zip(st.columns(max(2, len(found))), found, strict=False)):
        with column:
            if there is None or place < len(found) - len(recorded_devices):
                st.markdown(f"**{plain(device.id)}**: {plain(device.name)}, target {plain(device.target or 'unknown')}")
                if device.unusable:
                    st.warning(f"No kernel runs here: {plain(device.unusable)}.", icon=":material/block:")
                _facts(device)
                _ceilings(device, measurable=not device.unusable)
            else:
                _recorded(device, there)


def _recorded(device: Device, there: Recorded) -> None:
    words = f"**{plain(device.name)}**, recorded: not of this machine; target {plain(device.target)}"
    st.markdown(f":material/bookmark: {words}", help=RECORDED_HELP)
    _facts(device)
    _ceilings(device, measurable=False)
    versions = ", ".join(f"{name} {value}" for name, value in device.fingerprint.items() if name not in ("device", "power_cap_w"))
    counts = Counter(view.kernel for view in there.sweeps(limit=1000) if view.device == device.id)
    sweeps = ", ".join(f"{n} of {kernel}" for kernel, n in counts.items())
    st.caption(plain(f"With {versions}. Sweeps, on the Sweep page: {sweeps}."))


RECORDED_HELP = "Results that come with tileviz, measured with it on this device. Pages show them where nothing was measured here."


def _facts(device: Device) -> None:
    st.dataframe(
        facts_frame(device), hide_index=True, width="stretch", height="content", key=f"facts_{device.id}", alt=f"Facts of {device.id}",
        column_config=RIGHT,
    )  # fmt: skip


def _ceilings(device: Device, measurable: bool = True) -> None:
    """Datasheet peaks beside what was measured, and on a device of this machine the button that measures."""
    frame = ceilings_frame(device)
    found = ceilings_from_json(device.facts.get(CEILINGS))
    st.subheader("Ceilings", anchor=False, help=CEILINGS_HELP)
    if not frame.empty:
        st.dataframe(
            frame, hide_index=True, width="stretch", key=f"ceilings_{device.id}", alt=f"Ceilings of {device.id}", column_config=RIGHT
        )
    peaks = peaks_of(device.name)
    said = [f"Datasheet: {peaks.source}."] if peaks else [] if device.id == "cpu" else ["This device is not in the datasheet table."]
    said.append(f"Measured on {found.day}, timer {found.timer}." if found else "Not measured yet.")
    st.caption(plain(" ".join(said)))
    if not measurable:
        return
    busy = any(job.kind == CEILINGS and job.request.get("device") == device.id for job in store().jobs(active=True))
    st.button(
        "Measuring" if busy else "Measure ceilings again" if found else "Measure ceilings", key=f"measure_{device.id}", disabled=busy,
        on_click=_measure, args=(device.id,), icon=":material/speed:",
    )  # fmt: skip


@guarded
def _measure(device: str) -> None:
    from tileviz.engine.jobs import ceilings

    ceilings.submit(store(), device)


def ceilings_frame(device: Device) -> pd.DataFrame:
    """A row for the copy bandwidth and one for each math mode: measured, datasheet, and the share of it."""
    found, peaks = ceilings_from_json(device.facts.get(CEILINGS)), peaks_of(device.name)
    copied = f"memory, copy of {size_bytes(found.copy_bytes)}" if found else "memory"
    rows = [_ceiling(copied, found.copy_tbps if found else None, peaks.tbps if peaks else None, _terabytes)]
    modes = [*(peaks.tflops if peaks else ()), *(mode for mode in (found.tflops if found else ()) if not peaks or mode not in peaks.tflops)]
    for mode in modes:
        size = f", {found.sizes[mode]:,}\u00b3 product" if found and mode in found.sizes else ""
        measured = found.tflops.get(mode) if found else None
        rows.append(_ceiling(f"{mode}{size}", measured, peaks.tflops.get(mode) if peaks else None, arithmetic))
    return pd.DataFrame([row for row in rows if row[1] or row[2]], columns=["ceiling", "measured", "datasheet", "share"])


def _ceiling(name: str, measured: float | None, datasheet: float | None, words: Callable[[float], str]) -> tuple[str, str, str, str]:
    share = percent(measured / datasheet, 0) if measured and datasheet else ""
    return name, words(measured) if measured else "", words(datasheet) if datasheet else "", share


def _terabytes(tbps: float) -> str:
    return bandwidth(tbps * 1000)


def known_devices() -> list[Device]:
    """The devices of this machine, with what the engine has learned of each."""
    return requests.with_learned(local_devices(), store().devices())


def facts_frame(device: Device) -> pd.DataFrame:
    """Two columns of text."""
    names = [*FACTS, *(name for name in device.facts if name not in (*FACTS, CEILINGS))]
    rows = [
        (FACTS.get(name, name.replace("_", " ")), fact(name, device.facts[name])) for name in names if device.facts.get(name) is not None
    ]
    return pd.DataFrame(rows, columns=["fact", "value"])


def fact(name: str, value) -> str:
    """A fact with its unit."""
    if name == "cuda_driver_version":
        return f"{value // 1000}.{value % 1000 // 10}"
    if name.endswith("_bytes"):
        return size_bytes(value)
    if name.endswith("_mhz"):
        return f"{value:,.0f} MHz"
    if name.endswith("_w"):
        return f"{value:,.0f} W"
    if isinstance(value, (list, tuple)):
        return ".".join(map(str, value))
    return f"{value:,}" if isinstance(value, int) and not isinstance(value, bool) else str(value)


def tools() -> None:
    """Versions, then what is missing with the line that gets it."""
    st.header("Toolchain", anchor="toolchain")
    missing = toolchain.problems(store().home)
    for gap in missing:
        st.warning(f"**{plain(gap.name)}** is missing or does not fit; needed for {plain(gap.needed_for)}.")
        st.code(gap.line, language="bash")
    if not missing:
        st.success("Nothing is missing.")
    found = toolchain.versions()
    versions = versions_frame(found)
    st.dataframe(versions, hide_index=True, width=560, height="content", key="versions", alt="Versions of packages and tools")
    if found.get("driver"):
        st.caption("CUDA 13 code needs a driver that serves CUDA 13: compare “driver CUDA” with NVRTC and nvcc.")


NO_DRIVER = "no NVIDIA driver: fine without a GPU"


def versions_frame(found: dict[str, str | None]) -> pd.DataFrame:
    """Two columns of text. Without an NVIDIA driver there is one row about it, and nothing to compare it with."""
    rows = [(name, version or "not installed") for name, version in found.items()]
    if not found.get("driver"):
        rows = [(name, NO_DRIVER if name == "driver" else words) for name, words in rows if name != "driver CUDA"]
    return pd.DataFrame(rows, columns=["name", "version"])


def jobs() -> None:
    """Running and queued jobs, drawn again while there are any."""
    st.header("Jobs", anchor="jobs")
    active = bool(store().jobs(active=True))
    st.fragment(guarded(_jobs), run_every=TICK_S if active else None, key="_jobs")(active)


def _jobs(was_active: bool) -> None:
    found = store().jobs(active=True)
    if was_active and not found:
        st.rerun()
    pid = client.engine_pid(store().home)
    words = f"The engine is running (process {pid})." if pid else "The engine is not running; the first job starts it."
    st.caption("Why the engine does nothing is said above." if client.trouble(store().home) else words)
    if not found:
        st.caption("No job is running or queued.")
    for job in reversed(found):
        with st.container(border=True, horizontal=True, vertical_alignment="center", horizontal_alignment="distribute"):
            st.markdown(job_line(job))
            st.button(
                "Cancel",
                key=f"cancel_{job.id}",
                icon=":material/stop:",
                disabled=job.state == "cancelling",
                on_click=_cancel,
                args=(job.id,),
            )


@guarded
def _cancel(job: str) -> None:
    client.cancel(store(), job)


def job_line(job: JobView, now: float | None = None) -> str:
    """Markdown: what it is, and how far."""
    now = time.time() if now is None else now
    what = f"{job.kind} {job.request.get('kernel', '')} on {job.request.get('device') or job.request.get('target') or ''}"
    config = assignments(job.request.get("config") or {})
    return f"**{plain(what)}**, {runs.headline(job, now)}  \n{plain(config)}"


def storage() -> None:
    st.header("Storage", anchor="storage")
    sizes = store().size_bytes()
    st.markdown(f"Everything of tileviz is under `{_code(str(store().home))}`" + (" (set by TILEVIZ_HOME)." if settings.home() else "."))
    rows = [
        ("results", sizes["results"]), ("compiled code", sizes["artifacts"]), ("TileLang's cache under this folder", sizes["tilelang"]),
        ("caches of torch.compile and Triton under this folder", sizes["inductor"]),
    ]  # fmt: skip
    frame = pd.DataFrame([(name, size_bytes(value)) for name, value in rows], columns=["what", "size"])
    st.dataframe(frame, hide_index=True, width=560, key="sizes", alt="Sizes on disk", column_config=RIGHT)
    with st.popover("Clear the compiled code", icon=":material/delete:"):
        st.markdown(
            "Deletes compiled code and the caches of TileLang, torch.compile and Triton under this folder. Results stay; the next run"
            " compiles again."
        )
        st.button("Clear it", key="clear", type="primary", on_click=_clear)
    if st.session_state.pop(session.CLEARED, False):
        st.success("The compiled code was cleared.")
    _code_entries()
    deleting.note()
    deleting.trash()


def _code_entries() -> None:
    """Compiled code, newest first; what is chosen can be deleted."""
    found = store().code_entries(MOST_CODE)
    if not found:
        return
    title = f"Compiled code ({'the last ' if len(found) == MOST_CODE else ''}{len(found):,})"
    with st.expander(title, icon=":material/code_blocks:"):
        picked = st.dataframe(
            code_frame(found), hide_index=True, width="stretch", key="code_entries", on_select="rerun", selection_mode="multi-row",
            alt="Compiled code", height=min(38 + 35 * len(found), 388),
        ).selection.rows  # fmt: skip
        chosen = [found[row].key for row in picked if row < len(found)]
        deleting.button(f"Delete the chosen ({len(chosen)})", chosen, "_code_delete")


def code_frame(found: Sequence[CodeEntry], now: float | None = None) -> pd.DataFrame:
    """A row for each, as text."""
    return pd.DataFrame(
        {
            "compiled": age(entry.created, now), "kernel": entry.kernel or "-", "target": entry.target or "-",
            "compiler": entry.compiler or "-", "runs with it": f"{entry.trials:,}", "artifact": entry.key,
        }
        for entry in found
    )  # fmt: skip


@guarded
def _clear() -> None:
    store().clear_cache()
    st.session_state[session.CLEARED] = True


def _code(text: str) -> str:
    return text.replace("`", "'")
