"""Which sweep, and which config of it, the page shows: the address holds both, so a link opens the
same view."""

import streamlit as st

from tileviz import kernels
from tileviz.records import Config, Problem, Trial
from tileviz.store.sweeps import SweepView
from tileviz.ui import links, session
from tileviz.ui.form import held
from tileviz.ui.parts import places
from tileviz.ui.parts.stores import recorded, store


def read() -> None:
    """What the link asks for. A link to a sweep brings its kernel and place along; coming from
    another page, those of that page."""
    linked = session.linked(session.SWEEP)
    came_from, st.session_state[session.FORM_PAGE] = (
        st.session_state.get(session.FORM_PAGE),
        "sweep",
    )
    if linked and linked != st.session_state.get(session.SWEEP_SHOWN):
        view = store().sweep(linked)
        st.session_state[session.SWEEP_SHOWN] = linked
        if view is None:
            st.session_state[session.SWEEP_NOTE] = (
                f"The link's sweep '{linked}' is not in this store, nor recorded."
            )
        elif st.session_state.get(session.LINK_READ):
            _follow(view)
        else:
            _complete(view)
    elif came_from not in (None, "sweep"):
        for name in (session.KERNEL, session.TARGET):
            word = st.session_state.get(session.FORM_WORDS, {}).get(name)
            if word:
                st.session_state[name] = word
    links.read_link()


def _complete(view: SweepView) -> None:
    """A link to a sweep also says its kernel and place before anything is drawn: a browser that was
    told of a kernel only by the element itself may, on a slow machine, send its own default back,
    and then another kernel's sweep opened."""
    words = _words(view)
    if any(session.linked(name) != word for name, word in words.items()):
        session.link(words)
        st.rerun()


def shown(kernel: str) -> SweepView | None:
    """The sweep that was opened, where it is one of this kernel's (or of a kernel that is not
    here); else the kernel's newest."""
    asked = session.linked(session.SWEEP) or st.session_state.get(session.SWEEP_SHOWN)
    view = store().sweep(asked) if asked else None
    if view is None or (view.kernel != kernel and view.kernel in kernels.names()):
        view = next(iter(store().sweeps(kernel, limit=1)), None) or _recorded(kernel)
        if view is not None:
            show(view.id)
    elif not session.linked(session.SWEEP):
        _come_back(view.id)
    if view is not None and config() is not None:
        st.session_state[session.SWEEP_CONFIG] = (view.id, config())
    return view


def _recorded(kernel: str) -> SweepView | None:
    """The recorded sweep to show where there is none of this machine: the one that goes deepest
    into one problem."""
    there = recorded()
    views = there.sweeps(kernel) if there is not None else []
    return min(
        views,
        key=lambda view: (len(view.request["problems"]), -view.counts.get("ok", 0)),
        default=None,
    )


def _come_back(sweep: str) -> None:
    """From another page, whose address knows no sweep: what was open here is open again."""
    session.link({session.SWEEP: sweep})
    of, ordinal = st.session_state.get(session.SWEEP_CONFIG, ("", 0))
    if of == sweep:
        session.link({session.CONFIG: str(ordinal)})


def show(sweep: str) -> None:
    """Opens a sweep; what was open in another one is closed."""
    st.session_state[session.SWEEP_SHOWN] = sweep
    session.link({session.SWEEP: sweep})
    session.unlink(session.CONFIG)
    st.session_state.pop(session.SWEEP_NOTE, None)


def open_sweep(view: SweepView) -> None:
    """Opens a sweep from a list, with its kernel and place. In a callback."""
    show(view.id)
    _follow(view)


def config() -> int | None:
    """Ordinal of the config that is open."""
    word = session.linked(session.CONFIG)
    return int(word) if word.isdigit() else None


def open_config(ordinal: int) -> None:
    session.link({session.CONFIG: str(ordinal)})


def note() -> str:
    return st.session_state.get(session.SWEEP_NOTE, "")


def take_to(
    page: str, view: SweepView, problem: Problem, config: Config, trial: Trial | None
) -> None:
    """Opens a config on another page, by its trial's id. One that was not tried has none, and one
    that shares the code of another config has that one's: their knobs go along, in the form that
    Explore and Code share."""
    if opened := session.linked(session.CONFIG):
        st.session_state[session.SWEEP_CONFIG] = (
            view.id,
            opened,
        )  # it was opened by a click, which draws a part of the page alone
    if trial is not None and (trial.problem, trial.config) == (problem, config):
        links.open_trial(page, trial.trial)
    kernel, known = kernels.kernel(view.kernel), places.places()
    chosen = known[view.device] if view.device in known else places.place(view.target)[0]
    held.bring(kernel, chosen, problem, kernel.whole(config))
    links.open_page(
        page, {session.TRIAL: trial.trial} if trial is not None and page == "explore" else {}
    )


def _follow(view: SweepView) -> None:
    """The form as the sweep has it."""
    st.session_state.update(_words(view))


def _words(view: SweepView) -> dict[str, str]:
    """The kernel of a sweep as the form says it, and its device where this machine has it: one that
    was measured elsewhere is only looked at."""
    words = {session.KERNEL: view.kernel} if view.kernel in kernels.names() else {}
    here = places.places().get(view.device or "")
    if here is not None and here.target.name == view.target:
        words[session.TARGET] = here.word
    return words
