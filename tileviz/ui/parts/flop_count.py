"""How FLOPs under a causal mask are counted: the control, and records with the rates of the chosen
count. What is stored stays as it is."""

from collections.abc import Iterable
from dataclasses import replace

import streamlit as st

from tileviz import formats, kernels
from tileviz.bench.roofline import recounted
from tileviz.records import FLOP_COUNTS, Cost, Problem, Trial
from tileviz.ui import session
from tileviz.ui.parts.trouble import plain

TITLES = {"halved": "halved, as papers", "exact": "exact pairs"}
"""In a sentence. The control shows the words themselves: a bound control puts its labels into the
address."""

HELP = (
    "Under a causal mask about half of the pairs of a query and a key are computed. Papers count 4"
    " B H Sq D times the average key length,"
    " half of the keys where Sq = Sk. Exact counts every pair that the mask leaves. The time is"
    " the same; TFLOPS and their share are not."
)


def cost_of(kernel: str, problem: Problem) -> Cost | None:
    """None for a kernel or a problem that is not known here."""
    try:
        return kernels.kernel(kernel).cost(problem)
    except kernels.FOREIGN:
        return None


def chosen() -> str:
    """The count that the person chose on any page."""
    return st.session_state.get(session.FLOPS_KEPT, FLOP_COUNTS[0])


def control(costs: Iterable[Cost | None]) -> str:
    """Draws the choice where any of these has two counts; the chosen one. Streamlit forgets a
    widget that is not drawn, so it is kept."""
    if not any(cost is not None and cost.exact_flops is not None for cost in costs):
        return FLOP_COUNTS[0]
    forgotten = session.FLOPS not in st.session_state and not session.linked(session.FLOPS)
    if forgotten and session.FLOPS_KEPT in st.session_state:
        st.session_state[session.FLOPS] = st.session_state[session.FLOPS_KEPT]
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        st.caption("Causal FLOPs", help=HELP, width="content")
        st.session_state[session.FLOPS_KEPT] = st.segmented_control(
            "Causal FLOPs", FLOP_COUNTS, default=FLOP_COUNTS[0], required=True, key=session.FLOPS,
            bind="query-params",
            label_visibility="collapsed",
        )  # fmt: skip
    return st.session_state[session.FLOPS_KEPT]


def control_under(found: Trial) -> None:
    """Draws the control where a trial's rate has two counts: once a page, before the first thing
    that follows it."""
    control([cost_of(found.kernel, found.problem) if found.tflops else None])


def counted(found: Trial) -> Trial:
    """A trial with the rates of the chosen count."""
    cost = cost_of(found.kernel, found.problem)
    return found if cost is None else recounted(found, cost, chosen())


def table(found):
    """Draws the control, and gives the table of a sweep with the rates of the chosen count; each
    problem has its own ratio."""
    costs = [cost_of(found.view.kernel, problem) for problem in found.problems]
    count = control(costs)
    ratios = {
        n: cost.counted(count).flops / cost.flops
        for n, cost in enumerate(costs)
        if cost is not None and cost.flops
    }
    if all(ratio == 1 for ratio in ratios.values()):
        return found
    factor = found.rows["problem_index"].map(ratios).fillna(1.0)
    return replace(found, rows=found.rows.assign(tflops=found.rows["tflops"] * factor))


def words(cost: Cost, flops: str) -> str:
    """Formula and value of one problem's FLOPs by a count; for a causal mask the other count,
    too."""
    now = cost.counted(flops)
    told = f"FLOPs = {now.flops_formula} = {formats.count(now.flops)}. "
    if cost.exact_flops is None:
        return told
    other = next(count for count in FLOP_COUNTS if count != flops)
    return (
        f"{told}{TITLES[flops].capitalize()}; {TITLES[other]}:"
        f" {formats.count(cost.counted(other).flops)}. "
    )


def conventions(found: Trial) -> None:
    """Draws them, a line each."""
    for sentence in sentences(found.kernel, found.problem):
        st.caption(f":material/rule: {plain(sentence)}")


def sentences(kernel: str, problem: Problem) -> tuple[str, ...]:
    """What others read otherwise of this problem, and how it is read here."""
    try:
        return kernels.kernel(kernel).conventions(problem)
    except kernels.FOREIGN:
        return ()
