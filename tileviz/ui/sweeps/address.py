"""Which sweep, and which config of it, the page shows: the address holds both, so a link opens the same view."""

import streamlit as st

from tileviz import kernels
from tileviz.records import Config, Problem
from tileviz.store.sweeps import SweepView
from tileviz.ui.form import state
from tileviz.ui.parts import places
from tileviz.ui.parts.stores import recorded, store


def read() -> None:
    """What the link asks for. A link to a sweep brings its kernel and place along; coming from another page, those of that page."""
    linked = st.query_params.get("sweep")
    came_from, st.session_state["_form_page"] = st.session_state.get("_form_page"), "sweep"
    if linked and linked != st.session_state.get("_sweep"):
        view = store().sweep(linked)
        st.session_state["_sweep"] = linked
        if view is None:
            st.session_state["_sweep_note"] = f"The link's sweep '{linked}' is not in this store, nor recorded."
        else:
            _follow(view)
    elif came_from not in (None, "sweep"):
        for name in ("kernel", "target"):
            word = st.session_state.get("_form_words", {}).get(name)
            if word:
                st.session_state[name] = word
    state.read_link()


def shown(kernel: str) -> SweepView | None:
    """The sweep that was opened, where it is one of this kernel's (or of a kernel that is not here); else the kernel's newest."""
    asked = st.query_params.get("sweep") or st.session_state.get("_sweep")
    view = store().sweep(asked) if asked else None
    if view is None or (view.kernel != kernel and view.kernel in kernels.names()):
        view = next(iter(store().sweeps(kernel, limit=1)), None) or _recorded(kernel)
        if view is not None:
            show(view.id)
    elif "sweep" not in st.query_params:
        _come_back(view.id)
    if view is not None and config() is not None:
        st.session_state["_sweep_config"] = (view.id, config())
    return view


def _recorded(kernel: str) -> SweepView | None:
    """The recorded sweep to show where there is none of this machine: the one that goes deepest into one problem."""
    there = recorded()
    views = there.sweeps(kernel) if there is not None else []
    return min(views, key=lambda view: (len(view.request["problems"]), -view.counts.get("ok", 0)), default=None)


def _come_back(sweep: str) -> None:
    """From another page, whose address knows no sweep: what was open here is open again."""
    st.query_params["sweep"] = sweep
    of, ordinal = st.session_state.get("_sweep_config", ("", 0))
    if of == sweep:
        st.query_params["config"] = str(ordinal)


def show(sweep: str) -> None:
    """Opens a sweep; what was open in another one is closed."""
    st.session_state["_sweep"] = sweep
    st.query_params["sweep"] = sweep
    st.query_params.pop("config", None)
    st.session_state.pop("_sweep_note", None)


def open_sweep(view: SweepView) -> None:
    """Opens a sweep from a list, with its kernel and place. In a callback."""
    show(view.id)
    _follow(view)


def config() -> int | None:
    """Ordinal of the config that is open."""
    word = st.query_params.get("config", "")
    return int(word) if word.isdigit() else None


def open_config(ordinal: int) -> None:
    st.query_params["config"] = str(ordinal)


def note() -> str:
    return st.session_state.get("_sweep_note", "")


def take_to(page: str, view: SweepView, problem: Problem, config: Config, trial: str | None) -> None:
    """Opens a config on another page, in the form that Explore and Code share."""
    kernel = kernels.kernel(view.kernel)
    known = places.places()
    chosen = known[view.device] if view.device in known else places.place(view.target)[0]
    if config_open := st.query_params.get("config", ""):
        st.session_state["_sweep_config"] = (view.id, config_open)  # it was opened by a click, which draws a part of the page alone
    state.remember(kernel, chosen, {**problem, **kernel.whole(config)})
    st.session_state["_own"] = {kernel.name: state.words_of(state.defaults(kernel, chosen, problem).config)}
    st.session_state.pop("_job", None)
    st.switch_page(f"pages/{page}.py", query_params={"trial": trial} if trial else {})  # `carry` there brings the knobs


def _follow(view: SweepView) -> None:
    """The kernel of a sweep in the form, and its device where this machine has it: one that was measured elsewhere is only looked at."""
    if view.kernel in kernels.names():
        st.session_state["kernel"] = view.kernel
    here = places.places().get(view.device or "")
    if here is not None and here.target.name == view.target:
        st.session_state["target"] = here.word
