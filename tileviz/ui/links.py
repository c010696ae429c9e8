"""Links: what one asks for, checked, and links to a view, a trial, a sweep.

Every input of the form is bound to a parameter of its own name, so a link opens the same view; a
field or knob that is called like a word of the page stands behind a prefix (`session.own_of`). A
value in a link that cannot be meant is dropped with one sentence, and the default stands.
"""

from collections.abc import Callable, Iterable
from typing import Any
from urllib.parse import urlencode

import streamlit as st

from tileviz import kernels
from tileviz.engine.options import FLUSHES, INPUTS, L2_MODES
from tileviz.errors import BadRequest
from tileviz.formats import word
from tileviz.kernels.asked import AskedKernel
from tileviz.kernels.toolkit.pass_configs import parse_pass_config
from tileviz.records import FLOP_COUNTS, Trial
from tileviz.ui import session
from tileviz.ui.parts.offered import offer
from tileviz.ui.parts.places import Place, place
from tileviz.ui.parts.stores import store

TYPE_YOUR_OWN = "\u2026"
"""The last choice of a numeric knob: opens a field to type in."""

PLAIN = "plain"
"""The one word of `session.BASE`."""

OFFERED = {
    session.INPUTS: INPUTS, session.L2: L2_MODES, session.FLUSH: FLUSHES,
    session.FLOPS: FLOP_COUNTS,
}  # fmt: skip
"""The words that a name of measuring may be."""

PAGES = {name: f"pages/{name}.py" for name in ("explore", "sweep", "codeview", "system")}


def first_kernel() -> str:
    """The kernel of a link that names none: the one a newcomer meets."""
    return kernels.FIRST


# building


def words_of(values: dict[str, Any]) -> dict[str, str]:
    """Values of fields and knobs as they stand in the address; None is left out."""
    return {
        session.own_of(name): word(value) for name, value in values.items() if value is not None
    }


def link_to(kernel: AskedKernel, chosen: Place, values: dict[str, Any], **more: str) -> str:
    """The whole view as a query string: every value, defaults too, so that it means the same on a
    machine with other defaults."""
    at = {session.KERNEL: kernel.name, session.TARGET: chosen.target.name}
    return "?" + urlencode({**at, **words_of(values), **more})


def of_trial(trial: Trial, at: str) -> dict[str, str]:
    """The words of a trial's problem and knobs on the device or target `at`."""
    config = kernels.kernel(trial.kernel).whole(trial.config)
    return {
        session.KERNEL: trial.kernel,
        session.TARGET: at,
        **words_of({**trial.problem, **config}),
    }


def place_word(trial: Trial) -> str:
    """The device or target of a trial as a link has it; a recorded one's device is a name, and none
    of this machine."""
    return trial.target if trial.recorded else trial.device or trial.target


def measured_words(trial: Trial) -> dict[str, str]:
    """How a trial was measured, as the form says it; nothing for one that was not."""
    if trial.timing is None:
        return {}
    found = {session.INPUTS: trial.inputs, session.SEED: str(trial.seed)}
    if trial.timing.l2 in L2_MODES:
        found[session.L2] = trial.timing.l2
    if trial.timing.flush in FLUSHES and trial.timing.l2 == "cold":
        found[session.FLUSH] = trial.timing.flush
    return found


# going


def open_trial(page: str, trial: str) -> None:
    """From anywhere to a trial on Explore or its code on Code: its id says all that the page
    needs."""
    st.session_state[session.FOLLOWED] = trial
    st.session_state.pop(session.LAST_JOB, None)
    st.switch_page(PAGES[page], query_params={session.TRIAL: trial})


def open_sweep(sweep: str) -> None:
    """From anywhere to a sweep."""
    st.switch_page(PAGES["sweep"], query_params={session.SWEEP: sweep})


def open_page(page: str, words: dict[str, Any] | None = None) -> None:
    """To a page, with these words in its address."""
    st.switch_page(PAGES[page], query_params=words or {})


def to_page(page: str, label: str, icon: str) -> None:
    """Draws a link to a page."""
    st.page_link(PAGES[page], label=label, icon=icon)


# reading


def drop_repeated() -> None:
    """Once a session, before anything reads the address: a parameter that is given twice is left
    out, with a sentence about it."""
    if st.session_state.get(session.LINK_READ):
        return
    asked = session.every_linked()
    repeated = {name: values for name, values in asked.items() if len(values) > 1}
    if repeated:
        said = [repeated_words(name, values) for name, values in repeated.items()]
        st.session_state[session.LINK_REPEATED] = said
        session.relink({name: values for name, values in asked.items() if name not in repeated})
        st.rerun()


def repeated_words(name: str, values: list[str]) -> str:
    """`The link gives block_M more than once, '64' and '128'; the default is used.`"""
    more = f" and {len(values) - 2} more" if len(values) > 2 else ""
    given = " and ".join(map(repr, values[:2]))
    return f"The link gives {name} more than once, {given}{more}; the default is used."


def trial_alone() -> Trial | None:
    """The trial that the address names, where it names no knobs beside it and its kernel is
    here."""
    words = session.all_linked()
    if session.TRIAL not in words or session.KERNEL in words:
        return None
    found = store().trial(words[session.TRIAL])
    return found if found is not None and found.kernel in kernels.names() else None


