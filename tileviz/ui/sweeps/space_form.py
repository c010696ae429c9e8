"""The set-up in the sidebar: kernel, place, problems, the values of every knob, and how much to try. Nothing typed is trusted."""

import json
from dataclasses import dataclass, field, replace
from typing import Any, Literal

import streamlit as st

from tileviz.compiler import toolchain
from tileviz.engine.jobs import race
from tileviz.engine.options import L2_MODES, Measuring, Where
from tileviz.engine.strategies import STRATEGIES
from tileviz.engine.sweeps.budget import EFFORTS
from tileviz.engine.sweeps.request import Searching, SweepRequest, resolve_sweep
from tileviz.engine.sweeps.space import Space, offered_values
from tileviz.errors import TilevizError
from tileviz.formats import word
from tileviz.kernels.asked import AskedKernel
from tileviz.kernels.card import Choice, Flag
from tileviz.kernels.toolkit.pass_configs import COMMAND_LINE_ONLY, OFFERED, choices, known_pass_configs, parse_pass_config
from tileviz.records import Config
from tileviz.ui import links, session
from tileviz.ui.form import forms
from tileviz.ui.form.defaults import defaults
from tileviz.ui.parts import places
from tileviz.ui.parts.places import Place
from tileviz.ui.parts.trouble import guarded, plain
from tileviz.ui.sweeps.space_words import EVERY, IN_STEP, parsed, problems_of, words_in

BY_EFFORT = "by effort"

EFFORT_HELP = (
    "How much of the space is tried. quick: some 10 s, the model's favourites first. normal: up to 200 configs of a problem. full: all of"
    " them."
)

STRATEGY_HELP = "By effort: a grid where all is tried, else the model, which tries first what it thinks fast."

RACE_HELP = (
    "Runs TileLang's own AutoTuner over the same configs, cold and in a process of its own, and times its best beside ours. It tries every"
    " config and tells only its best: about a second for each, less on many cores."
)

WIDEST = {forms.KNOB_WIDTH: 30, forms.FIELD_WIDTH: 36}
"""Characters of values, three more for each, that fit beside a name; more of them stand below it, in as many rows as they need."""

KEEP: Literal["session"] = "session"
"""For `persist_state`: a set-up survives a visit to another page."""


@dataclass(frozen=True)
class SetUp:
    """What the sidebar says now."""

    kernel: AskedKernel
    place: Place
    request: SweepRequest | None
    """None when something cannot be meant."""
    space: Space | None
    mistakes: list[str] = field(default_factory=list)
    race: bool = False
    """Race TileLang's AutoTuner when the sweep has ended."""


def draw() -> SetUp:
    """The sidebar. The kernel and the place are those of the other pages; the rest is kept for each kernel."""
    with st.sidebar, st.container(gap="xsmall", key="form"):
        kernel, place = forms.kernel_and_place()
        mistakes: list[str] = []
        problems = _problems(kernel, place, mistakes)
        values = _knobs(kernel, place, _start(kernel, place, problems), mistakes)
        how, race = _search(kernel, place)
    return replace(resolved(kernel, place, problems, values, how, mistakes), race=race)


def resolved(kernel: AskedKernel, place: Place, problems: list, values: dict, how: dict[str, dict], mistakes: list[str]) -> SetUp:
    """The set-up with its request and space, or with what is wrong. `how` holds the fields of `searching` and `measuring`."""
    if mistakes:
        return SetUp(kernel, place, None, None, mistakes)
    missing = toolchain.why_nothing_runs()
    if missing:
        return SetUp(kernel, place, None, None, [missing])
    if place.device is None:
        words = (
            f"a sweep measures, and {place.word} is no device of this machine; choose one of {', '.join(d.id for d in places.devices())}"
        )
        return SetUp(kernel, place, None, None, [words])
    asked = {"kernel": kernel.name, "problems": problems, "values": values, **how}
    try:
        request, space = _resolved(json.dumps(asked), place.device.id, places.devices())
    except TilevizError as error:
        return SetUp(kernel, place, None, None, [error.message])
    return SetUp(kernel, place, request, space, [])


