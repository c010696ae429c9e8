"""A race against TileLang's own AutoTuner: asked for with a sweep or after it, watched, and told
beside the sweep's own progress."""

import streamlit as st

from tileviz.engine.jobs import race
from tileviz.formats import race_words
from tileviz.ui.parts import waiting
from tileviz.ui.parts.stores import store
from tileviz.ui.parts.trouble import guarded, plain
from tileviz.ui.sweeps.space_form import SetUp
from tileviz.ui.sweeps.table import SweepTable


def after(sweep: str, chosen: SetUp) -> None:
    """Queues the races that the set-up asks for; they begin when the sweep has ended."""
    if chosen.race and chosen.request is not None:
        waiting.keep(
            _name(sweep),
            [race.submit(store(), sweep, number) for number in range(len(chosen.request.problems))],
        )


def draw(table: SweepTable, problem: int) -> None:
    """What came of the race, the button that starts one, or why there is none here."""
    view, name = table.view, _name(table.view.id)
    st.header("Against TileLang's AutoTuner", anchor=False, help=HELP)
    found = race.told(view.notes, problem)
    if found is not None:
        st.caption(plain(race_words(found)))
    refused = race.why_not(view)
    if refused:
        st.caption(plain(f"No race here: {refused}."))
        return
    if waiting.draw(name) or view.active:
        return
    for reason in waiting.failures(name) if found is None else ():
        st.warning(plain(f"The race did not end: {reason}"))
    words = "Race it again" if found else "Race it"
    st.button(words, key="_race", icon=":material/sprint:", on_click=_ask, args=(view.id, problem))


HELP = (
    "TileLang's autotune over the same configs, with its own compiler, cache cold, results"
    " unchecked, in a process of its own; then its"
    " best and ours by one timer, in turn. Its seconds are those of AutoTuner.run, this sweep's"
    " those of its search, checks included."
)


@guarded
def _ask(sweep: str, problem: int) -> None:
    waiting.keep(_name(sweep), [race.submit(store(), sweep, problem)])


def _name(sweep: str) -> str:
    return f"rival:{sweep}"
