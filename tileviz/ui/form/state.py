"""What the address bar holds: kernel, target, problem, knobs, and the trial or job shown.

Every input of the form is bound to a parameter of its own name, so a link opens the same view. A value in a link that cannot be meant is
dropped with one sentence, and the default stands.
"""

import contextlib
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode

import streamlit as st
from streamlit.errors import StreamlitAPIException

from tileviz import kernels
from tileviz.engine import presets
from tileviz.engine.options import FLUSHES, INPUTS, L2_MODES
from tileviz.errors import BadRequest, TilevizError
from tileviz.formats import word
from tileviz.kernels.asked import AskedKernel
from tileviz.kernels.toolkit.pass_configs import parse_pass_config
from tileviz.records import FLOP_COUNTS, Problem, Trial, TunedConfig
from tileviz.ui.form.measuring import seed_mistake
from tileviz.ui.parts.places import Place, place, places
from tileviz.ui.parts.stores import presets as known_presets
from tileviz.ui.parts.stores import store
from tileviz.ui.parts.trouble import guarded

TYPE_YOUR_OWN = "\u2026"
"""The last choice of a numeric knob: opens a field to type in."""

CODE_WORDS = ("left", "right", "at", "b", "tab")
"""Of the Code page: the text in each pane, the line, what is compared with, the open tab."""

SWEEP_WORDS = ("sweep", "config", "view", "map_x", "map_y", "map_by")
"""Of the Sweep page: the sweep, the config opened in it, the open tab, and what the heatmap's sides are."""

BASE = "base"
"""In the address: `plain` where knobs start from the kernel's plain defaults though there is a preset."""

PLAIN = "plain"

MEASURING_WORDS = {"inputs": INPUTS, "l2": L2_MODES, "flush": FLUSHES, "seed": None, "flops": FLOP_COUNTS}
"""How a run is measured, and its FLOPs counted; the words that each may be, None for a number."""

OWN_WORDS = (
    "kernel", "target", "trial", "job", BASE, "token", "embed", "embed_options", "embed_option",
    *CODE_WORDS, *SWEEP_WORDS, *MEASURING_WORDS,
)  # fmt: skip


@dataclass(frozen=True)
class Defaults:
    """What the form holds before anyone touched it, for one kernel and place."""

    problem: dict[str, Any]
    config: dict[str, Any]
    preset: TunedConfig | None = None
    """Where the config comes from; None for the kernel's plain defaults."""

    @property
    def words(self) -> dict[str, str]:
        """Everything as it stands in the form; an empty word for a value that the kernel finds itself."""
        return {name: word(value) for name, value in {**self.problem, **self.config}.items()}


def defaults(kernel: AskedKernel, chosen: Place, problem: Problem | None = None) -> Defaults:
    """The default problem of this place, and the config that `problem` (or else that one) starts from: the nearest preset's, or the plain
    defaults where there is none or none is wanted."""
    own = kernel.problem({}, chosen.target.kind)
    offered = () if is_plain() else known_presets(kernel.name)
    return Defaults(own, *presets.start(kernel, problem or own, chosen.target, offered, device=_device_name(chosen)))


def preset_of(kernel: AskedKernel, chosen: Place, problem: Problem) -> TunedConfig | None:
    """The preset that this problem would start from, wanted or not."""
    return presets.start(kernel, problem, chosen.target, known_presets(kernel.name), device=_device_name(chosen))[1]


def _device_name(chosen: Place) -> str:
    return chosen.device.name if chosen.device else ""


def is_plain() -> bool:
    """Whether the person went back to the plain defaults."""
    return bool(st.session_state.get("_plain"))


@guarded
def start_from(kernel: AskedKernel, chosen: Place, problem: Problem, plain: bool) -> None:
    """Every knob back to where this problem starts from: the preset or the plain defaults. In a callback."""
    st.session_state["_plain"] = plain
    put_config(kernel, defaults(kernel, chosen, problem).config)
    settle(kernel, chosen, problem)
    keep_base()