@st.cache_resource(max_entries=16, show_spinner="counting configs")
def _resolved(asked: str, device: str, _devices) -> tuple[SweepRequest, Space]:
    """Counting takes a third of a second for 10,000 configs, and a page runs again at every click."""
    words = json.loads(asked)
    return resolve_sweep(
        words["kernel"], words["problems"], words["values"],
        searching=Searching(**words["searching"]), measuring=Measuring(**words["measuring"]), where=Where(None, device, _devices),
    )  # fmt: skip


def key(kernel: AskedKernel, name: str) -> str:
    """The widget of a field or knob of a kernel's set-up."""
    return session.set_up_of(kernel.name, name)


# the problem


def _problems(kernel: AskedKernel, place: Place, mistakes: list[str]) -> list[dict[str, str]]:
    own, values = defaults(kernel, place).words, {}
    st.markdown("**Problem**", help="Several values, such as 512, 1024 or 512..4096 for doublings, make several problems.")
    typed = [f for f in kernel.fields if not isinstance(f, (Choice, Flag))]
    for start in range(0, len(typed), forms.SIZES_IN_A_ROW):
        for column, item in zip(st.columns(forms.SIZES_IN_A_ROW, gap="small"), typed[start : start + forms.SIZES_IN_A_ROW], strict=False):
            text = column.text_input(
                item.name, value=own[item.name], key=key(kernel, item.name), help=item.help or None, persist_state=KEEP
            )
            good, wrong = parsed(item, words_in(text) or ([""] if item.default is None else []))
            values[item.name] = good
            _mistake(wrong or ("" if good else f"{item.name}: give at least one value"), mistakes)
    for item in kernel.fields:
        if isinstance(item, (Choice, Flag)):
            options = ["true", "false"] if isinstance(item, Flag) else [word(c) for c in item.choices]
            values[item.name] = _pick(kernel, item.name, options, [own[item.name]], item.help, forms.FIELD_WIDTH, mistakes)
    several = [f.name for f in typed if len(values[f.name]) > 1]
    how = EVERY
    if len(several) > 1:
        how = st.segmented_control(
            f"{' and '.join(several)} together", [EVERY, IN_STEP], default=EVERY, required=True, key=key(kernel, "_how"), persist_state=KEEP
        )
    if mistakes:
        return []
    try:
        return problems_of(values, how)
    except TilevizError as error:
        _mistake(error.message, mistakes)
        return []


# the knobs


def _start(kernel: AskedKernel, place: Place, problems: list[dict[str, str]]) -> Config:
    """Where a run of the first problem would start."""
    try:
        first = kernel.problem(problems[0], place.target.kind) if problems else None
    except TilevizError:
        first = None  # `resolved` says what is wrong with it
    return defaults(kernel, place, first).config


def _knobs(kernel: AskedKernel, place: Place, own: Config, mistakes: list[str]) -> dict[str, list[str]]:
    with st.container(horizontal=True, vertical_alignment="center", gap="xsmall"):
        st.markdown("**Knobs**", help="Every combination of the chosen values is a config. One value fixes a knob.")
        st.space("stretch")
        for label, what in (("all values", "all"), ("defaults only", "own")):
            st.button(label, key=f"_sw_{what}", type="tertiary", on_click=_set_all, args=(kernel, place, own if what == "own" else None))
    said = st.empty()
    values, offered = {}, offered_values(kernel, place.target)
    for knob in kernel.knobs:
        declared = [word(c) for c in offered[knob.name]]
        known = [word(c) for c in knob.offered(place.target.name)]
        options = list(dict.fromkeys([*known, word(own[knob.name]), *_typed_before(kernel, knob.name)]))
        if not (knob.is_flag or knob.is_word):
            options = [*sorted(options, key=int), links.TYPE_YOUR_OWN]
        values[knob.name] = _pick(kernel, knob.name, options, declared, knob.help, forms.KNOB_WIDTH, mistakes, knob)
    with said:
        st.caption(plain(which_vary(values, own, {k.name: [word(c) for c in k.offered(place.target.name)] for k in kernel.knobs})))
    values.update(_pass_configs(kernel, mistakes))
    return values


