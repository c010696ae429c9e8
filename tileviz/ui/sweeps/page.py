"""The Sweep page from top to bottom: what would be searched and Start, the sweep that is shown, and the list of all."""

import streamlit as st

from tileviz import kernels
from tileviz.engine.presets import recorded_words
from tileviz.engine.sweeps import client
from tileviz.formats import assignments
from tileviz.store.sweeps import SweepView
from tileviz.ui import links, session
from tileviz.ui.form import held
from tileviz.ui.form.defaults import defaults
from tileviz.ui.parts import deleting, places
from tileviz.ui.parts.stores import store
from tileviz.ui.parts.trouble import caught, plain
from tileviz.ui.sweeps import address, bringing, listing, loading, race, watch
from tileviz.ui.sweeps.space_form import SetUp
from tileviz.ui.sweeps.space_words import count_words, effort_words, rule_lines

WHAT_THIS_IS = (
    "A sweep tries many configs of one kernel: each is compiled, checked against a float64 reference and timed, and every result is kept."
    " The heatmap shows which knobs matter; a click on a cell opens that config, its resources and its code."
)


def header(chosen: SetUp) -> None:
    """What Start would do, and the button."""
    for note in (*links.notes(), *filter(None, [address.note()])):
        st.warning(plain(note))
    title, button = st.columns([4, 1], vertical_alignment="center")
    with title, st.container(gap="xsmall"):
        st.title(plain(f"Sweep of {chosen.kernel.title} on {chosen.place.word}"), anchor=False)
        _count(chosen)
        if not places.has_gpu():
            st.caption(f":material/info: {places.NO_GPU}")
    request, space = chosen.request, chosen.space
    nothing = request is None or not request.counted["unique"]
    pressed = button.button("Start", key="sweep_start", type="primary", width="stretch", disabled=nothing, icon=":material/play_arrow:")
    if pressed and request is not None and space is not None:
        links.drop_notes()
        sweep = client.submit(store(), request, space)
        race.after(sweep, chosen)
        address.show(sweep)
        loading.refresh()
        st.rerun()
    if chosen.mistakes:
        st.error(f"Start is off: {plain(chosen.mistakes[0])}.")
    elif nothing:
        st.error("Start is off: no config of this space can be run.")


def _count(chosen: SetUp) -> None:
    """How many configs, and what becomes of the others."""
    request = chosen.request
    if request is None:
        return
    counted = request.counted
    problems = f" over {len(request.problems):,} problems" if len(request.problems) > 1 else ""
    told = plain(count_words(counted) + problems)
    st.markdown(
        f":small[**{told}**; {plain(effort_words(request.effort, vars(request.budget), counted['unique']))}, strategy {request.strategy}]"
    )
    lines = rule_lines(counted)
    if lines:
        with st.expander(f"Which rules break {counted['pruned']:,} of them", icon=":material/rule:"):
            for line in lines:
                st.caption(plain(line))


def remember(chosen: SetUp) -> None:
    """The kernel and place for Explore and Code, with the first problem of this page."""
    before = st.session_state.get(session.FORM_WORDS, {})
    if chosen.request is None or (before.get(session.KERNEL), before.get(session.TARGET)) == (chosen.kernel.name, chosen.place.word):
        return
    problem = chosen.request.problems[0]
    held.remember(chosen.kernel, chosen.place, {**problem, **defaults(chosen.kernel, chosen.place, problem).config})


def body(chosen: SetUp) -> None:
    """The shown sweep, or what a sweep is; then the list."""
    view = address.shown(chosen.kernel.name)
    if view is None:
        _nothing_yet(chosen)
        deleting.note()
        listing.draw(None)
        bringing.in_expander()
        return
    deleting.note()
    listing.draw(view)
    with caught():
        _shown(view, chosen)
    bringing.in_expander()


def _shown(view: SweepView, chosen: SetUp) -> None:
    """The sweep that is open; of one that cannot be drawn the reason."""
    why_not = loading.why_unreadable(view)
    if why_not:
        st.error(f"**Sweep {plain(view.id)} cannot be drawn**: {plain(why_not)}. It came from a file; delete it, or open another one.")
        deleting.button("Delete this sweep", [view.id], "_sweep_delete")
        return
    if view.recorded:
        _recorded(view, chosen)
    _which(view)
    watch.panel(view)
    from tileviz.ui.sweeps import results  # only now: plotly takes its time, and the form is on the screen

    results.draw(loading.table(view))


def _recorded(view: SweepView, chosen: SetUp) -> None:
    """Says whose numbers these are, and how to get one's own."""
    words = recorded_words(view.device, view.created)
    said = f"**{words[:1].upper()}{words[1:]}**: this sweep comes with tileviz and was not measured on this machine."
    if not store().sweeps(view.kernel, limit=1):
        said += f" No sweep of {plain(view.kernel)} was run here yet"
        said += f": **Start** searches the space on the left on {chosen.place.word}." if chosen.request is not None else "."
    st.info(said, icon=":material/bookmark:")


def _which(view: SweepView) -> None:
    """What the shown sweep is of: never mistaken for what the sidebar says now."""
    problems = view.request["problems"]
    of = assignments(problems[0]) if len(problems) == 1 else f"{len(problems):,} problems"
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        st.header(f"Sweep {plain(view.id)}", anchor=False)
        st.markdown(f"{plain(view.kernel)} on {plain(view.device or view.target)}, {plain(of)}")
        st.space("stretch")
        if view.kernel in kernels.names():
            watch.settings_button(view, kernels.kernel(view.kernel))
        if not (view.recorded or view.active):
            deleting.button("Delete", [view.id], "_sweep_delete")


def _nothing_yet(chosen: SetUp) -> None:
    """The first screen of a newcomer."""
    st.markdown(WHAT_THIS_IS)
    if chosen.request is None:
        return
    budget, unique = chosen.request.budget, chosen.request.counted["unique"]
    about = f"about {budget.seconds:g} s" if budget.seconds else "up to " + f"{min(unique, budget.trials or unique):,} configs"
    st.info(
        f"**Start** searches the space on the left, {about}, on {plain(chosen.place.word)}. Meanwhile the page can be used,"
        " left or closed: the search goes on, and this page finds it again.",
        icon=":material/play_arrow:",
    )
