"""What the session and the address hold, by name: no two parts of the pages take the same one.

A name of the address is also the key of the widget that is bound to it, so one list serves both.
Keys of widgets that nothing reads back stay with their widget.
"""

from collections.abc import Mapping

import streamlit as st

# names of the address; a field or knob of a kernel has its own name there

KERNEL, TARGET, TRIAL, JOB = "kernel", "target", "trial", "job"
BASE = "base"
"""`plain` where knobs start from the kernel's plain defaults though there is a preset."""
INPUTS, SEED, L2, FLUSH, FLOPS = "inputs", "seed", "l2", "flush", "flops"
"""How a run is measured, and its FLOPs counted."""
LEFT, RIGHT, AT, OTHER, TAB = "left", "right", "at", "b", "tab"
"""Of the Code page: the text in each pane, the line, what is compared with, the open tab."""
SWEEP, CONFIG, VIEW, MAP_X, MAP_Y, MAP_BY = "sweep", "config", "view", "map_x", "map_y", "map_by"
"""Of the Sweep page: the sweep, the config opened in it, the open tab, the heatmap's sides."""
TOKEN = "token"
"""The door takes it out of the address before a page sees it."""

CODE_WORDS = (LEFT, RIGHT, AT, OTHER, TAB)
SWEEP_WORDS = (SWEEP, CONFIG, VIEW, MAP_X, MAP_Y, MAP_BY)
MEASURING_WORDS = (INPUTS, SEED, L2, FLUSH, FLOPS)
STREAMLIT_WORDS = ("embed", "embed_options", "embed_option")
OWN_WORDS = (
    KERNEL, TARGET, TRIAL, JOB, BASE, TOKEN, *STREAMLIT_WORDS, *CODE_WORDS, *SWEEP_WORDS,
    *MEASURING_WORDS,
)  # fmt: skip
"""Every name of the address that is no field, knob or pass config."""

# names of the session

ENTRY = "_entry"
"""app.py has run."""
LINK_READ, LINK_REPEATED, LINK_NOTES = "_link_read", "_link_repeated", "_link_notes"
"""The link was checked; names that it gave twice; sentences about it."""
PLAIN_WANTED, PLACE_WORD, OWN_CONFIG = "_plain", "_place_word", "_own"
"""The plain defaults are wanted; the chosen device or target; where the knobs start from."""
FORM_PAGE, FORM_WORDS = "_form_page", "_form_words"
"""The page that drew the form last, and what the form said there."""
FOLLOWED = "_followed"
"""The trial that a link of the pages leads to, until its page has read it."""
MEASURING, FLOPS_KEPT = "_measuring", "_flops"
"""What was chosen of a widget that Streamlit forgets when it is not drawn."""
PRESET, FIT_SAID = "_preset", "_fit_said"
RUN = "run"
"""The one button of Explore and Code."""
LAST_JOB, LAST_TRIAL = "_job", "_last_trial"
WARMED, DELETED, CLEARED = "_warmed", "_deleted", "_cleared"
LAST_RUNS, RUNS_LISTED = "last_runs", "_listed"
"""The table of the last runs, and the trials in its rows."""
RECENT, OTHER_CHOSEN = "_recent", "_b"
PANES_DRAWN, PANES_GROW, CLICKED_MS = "_panes_drawn", "_panes_grow", "_clicked_ms"
DIFF_TEXT = "diff_text"
LADDER, RUNGS = "ladder", "_rungs"
SWEEP_SHOWN, SWEEP_NOTE, SWEEP_CONFIG = "_sweep", "_sweep_note", "_sweep_config"
SWEEP_HELD, SWEEP_FRESH = "_sweep_held", "_sweep_fresh"
SWEEP_LIST, SWEEPS_LISTED = "sweep_list", "_sweeps_listed"
SWEEP_FILE, SWEEP_EFFORT, SWEEP_MAP = "sweep_file", "sw_effort", "sweep_map"
CLICKABLE = "_clickable"
"""Charts whose clicked point opens a config."""


TAKEN = frozenset(
    word for name, word in globals().items() if name.isupper() and isinstance(word, str)
)
"""Every name above."""

OWN = "own-"
"""Before a field or knob that has one of these names: no Python name has a hyphen."""


def own_of(name: str) -> str:
    """Where a field or knob of a kernel stands in the address and the form: under its own name,
    or, where that is one of ours, behind a prefix."""
    return f"{OWN}{name}" if name in TAKEN or name in STREAMLIT_WORDS else name


def jobs_of(part: str) -> str:
    """Jobs that one part of a page started."""
    return f"_jobs:{part}"


def offered_of(kernel: str) -> str:
    """Values of knobs that were typed in this session."""
    return f"_offered:{kernel}"


def swept_of(kernel: str) -> str:
    """Values of knobs that a loaded sweep brought along."""
    return f"_sw_offered:{kernel}"


def set_up_of(kernel: str, name: str) -> str:
    """A field or knob of a sweep's set-up."""
    return f"sw:{kernel}:{name}"


def typed_of(knob: str) -> str:
    """The field that takes a knob's own value."""
    return f"_typed:{knob}"


def ordinals_of(table: str) -> str:
    """The configs in the rows of a table."""
    return f"_ordinals:{table}"


# the address


def linked(name: str, default: str = "") -> str:
    """What the address says under a name; `default` where it says nothing."""
    return st.query_params.get(name, default)


def all_linked() -> dict[str, str]:
    """Everything that the address says, the last word of a name that is given twice."""
    return st.query_params.to_dict()


def every_linked() -> dict[str, list[str]]:
    """Everything that the address says, with every word of a name."""
    return {name: st.query_params.get_all(name) for name in st.query_params}


def link(words: Mapping[str, str]) -> None:
    """Writes words into the address, beside those of other names."""
    st.query_params.update(words)


def unlink(*names: str) -> None:
    """Takes names out of the address, where they are in it."""
    for name in names:
        st.query_params.pop(name, None)


def relink(words: Mapping[str, str | list[str]]) -> None:
    """The address says these words and no others."""
    st.query_params.from_dict(words)