def which_vary(values: dict[str, list[str]], own: Config, offered: dict[str, list[str]]) -> str:
    """Which knobs this set-up sweeps, in the words of the two buttons where one of them was pressed."""
    varying = [name for name, found in values.items() if len(found) > 1]
    if all(set(found) == set(offered[name]) for name, found in values.items()):
        return "All values: each knob takes every choice for this target."
    if not varying:
        same = all(found == [word(own[name])] for name, found in values.items())
        return f"{'Defaults only' if same else 'One value each'}: no knob varies."
    standing = len(values) - len(varying)
    return f"{', '.join(varying)} {'vary' if len(varying) > 1 else 'varies'}" + (f"; {standing} stand at one value." if standing else ".")


def _pick(
    kernel: AskedKernel, name: str, options: list[str], default: list[str], help: str, width: int, mistakes: list[str], knob=None
) -> list[str]:
    """Name on the left, values to switch on and off on the right; the last one opens a field to type in."""
    beside = sum(len(option) + 3 for option in options) <= WIDEST[width]
    with st.container(horizontal=beside, vertical_alignment="center" if beside else "top", gap="xsmall" if beside else None):
        st.caption(plain(name), help=help or None, width=width)
        chosen = st.pills(
            name, options, selection_mode="multi", default=[d for d in default if d in options], key=key(kernel, name),
            label_visibility="collapsed", persist_state=KEEP,
        )  # fmt: skip
    found = [value for value in options if value in chosen and value != links.TYPE_YOUR_OWN]
    if knob is not None and links.TYPE_YOUR_OWN in chosen:
        found += _type_values(kernel, knob, mistakes)
    if not found:
        _mistake(f"{name}: choose at least one value", mistakes)
    return list(dict.fromkeys(found))


def _type_values(kernel: AskedKernel, knob, mistakes: list[str]) -> list[str]:
    text = st.text_input(
        f"{knob.name}: more values", key=key(kernel, f"_typed:{knob.name}"), label_visibility="collapsed",
        placeholder=f"{knob.name}: {knob.minimum:,} to {knob.maximum:,}, such as 96, 192", persist_state=KEEP,
    )  # fmt: skip
    good, wrong = parsed(knob, words_in(text))
    _mistake(wrong, mistakes)
    return good


def _typed_before(kernel: AskedKernel, name: str) -> list[str]:
    """Values that a loaded sweep brought along."""
    return st.session_state.get(session.swept_of(kernel.name), {}).get(name, [])


def _pass_configs(kernel: AskedKernel, mistakes: list[str]) -> dict[str, list[str]]:
    values = {}
    with st.expander("Pass configs", icon=":material/build:"):
        known = [n for n in dict.fromkeys([*OFFERED, *known_pass_configs()]) if n not in COMMAND_LINE_ONLY]
        names = st.multiselect(
            "TileLang's own switches, as knobs",
            known,
            key=key(kernel, "_passes"),
            placeholder="none: TileLang's defaults",
            persist_state=KEEP,
        )
        for name in names:
            text = st.text_input(name, value=", ".join(choices(name)), key=key(kernel, name), help=OFFERED.get(name), persist_state=KEEP)
            found = words_in(text)
            for each in found:
                try:
                    parse_pass_config(name, each)
                except TilevizError as error:
                    _mistake(error.message, mistakes)
            _mistake("" if found else f"{name}: give at least one value", mistakes)
            values[name] = found
    return values


@guarded
def _set_all(kernel: AskedKernel, place: Place, own: Config | None) -> None:
    """Every knob to its one value of `own`, or without it to all that are made for the target."""
    for knob in kernel.knobs:
        words = [word(c) for c in knob.offered(place.target.name)] if own is None else [word(own[knob.name])]
        st.session_state[key(kernel, knob.name)] = words


# how to search


