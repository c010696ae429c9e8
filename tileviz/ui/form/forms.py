"""The form of a kernel, from its own declaration. Nothing typed is trusted: the kernel parses every value."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

import streamlit as st

from tileviz import kernels
from tileviz.errors import TilevizError
from tileviz.formats import assignments, word
from tileviz.kernels.asked import AskedKernel
from tileviz.kernels.card import Choice, Flag, Knob
from tileviz.kernels.toolkit.pass_configs import COMMAND_LINE_ONLY, OFFERED, parse_pass_config
from tileviz.records import Config, Problem
from tileviz.ui import links, session
from tileviz.ui.form import held, start_of_knobs
from tileviz.ui.form.defaults import defaults
from tileviz.ui.form.measuring import PLAIN, Measuring
from tileviz.ui.parts.places import Place, describe, places
from tileviz.ui.parts.stores import presets as known_presets
from tileviz.ui.parts.trouble import guarded, plain

SIZES_IN_A_ROW = 3

MOST_TUNED = 16
"""Problems of sweeps in the menu."""

KNOB_WIDTH, FIELD_WIDTH = 114, 82
"""Pixels of a name; the longest knob names just fit."""

WIDEST = {KNOB_WIDTH: 28, FIELD_WIDTH: 34}
"""Characters of choices, three more for each, that fit beside a name of this width."""


@dataclass(frozen=True)
class Chosen:
    """What the form says now."""

    kernel: AskedKernel
    place: Place
    problem: Problem | None
    """None when a value of it cannot be meant."""
    config: Config | None
    mistakes: dict[str, str] = field(default_factory=dict)
    """A sentence for each field or knob that cannot be meant."""
    measuring: Measuring = PLAIN

    @property
    def complete(self) -> bool:
        return self.problem is not None and self.config is not None

    @property
    def values(self) -> dict[str, Any]:
        return {**(self.problem or {}), **(self.config or {})}


def kernel_and_place() -> tuple[AskedKernel, Place]:
    """The two choosers at the top."""
    names = list(kernels.names())
    name = st.selectbox(
        "Kernel", names, index=names.index(links.first_kernel()), key=session.KERNEL, bind="query-params", on_change=held.kernel_changed
    )
    known = places()
    at = st.selectbox(
        "Device or target", list(known), key=session.TARGET, bind="query-params", on_change=held.target_changed,
        help="Devices of this machine run a kernel. Any other CUDA architecture is compiled for, so that its code can be read.",
    )  # fmt: skip
    chosen = known[at]
    st.session_state[session.PLACE_WORD] = chosen.word
    st.caption(plain(describe(chosen)))
    if chosen.target.note:
        st.caption(plain(chosen.target.note))
    return kernels.kernel(name), chosen


def problem(kernel: AskedKernel, chosen: Place) -> tuple[Problem | None, dict[str, str]]:
    """Sizes, dtype and flags; (problem, mistakes)."""
    own, mistakes, values = defaults(kernel, chosen).words, {}, {}
    with st.container(horizontal=True, vertical_alignment="center", horizontal_alignment="distribute"):
        st.markdown("**Problem**")
        offered = offered_presets(kernel, chosen)
        if offered:
            st.menu_button(
                "Known sizes", list(offered), key=session.PRESET, type="tertiary", on_click=_preset_chosen, args=(kernel, chosen),
                format_func=lambda name: offered.get(name, name),
            )  # fmt: skip
    typed = [f for f in kernel.fields if not isinstance(f, (Choice, Flag))]
    for row in _rows(typed, SIZES_IN_A_ROW):
        for column, item in zip(st.columns(SIZES_IN_A_ROW, gap="small"), row, strict=False):
            values[item.name] = column.text_input(
                item.name,
                value=own[item.name],
                key=item.name,
                bind="query-params",
                help=item.help or None,
                placeholder="own" if not own[item.name] else None,
            )
        _sentences(_parse_all(row, values), mistakes)
    for item in kernel.fields:
        if isinstance(item, (Choice, Flag)):
            options = ["true", "false"] if isinstance(item, Flag) else [word(c) for c in item.choices]
            values[item.name] = _choose(item.name, options, own[item.name], item.help, FIELD_WIDTH)
    if mistakes:
        return None, mistakes
    try:
        return kernel.problem(values, chosen.target.kind), mistakes
    except TilevizError as error:
        _sentences({"problem": error.message}, mistakes)
        return None, mistakes


def config(kernel: AskedKernel, chosen: Place, problem: Problem | None) -> tuple[Config | None, dict[str, str]]:
    """Knobs and pass configs; (config, mistakes)."""
    start = defaults(kernel, chosen, problem)
    own, mistakes, values = {name: word(value) for name, value in start.config.items()}, {}, {}
    if problem is not None:
        held.follow_problem(kernel, own)
    start_of_knobs.draw(kernel, chosen, problem, start)
    for knob in kernel.knobs:
        options = held.choices(kernel, knob, own[knob.name])
        can_type = not (knob.is_flag or knob.is_word)
        value = _choose(knob.name, [*options, links.TYPE_YOUR_OWN] if can_type else options, own[knob.name], knob.help)
        if value == links.TYPE_YOUR_OWN:
            _sentences(_type_value(kernel, knob), mistakes)
        else:
            values[knob.name] = value
    values.update(_pass_configs(mistakes))
    if mistakes:
        return None, mistakes
    try:
        return kernel.config(values, chosen.target, problem), mistakes
    except TilevizError as error:
        _sentences({"knobs": error.message}, mistakes)
        return None, mistakes


def _choose(name: str, options: list[str], default: str, help: str, label_width: int = KNOB_WIDTH) -> str:
    """Name on the left, choices on the right: side by side where they fit, else in a list."""
    with st.container(horizontal=True, vertical_alignment="center", gap="xsmall"):
        st.caption(plain(name), help=help or None, width=label_width)
        if sum(len(option) + 3 for option in options) > WIDEST[label_width]:
            at = options.index(default)
            return st.selectbox(name, options, index=at, key=name, bind="query-params", label_visibility="collapsed", width="stretch")
        return st.segmented_control(
            name, options, default=default, required=True, key=name, bind="query-params", label_visibility="collapsed"
        )


def _type_value(kernel: AskedKernel, knob: Knob) -> dict[str, str]:
    """A field for a value that is not among the choices; gives the mistake, if any."""
    key = session.typed_of(knob.name)
    st.text_input(
        f"{knob.name}: your value", key=key, placeholder=f"{knob.name}: {knob.minimum:,} to {knob.maximum:,}, then Enter",
        label_visibility="collapsed", on_change=_typed, args=(kernel, knob, key),
    )  # fmt: skip
    text = st.session_state.get(key, "")
    if not text.strip():
        return {knob.name: f"{knob.name}: type a whole number, or choose one"}
    return _parse_all([knob], {knob.name: text})


@guarded
def _typed(kernel: AskedKernel, knob: Knob, key: str) -> None:
    text = st.session_state.get(key, "")
    if text.strip() and not _parse_all([knob], {knob.name: text}):
        held.put(kernel, {knob.name: knob.parse(text)})
        st.session_state[key] = ""


def offered_presets(kernel: AskedKernel, chosen: Place) -> dict[str, str]:
    """{name or id: words}: the kernel's named problems, then what was tuned for this target, the user's own first."""
    named = {p.name: p.name for p in kernel.presets if p.kind in ("any", chosen.target.kind)}
    tuned = [t for t in known_presets(kernel.name) if t.target == chosen.target.name]
    return named | {t.id: f"{'recorded' if t.recorded else 'your sweep'}: {assignments(t.problem)}" for t in tuned[:MOST_TUNED]}


@guarded
def _preset_chosen(kernel: AskedKernel, chosen: Place) -> None:
    name = st.session_state.get(session.PRESET)
    if name:
        held.load_preset(kernel, chosen, name)


def _pass_configs(mistakes: dict[str, str]) -> dict[str, str]:
    """TileLang's own switches, by their own names; left alone they are not part of the config."""
    linked = [name for name in session.all_linked() if "." in name and name not in OFFERED]
    for name in (n for n in linked if n in COMMAND_LINE_ONLY):
        _sentences({name: f"{name} can be given on the command line only"}, mistakes)
    linked = [name for name in linked if name not in COMMAND_LINE_ONLY]
    values = {}
    with st.expander("Pass configs", icon=":material/build:"):
        for name in [*OFFERED, *linked]:
            choices = ["", *map(str, range(11))] if name.endswith("_level") else ["", "true", "false"]
            value = st.selectbox(
                name, choices, key=name, bind="query-params", help=OFFERED.get(name), accept_new_options=name in linked,
                format_func=lambda choice: choice or "default",
            )  # fmt: skip
            if value and value != "default":
                try:
                    parse_pass_config(name, value)
                    values[name] = value
                except TilevizError as error:
                    _sentences({name: error.message}, mistakes)
    return values


def _parse_all(items: Iterable, values: dict[str, str]) -> dict[str, str]:
    """A sentence for each item whose value cannot be meant."""
    wrong = {}
    for item in items:
        try:
            item.parse(values[item.name])
        except TilevizError as error:
            wrong[item.name] = error.message
    return wrong


def _sentences(found: dict[str, str], mistakes: dict[str, str]) -> None:
    for sentence in found.values():
        st.markdown(f":red[:small[{plain(sentence)}]]")
    mistakes.update(found)


def _rows(items: list, width: int) -> list[list]:
    return [items[i : i + width] for i in range(0, len(items), width)]