def keep_base() -> None:
    """The address says when the plain defaults are wanted, on every page with the form."""
    if is_plain():
        st.query_params[BASE] = PLAIN
    else:
        st.query_params.pop(BASE, None)


def follow_problem(kernel: AskedKernel, own: dict[str, str]) -> None:
    """Before the knobs are drawn: those that nobody touched move to what suits the problem and target of now."""
    known = st.session_state.get("_own", {})
    before = known.get(kernel.name, own)
    put(
        kernel, {name: value for name, value in own.items() if before.get(name) != value and st.session_state.get(name) == before.get(name)}
    )
    st.session_state["_own"] = {kernel.name: own}


def settle(kernel: AskedKernel, chosen: Place, problem: Problem) -> None:
    """After a whole config was loaded with its problem: those knobs stand as they are, even where they are another problem's defaults."""
    st.session_state["_own"] = {kernel.name: words_of(defaults(kernel, chosen, problem).config)}


def first_kernel() -> str:
    """The one a newcomer meets."""
    return kernels.FIRST


# what a link asks for


def drop_repeated() -> None:
    """Once a session, before anything reads the address: a parameter that is given twice is left out, with a sentence about it."""
    if st.session_state.get("_link_read"):
        return
    asked = {name: st.query_params.get_all(name) for name in st.query_params}
    repeated = {name: values for name, values in asked.items() if len(values) > 1}
    if repeated:
        st.session_state["_link_repeated"] = [repeated_words(name, values) for name, values in repeated.items()]
        st.query_params.from_dict({name: values for name, values in asked.items() if name not in repeated})
        st.rerun()


def repeated_words(name: str, values: list[str]) -> str:
    """`The link gives block_M more than once, '64' and '128'; the default is used.`"""
    more = f" and {len(values) - 2} more" if len(values) > 2 else ""
    return f"The link gives {name} more than once, {' and '.join(map(repr, values[:2]))}{more}; the default is used."


def read_link() -> None:
    """Once a session: checks every parameter of the address, drops what cannot be meant and keeps a sentence about it."""
    if st.session_state.get("_link_read"):
        return
    st.session_state["_link_read"] = True
    asked = st.query_params.to_dict()
    st.session_state["_plain"] = asked.get(BASE) == PLAIN
    kept, sentences = checked_link(asked)
    sentences += _drop_unknown(kept)
    st.session_state["_link_notes"] = [*st.session_state.pop("_link_repeated", ()), *sentences]
    if kept != asked:
        st.query_params.from_dict(kept)
        st.rerun()


def _drop_unknown(kept: dict[str, str]) -> list[str]:
    """Takes a run or result that is not stored here out of `kept`; a sentence for each."""
    found = []
    for name, what, read in (("job", "run", store().job), ("trial", "result", store().trial)):
        if name in kept and read(kept[name]) is None:
            found.append(f"The link's {what} '{kept.pop(name)}' is not stored on this machine; the knobs of the link stand.")
    return found


