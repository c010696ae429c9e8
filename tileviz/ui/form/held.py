"""What the form holds: written by a choice, a preset or a trial, and carried from page to page."""

import contextlib
from typing import Any

import streamlit as st
from streamlit.errors import StreamlitAPIException

from tileviz import kernels
from tileviz.errors import TilevizError
from tileviz.formats import word
from tileviz.kernels.asked import AskedKernel
from tileviz.records import Config, Problem, Trial
from tileviz.ui import links, session
from tileviz.ui.form.defaults import defaults, keep_base, start
from tileviz.ui.parts import shown
from tileviz.ui.parts.offered import offer, offered
from tileviz.ui.parts.places import Place, place, places
from tileviz.ui.parts.stores import presets as known_presets
from tileviz.ui.parts.stores import store
from tileviz.ui.parts.trouble import guarded

# changing what the form holds, before it is drawn


def put(kernel: AskedKernel, values: dict[str, Any]) -> None:
    """Writes values into the form."""
    knobs = {k.name for k in kernel.knobs}
    for name, value in values.items():
        st.session_state[session.own_of(name)] = word(value)
        if name in knobs:
            offer(kernel.name, name, word(value))


def put_config(kernel: AskedKernel, config: dict[str, Any]) -> None:
    """Writes a whole config: pass configs that it does not name go back to TileLang's own
    default."""
    _forget_pass_configs(config)
    put(kernel, config)


def _forget_pass_configs(values: dict[str, Any]) -> None:
    named = (key for key in st.session_state if isinstance(key, str) and key.startswith("tl."))
    for name in [key for key in named if key not in values]:
        st.session_state[name] = ""


def put_place(chosen: Place) -> None:
    """Another device or target, without a person's choice of it."""
    st.session_state[session.TARGET] = chosen.word


def choices(kernel: AskedKernel, knob, default: str) -> list[str]:
    """The choices of a knob as words: its own, the default of this place, and those typed in this
    session."""
    own = [word(c) for c in knob.choices]
    both = list(dict.fromkeys([*own, default, *offered(kernel.name, knob.name)]))
    return both if knob.is_flag or knob.is_word else sorted(both, key=int)


# knobs that nobody touched


def follow_problem(kernel: AskedKernel, own: dict[str, str]) -> None:
    """Before the knobs are drawn: those that nobody touched move to what suits the problem and
    target of now."""
    before = st.session_state.get(session.OWN_CONFIG, {}).get(kernel.name, own)
    moved = {name: value for name, value in own.items() if before.get(name) != value}
    untouched = (
        name for name in moved if st.session_state.get(session.own_of(name)) == before.get(name)
    )
    put(kernel, {name: moved[name] for name in untouched})
    st.session_state[session.OWN_CONFIG] = {kernel.name: own}


def settle(kernel: AskedKernel, chosen: Place, problem: Problem) -> None:
    """After a whole config was loaded with its problem: those knobs stand as they are, even where
    they are another problem's defaults."""
    own = {name: word(value) for name, value in defaults(kernel, chosen, problem).config.items()}
    st.session_state[session.OWN_CONFIG] = {kernel.name: own}


# callbacks


@guarded
def start_from(kernel: AskedKernel, chosen: Place, problem: Problem, plain: bool) -> None:
    """Every knob back to where this problem starts from: the preset or the plain defaults."""
    st.session_state[session.PLAIN_WANTED] = plain
    put_config(kernel, defaults(kernel, chosen, problem).config)
    settle(kernel, chosen, problem)
    keep_base()


@guarded
def kernel_changed() -> None:
    """Another kernel was chosen: its own defaults for this place."""
    kernel, chosen = kernels.kernel(st.session_state[session.KERNEL]), current_place()
    own = defaults(kernel, chosen)
    put(kernel, own.problem)
    put_config(kernel, own.config)
    shown.forget()


@guarded
def target_changed() -> None:
    """Another target was chosen: sizes and dtypes that stood at the old default move to the new
    one, the person's own stay."""
    kernel = kernels.kernel(st.session_state.get(session.KERNEL) or links.first_kernel())
    before, after = places().get(st.session_state.get(session.PLACE_WORD)), current_place()
    before_it = kernel.problem({}, before.target.kind) if before else {}
    old = {name: word(value) for name, value in before_it.items()}
    new = kernel.problem({}, after.target.kind)
    untouched = [
        name for name in new if st.session_state.get(session.own_of(name)) == old.get(name)
    ]
    put(kernel, {name: new[name] for name in untouched})


