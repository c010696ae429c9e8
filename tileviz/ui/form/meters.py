"""The meters under the knobs: how much of the target's limits this config takes, known before
anything is compiled."""

from dataclasses import dataclass

import streamlit as st

from tileviz.errors import TilevizError
from tileviz.formats import assignments
from tileviz.kernels.toolkit.rules import CPU_STACK_LIMIT
from tileviz.records import Config, Estimate, Problem, Target
from tileviz.ui import session
from tileviz.ui.form import held
from tileviz.ui.form.forms import Chosen
from tileviz.ui.parts.trouble import guarded, plain


@dataclass(frozen=True)
class Meter:
    """One line and its bar."""

    text: str
    used: float
    """Share of the limit: 0 to 1, and above 1 when the limit is broken."""
    help: str


def meters(estimate: Estimate, target: Target) -> list[Meter]:
    """What the estimate says, in the words of the field."""
    found = []
    if target.limits is not None:
        limits = target.limits
        if estimate.shared_known:
            found.append(
                Meter(
                    f"shared memory {estimate.shared_bytes:,} of {limits.shared_per_block_bytes:,} B",
                    estimate.shared_bytes / limits.shared_per_block_bytes,
                    "Tiles of every pipeline stage, a block; the limit is what one block of this target may use.",
                )
            )
        if estimate.accumulator_registers:
            found.append(
                Meter(
                    f"accumulator {estimate.accumulator_registers:,} registers a thread",
                    estimate.accumulator_registers / limits.registers_per_thread,
                    f"32-bit registers for the accumulator alone; a thread has at most {limits.registers_per_thread}, and more spills.",
                )
            )
        if estimate.threads:
            extra = f" ({estimate.threads} + {estimate.producer_threads} producer, estimated)" if estimate.producer_threads else ""
            found.append(
                Meter(
                    f"{estimate.threads_launched:,} threads{extra}",
                    estimate.threads_launched / limits.threads_per_block,
                    f"Threads a block; at most {limits.threads_per_block:,}. Warp specialisation adds producers on Hopper and newer.",
                )
            )
    elif estimate.stack_bytes:
        found.append(
            Meter(
                f"tiles on the stack {estimate.stack_bytes:,} of {CPU_STACK_LIMIT:,} B",
                estimate.stack_bytes / CPU_STACK_LIMIT,
                "The CPU target keeps tiles on the stack; more than this crashes.",
            )
        )
    return found


def draw(chosen: Chosen, estimate: Estimate | None, broken: tuple[str, ...]) -> None:
    """Bars, then every broken rule in red and every note in amber, then the button that mends what stages can mend."""
    if estimate is None:
        return
    for number, meter in enumerate(meters(estimate, chosen.place.target)):
        over = meter.used > 1
        words = f":small[{plain(meter.text)}]"
        with st.container(key=f"{'over' if over else 'meter'}_{number}", gap=None):
            st.markdown(f":red[{words}]" if over else words, help=meter.help)
            st.progress(min(meter.used, 1.0))
    for sentence in broken:
        st.markdown(f":red[:small[{plain(sentence)}]]")
    for sentence in estimate.notes:
        st.markdown(f":orange[:small[{plain(sentence)}]]")
    has_stages = any(knob.name == "num_stages" for knob in chosen.kernel.knobs)
    if has_stages and chosen.place.target.is_cuda and chosen.problem is not None and chosen.config is not None:
        _fit_button(chosen, chosen.problem, chosen.config, estimate)


def _fit_button(chosen: Chosen, problem: Problem, config: Config, estimate: Estimate) -> None:
    st.button(
        "Fit to this device", key="_fit", on_click=_fit, args=(chosen, problem, config), disabled=not estimate.broken, width="stretch",
        icon=":material/compress:",
        help="Lowers num_stages until shared memory fits. Nothing to do while no rule is broken.",
    )  # fmt: skip
    said = st.session_state.pop(session.FIT_SAID, "")
    if said:
        st.caption(plain(said))


@guarded
def _fit(chosen: Chosen, problem: Problem, config: Config) -> None:
    """In the callback, before the form is drawn again."""
    from tileviz.kernels.toolkit.fit import fit

    try:
        fitted = fit(chosen.kernel, problem, config, chosen.place.target)
    except TilevizError as error:
        st.session_state[session.FIT_SAID] = error.message
        return
    changed = _changes(config, fitted)
    held.put(chosen.kernel, changed)
    st.session_state[session.FIT_SAID] = f"Set {assignments(changed)}." if changed else "It fits already."


def _changes(before: Config, after: Config) -> Config:
    return {name: value for name, value in after.items() if before.get(name) != value}
