"""Where in the output the errors lie: shown for a wrong result, opened on demand for a right one."""

import streamlit as st

from tileviz.formats import significant
from tileviz.measured import ErrorMap
from tileviz.records import Trial
from tileviz.ui.charts import screen
from tileviz.ui.charts.errors import errors_figure, errors_frame, matrix_shape
from tileviz.ui.parts.trouble import plain

TITLE = "Where the errors lie"


def draw(trial: Trial) -> None:
    """Nothing where no map was kept."""
    verdict = trial.verdict
    found = verdict.errors if verdict is not None else None
    if verdict is None or found is None:
        return
    if not verdict.ok:
        st.header(TITLE, anchor=False)
        _map(found)
        return
    box = st.expander(TITLE, key="error_map", on_change="rerun", icon=":material/grid_on:")
    if box.open:
        with box:
            _map(found)


def _map(found: ErrorMap) -> None:
    screen.chart(errors_figure(errors_frame(found)), key="errors", alt="Errors of the output by block")
    st.caption(plain(words(found)))


def words(found: ErrorMap) -> str:
    """`3 of 1,024 blocks hold wrong elements; a block is 128 x 128 of the 4096 x 4096 output`."""
    blocks = [worst for row in found.worst for worst in row]
    down, across = matrix_shape(found.shape)
    if len(found.shape) < 2:
        size = f"a block is {found.block[0]:,} of the {down:,} elements"
    else:
        flat = f" (all but the last dimension of {found.shape} as rows)" if len(found.shape) > 2 else ""
        size = f"a block is {min(found.block[0], down)} \u00d7 {min(found.block[1], across)} of the {down:,} \u00d7 {across:,} output{flat}"
    if found.wrong:
        bad = sum(count > 0 for row in found.wrong for count in row)
        return f"{bad:,} of {len(blocks):,} blocks hold wrong elements; {size}. Grey is right."
    return f"The worst element lies at {significant(max(blocks, default=0.0), 2)} of its bound; {size}. Above 1 would be wrong."