@guarded
def load_preset(kernel: AskedKernel, chosen: Place, name: str) -> None:
    """A problem by its name, or a preset by its id, with the config that goes with it."""
    tuned = next((t for t in known_presets(kernel.name) if t.id == name), None)
    named = tuned or next(p for p in kernel.presets if p.name == name)
    problem = kernel.problem(named.problem, chosen.target.kind)
    given = kernel.whole(tuned.config) if tuned is not None else named.config
    put(kernel, problem)
    put_config(kernel, start(kernel, chosen, problem, given)[0])
    settle(kernel, chosen, problem)


@guarded
def load_trial(trial: Trial) -> None:
    """The form as the trial had it, and the trial itself on the page."""
    try:
        kernel, chosen, problem, config = _of_trial(trial)
        st.session_state[session.KERNEL] = kernel.name
        put_place(chosen)
        put(kernel, problem)
        put_config(kernel, config)
        settle(kernel, chosen, problem)
        st.session_state.update(links.measured_words(trial))
    except TilevizError as error:
        links.note([f"This result's own knobs cannot be set here: {error.message}."])
    shown.show_trial(trial.trial)


def _of_trial(trial: Trial) -> tuple[AskedKernel, Place, Problem, Config]:
    """What the form would say of a trial. Raises TilevizError."""
    kernel = kernels.kernel(trial.kernel)
    chosen = place_of(trial)
    problem = kernel.problem(trial.problem, chosen.target.kind)
    return (
        kernel,
        chosen,
        problem,
        kernel.config(kernel.whole(trial.config), chosen.target, problem),
    )


def place_of(trial: Trial) -> Place:
    """Where a trial ran, or else its target. Raises UnknownName."""
    known = places()
    return known[trial.device] if trial.device in known else place(trial.target)[0]


def current_place() -> Place:
    known = places()
    return known.get(st.session_state.get(session.TARGET) or "", next(iter(known.values())))


# from page to page


def carry(page: str) -> bool:
    """Takes the form's values along from another page that has the same form, or from a link to a
    trial that was followed there; Streamlit forgets a widget when its page is left. True for a
    trial."""
    came_from = st.session_state.get(session.FORM_PAGE)
    st.session_state[session.FORM_PAGE] = page
    followed = st.session_state.pop(session.FOLLOWED, None)
    if followed is not None:
        _follow(followed)
    if followed is not None or came_from not in (None, page):
        _write(st.session_state.get(session.FORM_WORDS, {}))
    return followed is not None


def _write(values: dict[str, str]) -> None:
    """The form holds these words, and the address says them."""
    _forget_pass_configs(values)
    for name, value in values.items():
        st.session_state[name] = value
    with contextlib.suppress(StreamlitAPIException):  # a bound parameter still follows its widget
        session.link(values)
    if values.get(session.TARGET) in places():
        st.session_state[session.PLACE_WORD] = values[session.TARGET]


def _follow(found: str) -> None:
    """The form as the trial had it that a link of the pages led to."""
    trial = store().trial(found)
    if trial is None:
        return
    try:
        kernel, chosen, problem, config = _of_trial(trial)
    except TilevizError as error:
        links.note([f"This result's own knobs cannot be set here: {error.message}."])
        return
    bring(kernel, chosen, problem, config)


def bring(kernel: AskedKernel, chosen: Place, problem: Problem, config: Config) -> None:
    """What `carry` finds on the page that is opened next."""
    remember(kernel, chosen, {**problem, **config})
    settle(kernel, chosen, problem)
    st.session_state.pop(session.LAST_JOB, None)


def remember(kernel: AskedKernel, chosen: Place, values: dict[str, Any]) -> None:
    """Keeps what the form says for `carry`."""
    at = {session.KERNEL: kernel.name, session.TARGET: chosen.word}
    st.session_state[session.FORM_WORDS] = {**at, **links.words_of(values)}
    for knob in kernel.knobs:
        if knob.name in values:
            offer(kernel.name, knob.name, word(values[knob.name]))