def _search(kernel: AskedKernel, place: Place) -> tuple[dict[str, dict[str, Any]], bool]:
    """(the fields of `searching` and `measuring`, whether to race TileLang's AutoTuner)."""
    st.markdown("**Search**")
    effort = st.segmented_control(
        "Effort", EFFORTS, default="quick", required=True, key=session.SWEEP_EFFORT, help=EFFORT_HELP, persist_state=KEEP
    )
    searching: dict[str, Any] = {"effort": effort}
    measuring: dict[str, Any] = {}
    with st.expander("Strategy, budget, measuring", icon=":material/tune:"):
        titles = {BY_EFFORT: "by effort: grid or model"} | {n: c.title or n for n, c in STRATEGIES.items()}
        chosen = st.selectbox(
            "Strategy",
            list(titles),
            format_func=lambda name: titles.get(name, name),
            key="sw_strategy",
            help=STRATEGY_HELP,
            persist_state=KEEP,
        )
        searching["strategy"] = None if chosen == BY_EFFORT else chosen
        columns = st.columns(3, gap="small")
        for column, (name, label, most) in zip(columns, _BUDGETS, strict=True):
            found = column.number_input(
                label, min_value=1, max_value=most, value=None, step=1, key=f"sw_{name}", placeholder="effort's", persist_state=KEEP
            )
            searching[name] = found
        measuring["baselines"] = st.checkbox("Baselines at the end", value=True, key="sw_baselines", persist_state=KEEP)
        refused = race.why_not_on(place.target.name)
        raced = not refused and st.checkbox("Race TileLang's AutoTuner at the end", key="sw_race", help=RACE_HELP, persist_state=KEEP)
        if refused:
            st.caption(plain(f"No race against TileLang's autotune here: {refused}."))
        if place.target.is_cuda:
            measuring["l2"] = st.segmented_control(
                "L2 before each sample", L2_MODES, default="cold", required=True, key="sw_l2", persist_state=KEEP
            )
        measuring["seed"] = int(
            st.number_input("Seed", min_value=0, max_value=2**31 - 1, value=0, step=1, key="sw_seed", persist_state=KEEP)
        )
    return {"searching": searching, "measuring": measuring}, bool(raced)


_BUDGETS = (("trials", "Most configs", 10**6), ("seconds", "Most seconds", 10**6), ("patience", "Patience", 10**6))


# another sweep's settings


@guarded
def load(kernel: AskedKernel, request: dict[str, Any]) -> None:
    """The set-up as a stored sweep had it. In a callback."""
    problems = request["problems"]
    for item in kernel.fields:
        found = list(dict.fromkeys(word(p[item.name]) for p in problems if item.name in p))
        if found:
            st.session_state[key(kernel, item.name)] = found if isinstance(item, (Choice, Flag)) else ", ".join(found)
    several = sum(len({word(p.get(f.name)) for p in problems}) > 1 for f in kernel.fields)
    if several > 1 and len(problems) == max(len({word(p.get(f.name)) for p in problems}) for f in kernel.fields):
        st.session_state[key(kernel, "_how")] = IN_STEP
    values = request.get("values") or {}
    offered = st.session_state.setdefault(session.swept_of(kernel.name), {})
    for knob in kernel.knobs:
        words = [word(value) for value in values.get(knob.name, ())]
        if words:
            offered[knob.name] = list(dict.fromkeys([*offered.get(knob.name, []), *words]))
            st.session_state[key(kernel, knob.name)] = words
    passes = [name for name in values if "." in name and name not in COMMAND_LINE_ONLY]
    st.session_state[key(kernel, "_passes")] = passes
    left_out = [name for name in values if name in COMMAND_LINE_ONLY]
    links.note([f"{name} can be given on the command line only: it was left out." for name in left_out])
    for name in passes:
        st.session_state[key(kernel, name)] = ", ".join(word(value) for value in values[name])
    if request.get("effort") in EFFORTS:
        st.session_state[session.SWEEP_EFFORT] = request["effort"]


def _mistake(sentence: str, mistakes: list[str]) -> None:
    if sentence:
        st.markdown(f":red[:small[{plain(sentence)}]]")
        mistakes.append(sentence)