def follow_trial(words: Callable[[Trial], dict[str, str]], keep: Iterable[str] = ()) -> None:
    """First on a page, once a session: a link to a trial alone becomes `words` of that trial,
    beside what the link says under the names in `keep`."""
    if st.session_state.get(session.LINK_READ):
        return
    trial = trial_alone()
    if trial is not None:
        asked = session.all_linked()
        session.relink({**words(trial), **{name: asked[name] for name in keep if name in asked}})
        st.rerun()


def read_link() -> None:
    """Once a session: checks every parameter of the address, drops what cannot be meant and keeps a
    sentence about it."""
    if st.session_state.get(session.LINK_READ):
        return
    st.session_state[session.LINK_READ] = True
    asked = session.all_linked()
    st.session_state[session.PLAIN_WANTED] = asked.get(session.BASE) == PLAIN
    kept, sentences = checked_link(asked)
    sentences += _drop_unknown(kept)
    repeated = st.session_state.pop(session.LINK_REPEATED, ())
    st.session_state[session.LINK_NOTES] = [*repeated, *sentences]
    if kept != asked:
        session.relink(kept)
        st.rerun()


def _drop_unknown(kept: dict[str, str]) -> list[str]:
    """Takes a run or result that is not stored here out of `kept`; a sentence for each."""
    found = []
    known = ((session.JOB, "run", store().job), (session.TRIAL, "result", store().trial))
    for name, what, read in known:
        if name in kept and read(kept[name]) is None:
            word = kept.pop(name)
            found.append(
                f"The link's {what} '{word}' is not stored on this machine;"
                " the knobs of the link stand."
            )
    return found


def checked_link(asked: dict[str, str]) -> tuple[dict[str, str], list[str]]:
    """(parameters in their one spelling, a sentence for each that was dropped)."""
    kept, notes = _without_lists(asked)
    kernel, kept = _kernel_of(kept, notes)
    _check_place(kept, notes)
    _check_measuring(kept, notes)
    _check_values(kernel, kept, notes)
    for knob in kernel.knobs:
        if session.own_of(knob.name) in kept:
            offer(kernel.name, knob.name, kept[session.own_of(knob.name)])
    return kept, notes


def _without_lists(asked: dict[str, str]) -> tuple[dict[str, str], list[str]]:
    lists = [name for name, value in asked.items() if name in session.OWN_WORDS and "," in value]
    how = "give one value, without commas; the default is used."
    notes = [f"From the link, {name} is '{asked[name]}'; {how}" for name in lists]
    return {name: value for name, value in asked.items() if name not in lists}, notes


def _kernel_of(kept: dict[str, str], notes: list[str]) -> tuple[AskedKernel, dict[str, str]]:
    """The kernel of the link and its words; an unknown kernel takes its values with it."""
    named = kept.get(session.KERNEL, first_kernel())
    if named in kernels.names():
        return kernels.kernel(named), kept
    known = ", ".join(kernels.names())
    notes.append(f"The link's kernel '{named}' does not exist here; there are {known}.")
    left = {name: value for name, value in kept.items() if name == session.TARGET}
    return kernels.kernel(first_kernel()), left


def _check_place(kept: dict[str, str], notes: list[str]) -> None:
    if session.TARGET not in kept:
        return
    try:
        chosen, note = place(kept[session.TARGET])
        kept[session.TARGET] = chosen.word
        notes += [f"{note[:1].upper()}{note[1:]}."] if note else []
    except BadRequest as error:
        notes.append(f"The link's target was left out: {error.message}.")
        del kept[session.TARGET]


def _check_measuring(kept: dict[str, str], notes: list[str]) -> None:
    for name, offered in OFFERED.items():
        if name in kept and kept[name] not in offered:
            one = f"give one of {', '.join(offered)}; the default is used."
            notes.append(f"From the link, {name} is '{kept.pop(name)}'; {one}")
    if session.SEED in kept and (wrong := seed_mistake(kept[session.SEED])):
        notes.append(f"From the link, {wrong}; the default is used.")
        del kept[session.SEED]


def seed_mistake(text: str) -> str:
    """Why this cannot be a seed, in one sentence; empty when it can."""
    if text.isascii() and text.isdigit() and int(text) < 2**31:
        return ""
    return f"seed is '{text[:20]}'; give a whole number from 0 to 2,147,483,647"


def _check_values(kernel: AskedKernel, kept: dict[str, str], notes: list[str]) -> None:
    """Fields, knobs and pass configs, each in its one spelling."""
    parsers = {session.own_of(each.name): each.parse for each in (*kernel.fields, *kernel.knobs)}
    for name in [name for name in kept if name not in session.OWN_WORDS]:
        try:
            parse = parsers[name] if name in parsers else _pass_config_parser(kernel, name)
            kept[name] = word(parse(kept[name]))
        except BadRequest as error:
            if kept.pop(name) == TYPE_YOUR_OWN:
                continue
            known = f"From the link, {error.message}; the default is used."
            notes.append(known if name in parsers else f"The link has '{name}': {error.message}.")


def _pass_config_parser(kernel: AskedKernel, name: str) -> Callable:
    if "." not in name:
        raise BadRequest(f"{kernel.name} has no field or knob of this name, so it was left out")
    return lambda value: parse_pass_config(name, value)


def notes() -> list[str]:
    """Sentences about the link, until the person changes something."""
    return list(st.session_state.get(session.LINK_NOTES, ()))


def note(sentences: list[str]) -> None:
    """These take the place of what was said of the link."""
    st.session_state[session.LINK_NOTES] = sentences


def drop_notes() -> None:
    note([])
