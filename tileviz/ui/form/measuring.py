"""The Measuring expander under the knobs: how a run is measured and on which data. Also says where a
stored result was measured otherwise."""

from dataclasses import dataclass, fields, replace

import streamlit as st

from tileviz.engine import options as engine
from tileviz.engine.options import FlushMode, Inputs, L2Mode, Word
from tileviz.engine.requests import Request
from tileviz.records import Trial
from tileviz.ui import session
from tileviz.ui.links import seed_mistake
from tileviz.ui.parts.places import Place
from tileviz.ui.parts.trouble import plain

CAPTION_WIDTH = 62

L2_HELP = (
    "Cold: the L2 cache is emptied before every launch, outside the timed window, so inputs come from memory as in a large program."
    " Warm: launch after launch, so inputs that fit stay in L2."
)
FLUSH_HELP = (
    "How a cold L2 is made. Read: a big buffer is summed, which leaves clean lines; this is the honest one. Write: it is zeroed, and the"
    " timed kernel then pays for writing those lines back, 12 to 21 % more for memory-bound kernels. None: nothing, so L2 is warm."
)
INPUTS_HELP = "What the inputs hold. Only normal data is compared with published numbers: zeros draw less power and run faster."
SEED_HELP = "Of the random inputs: the same seed draws the same numbers."


@dataclass(frozen=True)
class Measuring:
    """`options.Measuring` as it stands in the form: the seed is a text, since it is typed."""

    inputs: Inputs = "normal"
    seed: str = "0"
    l2: L2Mode = "cold"
    flush: FlushMode = "read"

    @property
    def asked(self) -> engine.Measuring:
        """What a request takes. The form refuses a seed that is no whole number before."""
        return engine.Measuring(inputs=self.inputs, seed=int(self.seed), l2=self.l2, flush=self.flush)

    @property
    def changed(self) -> dict[str, str]:
        """What is not as it always is, as it stands in the address."""
        return {f.name: value for f in fields(self) if (value := getattr(self, f.name)) != f.default}


PLAIN = Measuring()


def plainly(chosen: Place) -> tuple[Measuring, dict[str, str]]:
    """For a page that runs nothing: no expander."""
    return PLAIN, {}


def draw(chosen: Place) -> tuple[Measuring, dict[str, str]]:
    """The expander; (how to measure, mistakes). Nothing to choose where code is only compiled."""
    if not chosen.runs:
        return PLAIN, {}
    known = st.session_state.setdefault(session.MEASURING, {})
    with st.expander("Measuring", icon=":material/timer:"):
        how = _chosen(chosen, known)
        wrong = seed_mistake(how.seed)
        if wrong:
            st.markdown(f":red[:small[{plain(wrong)}]]")
            return PLAIN, {"seed": wrong}
    return how, {}


def _chosen(chosen: Place, known: dict[str, str]) -> Measuring:
    """The widgets. What they say is kept; one that this place has no use for is not drawn, and stands as it always is."""
    how = Measuring(_choice(session.INPUTS, engine.INPUTS, PLAIN.inputs, INPUTS_HELP, known), _seed(known))
    drawn = {session.INPUTS: how.inputs, session.SEED: how.seed}
    if chosen.target.is_cuda:
        how = replace(how, l2=_choice(session.L2, engine.L2_MODES, PLAIN.l2, L2_HELP, known))
        drawn[session.L2] = how.l2
        if how.l2 == "cold":
            how = replace(how, flush=_choice(session.FLUSH, engine.FLUSHES, PLAIN.flush, FLUSH_HELP, known))
            drawn[session.FLUSH] = how.flush
    st.session_state[session.MEASURING] = {**known, **drawn}
    return how


def differences(request: Request, trial: Trial) -> str:
    """What a stored result was measured with, where the form now says otherwise; empty when it says the same."""
    found = []
    if trial.timing is not None and trial.timing.l2 != "n/a":
        if trial.timing.l2 != l2_of(request):
            found.append(f"a {trial.timing.l2} L2")
        elif trial.timing.flush and trial.timing.l2 == "cold" and trial.timing.flush != request.flush:
            found.append(f"a flush that {'writes' if trial.timing.flush == 'write' else 'reads'}")
    if trial.inputs != request.inputs:
        found.append(f"inputs {trial.inputs}")
    if trial.seed != request.seed:
        found.append(f"seed {trial.seed}")
    return ", ".join(found)


def options(request: Request) -> list[str]:
    """The command line's own words for it, where they are not its defaults."""
    if request.kind != "run":
        return []
    asked = Measuring(request.inputs, str(request.seed), request.l2, request.flush)
    return [word for name, value in asked.changed.items() for word in (f"--{name}", value)]


def l2_of(request: Request) -> str:
    """The L2 mode that a timing of this request will record: nothing flushed is warm."""
    return "warm" if request.l2 == "warm" or request.flush == "none" else "cold"


def _choice(name: str, offered: tuple[Word, ...], default: Word, help: str, known: dict[str, str]) -> Word:
    _remember(name, known)
    with st.container(horizontal=True, vertical_alignment="center", gap="xsmall"):
        st.caption(name if name != "l2" else "L2", help=help, width=CAPTION_WIDTH)
        if len(offered) > 3:
            return st.selectbox(
                name, offered, index=offered.index(default), key=name, bind="query-params", label_visibility="collapsed", width="stretch"
            )
        return st.segmented_control(
            name, offered, default=default, required=True, key=name, bind="query-params", label_visibility="collapsed"
        )


def _seed(known: dict[str, str]) -> str:
    _remember(session.SEED, known)
    with st.container(horizontal=True, vertical_alignment="center", gap="xsmall"):
        st.caption("seed", help=SEED_HELP, width=CAPTION_WIDTH)
        text = st.text_input("seed", value=PLAIN.seed, key=session.SEED, bind="query-params", label_visibility="collapsed", width="stretch")
    return text.strip()


def _remember(name: str, known: dict[str, str]) -> None:
    """Streamlit forgets a widget that is not drawn (another page, a target that only compiles); the choice stays."""
    if name not in st.session_state and name in known and not session.linked(name):
        st.session_state[name] = known[name]