def checked_link(asked: dict[str, str]) -> tuple[dict[str, str], list[str]]:
    """(parameters in their one spelling, a sentence for each that was dropped)."""
    lists = {name: value for name, value in asked.items() if name in OWN_WORDS and "," in value}
    kept = {name: value for name, value in asked.items() if name not in lists}
    notes = [f"From the link, {name} is '{value}'; give one value, without commas; the default is used." for name, value in lists.items()]
    kernel_word = kept.get("kernel", first_kernel())
    if kernel_word not in kernels.names():
        notes.append(f"The link's kernel '{kernel_word}' does not exist here; there are {', '.join(kernels.names())}.")
        kept = {name: value for name, value in kept.items() if name in ("target",)}
        kernel_word = first_kernel()
    kernel = kernels.kernel(kernel_word)
    if "target" in kept:
        try:
            chosen, note = place(kept["target"])
            kept["target"] = chosen.word
            notes += [f"{note[:1].upper()}{note[1:]}."] if note else []
        except BadRequest as error:
            notes.append(f"The link's target was left out: {error.message}.")
            del kept["target"]
    for name, offered in MEASURING_WORDS.items():
        if offered and name in kept and kept[name] not in offered:
            notes.append(f"From the link, {name} is '{kept.pop(name)}'; give one of {', '.join(offered)}; the default is used.")
    if "seed" in kept and (wrong := seed_mistake(kept["seed"])):
        notes.append(f"From the link, {wrong}; the default is used.")
        del kept["seed"]
    parsers = {**{f.name: f.parse for f in kernel.fields}, **{k.name: k.parse for k in kernel.knobs}}
    for name in [name for name in kept if name not in OWN_WORDS]:
        try:
            parse = parsers[name] if name in parsers else _pass_config_parser(kernel, name)
            kept[name] = word(parse(kept[name]))
        except BadRequest as error:
            del kept[name]
            if asked[name] != TYPE_YOUR_OWN:
                notes.append(
                    f"From the link, {error.message}; the default is used."
                    if name in parsers
                    else f"The link has '{name}': {error.message}."
                )
    for knob in kernel.knobs:
        if knob.name in kept:
            offer(kernel, knob.name, kept[knob.name])
    return kept, notes


def _pass_config_parser(kernel: AskedKernel, name: str):
    if "." not in name:
        raise BadRequest(f"{kernel.name} has no field or knob of this name, so it was left out")
    return lambda value: parse_pass_config(name, value)


def link_to(kernel: AskedKernel, chosen: Place, values: dict[str, Any], **more: str) -> str:
    """The whole view as a query string: every value, defaults too, so that it means the same on a machine with other defaults."""
    return "?" + urlencode({"kernel": kernel.name, "target": chosen.target.name, **words_of(values), **more})


# changing what the form holds, from callbacks only


def put(kernel: AskedKernel, values: dict[str, Any]) -> None:
    """Writes values into the form."""
    for name, value in values.items():
        st.session_state[name] = word(value)
        if name in {k.name for k in kernel.knobs}:
            offer(kernel, name, word(value))


def put_config(kernel: AskedKernel, config: dict[str, Any]) -> None:
    """Writes a whole config: pass configs that it does not name go back to TileLang's own default."""
    for name in [key for key in st.session_state if isinstance(key, str) and key.startswith("tl.")]:
        st.session_state[name] = ""
    put(kernel, config)


def offer(kernel: AskedKernel, knob: str, value: str) -> None:
    """Adds a typed value to the choices of a knob, for this session."""
    extra = st.session_state.setdefault(f"_offered:{kernel.name}", {})
    if value not in extra.setdefault(knob, []):
        extra[knob].append(value)


def choices(kernel: AskedKernel, knob, default: str) -> list[str]:
    """The choices of a knob as words: its own, the default of this place, and those typed in this session."""
    own = [word(c) for c in knob.choices]
    typed = st.session_state.get(f"_offered:{kernel.name}", {}).get(knob.name, [])
    both = list(dict.fromkeys([*own, default, *typed]))
    return both if knob.is_flag or knob.is_word else sorted(both, key=int)


@guarded
def kernel_changed() -> None:
    """Another kernel was chosen: its own defaults for this place."""
    kernel, chosen = kernels.kernel(st.session_state["kernel"]), current_place()
    own = defaults(kernel, chosen)
    put(kernel, own.problem)
    put_config(kernel, own.config)
    forget_shown()


@guarded
def target_changed() -> None:
    """Another target was chosen: sizes and dtypes that stood at the old default move to the new one, the person's own stay."""
    kernel = kernels.kernel(st.session_state.get("kernel") or first_kernel())
    before, after = st.session_state.get("_place_word"), current_place()
    old = {name: word(value) for name, value in kernel.problem({}, places()[before].target.kind).items()} if before in places() else {}
    new = kernel.problem({}, after.target.kind)
    put(kernel, {name: value for name, value in new.items() if st.session_state.get(name) == old.get(name)})


