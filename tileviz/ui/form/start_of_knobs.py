"""The heading of the knobs: where they start from, and the way back to it or to the plain defaults."""

import streamlit as st

from tileviz.engine.presets import source_words
from tileviz.formats import compared_with, duration_us, significant, word
from tileviz.kernels.asked import AskedKernel
from tileviz.records import Problem, TunedConfig
from tileviz.ui.form import held
from tileviz.ui.form.defaults import Defaults, keep_base, preset_of
from tileviz.ui.parts.places import Place
from tileviz.ui.parts.trouble import plain

TITLE_HELP = (
    "Knobs that you leave alone follow the problem: they start from a preset, the best config that a sweep found for the nearest problem,"
    " or else from the kernel's plain defaults."
)


def draw(kernel: AskedKernel, chosen: Place, problem: Problem | None, start: Defaults) -> None:
    """The title, the buttons, and a line that says whose config this is."""
    keep_base()
    offered = preset_of(kernel, chosen, problem) if problem is not None else None
    with st.container(horizontal=True, vertical_alignment="center", gap="xsmall"):
        st.markdown("**Knobs**", help=TITLE_HELP)
        if problem is None or offered is None:
            return
        st.space("stretch")
        if start.preset is None:
            _button("Use the preset", kernel, chosen, problem, plain=False, help=about(offered))
        else:
            if changed(start):
                _button("Back to the preset", kernel, chosen, problem, plain=False, help="Every knob as the preset has it.")
            _button("Plain defaults", kernel, chosen, problem, plain=True, help="The kernel's own defaults for this target.")
    st.caption(plain(line(kernel, problem, start, offered)), help=plain(about(offered)))


def _button(label: str, kernel: AskedKernel, chosen: Place, problem: Problem, *, plain: bool, help: str) -> None:
    name = "_start_plain" if plain else "_start_preset"
    st.button(label, key=name, type="tertiary", on_click=held.start_from, args=(kernel, chosen, problem, plain), help=help)


def line(kernel: AskedKernel, problem: Problem, start: Defaults, offered: TunedConfig) -> str:
    """`From the preset recorded on NVIDIA H200, 2026-11-29, at M=4096 N=4096 K=4096; 2 knobs changed`."""
    if start.preset is None:
        return f"Plain defaults. There is a preset, {source_words(offered, kernel, problem)}."
    count = len(changed(start))
    more = f"; {count} knob{'s' if count > 1 else ''} changed" if count else ""
    where = source_words(start.preset, kernel, problem)
    return f"Preset {where}{more}" if start.preset.recorded else f"Preset from {where}{more}"


def changed(start: Defaults) -> list[str]:
    """Knobs that stand otherwise than where they start."""
    return [name for name, value in start.config.items() if st.session_state.get(name, word(value)) != word(value)]


def about(tuned: TunedConfig) -> str:
    """What the preset reached where it was measured."""
    rate = f", {significant(tuned.tflops)} TFLOPS" if tuned.tflops else f", {significant(tuned.gbps)} GB/s" if tuned.gbps else ""
    against = f"; {compared_with(tuned.comparison, tuned.baseline)}" if tuned.comparison is not None else ""
    return f"There it took {duration_us(tuned.median_us)} on {tuned.device}{rate}{against}."