@guarded
def load_preset(kernel: AskedKernel, chosen: Place, name: str) -> None:
    """A problem by its name, or a preset by its id, with the config that goes with it."""
    tuned = next((t for t in known_presets(kernel.name) if t.id == name), None)
    named = tuned or next(p for p in kernel.presets if p.name == name)
    problem = kernel.problem(named.problem, chosen.target.kind)
    offered = () if is_plain() else known_presets(kernel.name)
    given = kernel.whole(tuned.config) if tuned is not None else named.config
    put(kernel, problem)
    put_config(kernel, presets.start(kernel, problem, chosen.target, offered, device=_device_name(chosen), given=given)[0])
    settle(kernel, chosen, problem)


@guarded
def load_trial(trial: Trial) -> None:
    """The form as the trial had it, and the trial itself on the page."""
    try:
        kernel = kernels.kernel(trial.kernel)
        chosen = place(trial.device)[0] if trial.device in places() else place(trial.target)[0]
        st.session_state["kernel"] = kernel.name
        st.session_state["target"] = chosen.word
        problem = kernel.problem(trial.problem, chosen.target.kind)
        put(kernel, problem)
        put_config(kernel, kernel.config(kernel.whole(trial.config), chosen.target, problem))
        settle(kernel, chosen, problem)
        st.session_state.update(measured_words(trial))
    except TilevizError as error:
        st.session_state["_link_notes"] = [f"This result's own knobs cannot be set here: {error.message}."]
    show_trial(trial.trial)


def place_word(trial: Trial) -> str:
    """The device or target of a trial as a link has it; a recorded one's device is a name, and none of this machine."""
    return trial.target if trial.recorded else trial.device or trial.target


def measured_words(trial: Trial) -> dict[str, str]:
    """How a trial was measured, as the form says it; nothing for one that was not."""
    if trial.timing is None:
        return {}
    found = {"inputs": trial.inputs, "seed": str(trial.seed)}
    if trial.timing.l2 in L2_MODES:
        found["l2"] = trial.timing.l2
    if trial.timing.flush in FLUSHES and trial.timing.l2 == "cold":
        found["flush"] = trial.timing.flush
    return found


def current_place() -> Place:
    known = places()
    return known.get(st.session_state.get("target") or "", next(iter(known.values())))


# the result or job on the page


def show_trial(trial: str) -> None:
    st.query_params.pop("job", None)
    st.query_params["trial"] = trial


def show_job(job: str) -> None:
    st.query_params.pop("trial", None)
    st.query_params["job"] = job


def forget_shown() -> None:
    for name in ("trial", "job"):
        st.query_params.pop(name, None)
    st.session_state.pop("_last_trial", None)


def notes() -> list[str]:
    """Sentences about the link, until the person changes something."""
    return list(st.session_state.get("_link_notes", ()))


def drop_notes() -> None:
    st.session_state["_link_notes"] = []


def carry(page: str) -> None:
    """Takes the form's values along from another page that has the same form; Streamlit forgets a widget when its page is left."""
    came_from = st.session_state.get("_form_page")
    st.session_state["_form_page"] = page
    if came_from is None or came_from == page:
        return
    values = st.session_state.get("_form_words", {})
    for name in [key for key in st.session_state if isinstance(key, str) and key.startswith("tl.") and key not in values]:
        st.session_state[name] = ""
    for name, value in values.items():
        st.session_state[name] = value
    with contextlib.suppress(StreamlitAPIException):  # a parameter that is bound still follows its widget by itself
        st.query_params.update(values)
    if values.get("target") in places():
        st.session_state["_place_word"] = values["target"]


def remember(kernel: AskedKernel, chosen: Place, values: dict[str, Any]) -> None:
    """Keeps what the form says for `carry`."""
    st.session_state["_form_words"] = {"kernel": kernel.name, "target": chosen.word, **words_of(values)}
    for knob in kernel.knobs:
        if knob.name in values:
            offer(kernel, knob.name, word(values[knob.name]))


def words_of(values: dict[str, Any]) -> dict[str, str]:
    """Values as they stand in the address; None is left out."""
    return {name: word(value) for name, value in values.items() if value is not None}
