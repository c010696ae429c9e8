"""Good files of sweeps with one thing changed: each is refused in a sentence, with nothing stored, or shown by command and page."""

import copy
import csv
import io
import json

import pytest

from tests.app.pages import opened
from tileviz.cli.sweep import sweep_text
from tileviz.engine import client
from tileviz.engine.sweeps import results
from tileviz.errors import BadRequest
from tileviz.store import Store, exchange
from tileviz.store.sweeps import NOT_RUN
from tileviz.ui.sweeps import top
from tileviz.ui.sweeps.heatmap import Choice, heatmap_frame
from tileviz.ui.sweeps.listing import sweeps_frame
from tileviz.ui.sweeps.map_words import caption
from tileviz.ui.sweeps.table import table_of

ROWS = [
    {"ordinal": n, "problem_index": n % 2, "config": {"block_M": 16 * n, "fast": n > 1, "way": "-O3"}, "status": "ok", "reason": "",
     "same_as": None, "trial": f"t{n}", "median_us": 2.5 + n, "p10_us": 2.0 + n, "p90_us": 3.0 + n, "n": 30, "tflops": 1.5, "gbps": None,
     "instructions": {"sass": {"tensor_core": 8}}, "implausible": False, "launch_bound": False, "ended": 1.7e9 + n}
    for n in range(4)
]  # fmt: skip
JSON = {
    "request": {"kernel": "gemm", "target": "cpu", "device": "cpu", "problems": [{"M": 64, "dtype": "float32"}, {"M": 96}]},
    "rows": ROWS,
}
T4 = {
    "schema_version": "1.0.0",
    "metadata": {"kernel": "gemm", "target": "cpu", "problems": [{"M": 64}]},
    "results": [
        {"timestamp": "2026-11-30 12:00:00+00:00", "configuration": {"block_M": 16 * n}, "invalidity": "correct", "correctness": 1,
         "times": {"compilation_time": 12.5, "runtimes": [0.5, 0.6]}, "objectives": ["time"],
         "measurements": [{"name": "time", "value": 0.5, "unit": "ms"}, {"name": "GFLOP/s", "value": 900.0, "unit": ""}]}
        for n in (1, 2)
    ],
}  # fmt: skip
NAMES = ("ordinal", "kernel", "target", "device", "status", "problem.M", "knob.block_M", "median_us", "implausible", "same_as", "sass.trap")
CSV = [dict(zip(NAMES, (n, "gemm", "cpu", "cpu", "ok", 64, 16 * n, 2.5 + n, "FALSE", "", 8), strict=True)) for n in range(3)]

GONE = object()
HUGE = 10**30
ODD = (GONE, None, [], [None], "", "27,5", -1, 0, True, HUGE, "\x00")
JSON_PATHS = (
    "request", "request.kernel", "request.target", "request.device", "request.problems", "request.problems.0", "request.problems.0.M",
    "request.budget", "rows", "rows.1", "rows.1.ordinal", "rows.1.problem_index", "rows.1.config", "rows.1.config.block_M",
    "rows.1.status", "rows.1.same_as", "rows.1.median_us", "rows.1.p10_us", "rows.1.implausible", "rows.1.instructions",
    "rows.1.instructions.sass", "rows.1.trial", "rows.1.ended",
)  # fmt: skip
T4_PATHS = (
    "metadata", "metadata.problems", "results", "results.0", "results.0.configuration", "results.0.invalidity", "results.0.times",
    "results.0.times.runtimes", "results.0.timestamp", "results.0.measurements", "results.0.measurements.0",
    "results.0.measurements.0.name",
    "results.0.measurements.0.value", "results.0.measurements.0.unit",
)  # fmt: skip


def changed(document, path: str, value) -> bytes:
    """The document as JSON, with another value at a path."""
    out = copy.deepcopy(document)
    *before, last = (int(step) if step.isdigit() else step for step in path.split("."))
    at = out
    for step in before:
        at = at[step]
    if value is not GONE:
        at[last] = value
    elif isinstance(at, dict):
        at.pop(last, None)
    else:
        del at[last]
    return json.dumps(out).encode()


def as_csv(rows, delimiter: str = ",", **cells: str) -> str:
    """The rows as CSV, with other cells in the second of them."""
    out = io.StringIO()
    writer = csv.DictWriter(out, NAMES, delimiter=delimiter, lineterminator="\n")
    writer.writeheader()
    writer.writerows([{**row, **(cells if place == 1 else {})} for place, row in enumerate(rows)])
    return out.getvalue()


GOOD_CSV, GOOD_JSON = as_csv(CSV), json.dumps(JSON)
WHOLE = {
    "nothing": b"",
    "blanks": b" \n\n",
    "a zip": b"PK\x03\x04\x00\x00",
    "zeros": bytes(4096),
    "cut": GOOD_JSON[:-40].encode(),
    "more behind it": (GOOD_JSON + "]").encode(),
    "NaN": GOOD_JSON.replace("2.5", "NaN").encode(),
    "1e999": GOOD_JSON.replace("2.5", "1e999").encode(),
    "brackets": b"[" * 100_000,
    "braces": b'{"a":' * 100_000,
    "half a pair": GOOD_JSON.replace("gemm", "\\ud800").encode(),
    "a deep config": GOOD_JSON.replace('"-O3"', "[" * 5000 + "]" * 5000).encode(),
    "a long number": GOOD_JSON.replace("2.5", "9" * 6000).encode(),
    "twice the same config": json.dumps({**JSON, "rows": [*ROWS, ROWS[0]]}).encode(),
    "a list": json.dumps(ROWS).encode(),
    "round and round": json.dumps({**JSON, "rows": [{**ROWS[0], "same_as": 1}, {**ROWS[1], "same_as": 0}]}).encode(),
    "a cache of Kernel Tuner": b'{"device_name":"x","kernel_name":"k","tune_params_keys":["a"],"cache":{"1":{"time":1.0}',
    "UTF-16": GOOD_CSV.encode("utf-16"),
    "UTF-16 without its mark": GOOD_CSV.encode("utf-16-le"),
    "half of UTF-16": GOOD_CSV.encode("utf-16")[:-1],
    "Latin 1": GOOD_CSV.replace("cpu", "\u00b5").encode("latin-1"),
    "UTF-8 with its mark": GOOD_CSV.encode("utf-8-sig"),
    "JSON with its mark": GOOD_JSON.encode("utf-8-sig"),
    "semicolons": as_csv(CSV, ";").encode(),
    "tabs": as_csv(CSV, "\t").encode(),
    "Windows": GOOD_CSV.replace("\n", "\r\n").encode(),
    "no rows": GOOD_CSV.partition("\n")[0].encode(),
    "empty lines": (GOOD_CSV + "\n,,,,,,,,,,\n").encode(),
    "a short line": (GOOD_CSV + "4,gemm\n").encode(),
    "a long line": (GOOD_CSV + "," * 20 + "x\n").encode(),
    "an open quote": (GOOD_CSV + '4,"gemm').encode(),
    "a column twice": GOOD_CSV.replace("device", "kernel", 1).encode(),
    "no status": GOOD_CSV.replace("status", "state", 1).encode(),
    "a cell of a megabyte": as_csv(CSV, device="x" * 1_000_000).encode(),
    "no names": GOOD_CSV.partition("\n")[2].encode(),
}
CELLS = (
    {"median_us": "27,5"},
    {"median_us": "1.234,5"},
    {"median_us": "nan"},
    {"median_us": "inf"},
    {"median_us": "-1"},
    {"median_us": "0"},
    {"median_us": "0x1p3"},
    {"median_us": "fast"},
    {"implausible": "WAHR"},
    {"implausible": "2"},
    {"implausible": "TRUE"},
    {"same_as": "77"},
    {"same_as": "1"},
    {"same_as": "0"},
    {"ordinal": "0"},
    {"ordinal": "1e3"},
    {"ordinal": "9" * 30},
    {"kernel": "softmax"},
    {"status": "fine"},
    {"status": ""},
    {"knob.block_M": "9" * 30},
    {"knob.block_M": "1e999"},
    {"knob.block_M": "=1+1"},
    {"knob.block_M": "[1]"},
    {"problem.M": "x"},
    {"problem.M": ""},
    {"sass.trap": "-1"},
    {"sass.trap": "many"},
)

FILES = {
    **WHOLE,
    **{f"cell {cells}": as_csv(CSV, **cells).encode() for cells in CELLS},
    **{f"JSON {p}": [changed(JSON, p, value) for value in ODD] for p in JSON_PATHS},
    **{f"T4 {p}": [changed(T4, p, value) for value in ODD] for p in T4_PATHS},
}
"""By what is wrong with them: a file, or one for each of the odd values."""


@pytest.fixture(scope="module")
def store(tmp_path_factory):
    return Store(tmp_path_factory.mktemp("files"))


@pytest.mark.parametrize("name", FILES)
def test_a_bad_file_is_refused_in_a_sentence_or_shown(store, name):
    for content in FILES[name] if isinstance(FILES[name], list) else [FILES[name]]:
        before = newest(store)
        try:
            sweep = results.bring_in_content(store, content, name)
        except BadRequest as error:
            assert "\n" not in error.message and "Error" not in error.message and len(error.message) < 500, error.message
            assert newest(store) == before
            continue
        shown(store, sweep)


def newest(store) -> str | None:
    return next((view.id for view in store.sweeps(limit=1)), None)


def shown(store, sweep: str) -> None:
    """Everything that draws a sweep, without the widgets around it."""
    document = results.document(store, sweep)
    assert document["kernel"] in sweep_text(document) and json.loads(json.dumps(document, allow_nan=False))
    view = store.sweep(sweep)
    assert sweeps_frame([view]).at[0, "state"] == "imported"
    table = table_of(view, store.sweep_columns(sweep))
    top.top_table(top.top_frame(table, 0, 5), table)
    if len(table.knobs.columns):
        choice = Choice(*(list(table.knobs) * 2)[:2])
        frame = heatmap_frame(table, choice)
        assert "cells measured" in caption(table, choice, frame)
    for form in exchange.FORMATS:
        again = exchange.read(exchange.written(view, store.sweep_frame(sweep), form))
        kept = [row for row in store.sweep_frame(sweep) if form != "t4" or row["status"] != NOT_RUN]
        assert [given(row.config) for row in again.rows] == [given(row["config"]) for row in kept]


def given(config: dict) -> dict:
    """Without what was left open: CSV has an empty cell for it."""
    return {name: value for name, value in config.items() if value is not None}


def test_the_page_lists_all_that_came_in_and_draws_the_newest(store, monkeypatch):
    import streamlit as st

    monkeypatch.setenv("TILEVIZ_HOME", str(store.home))
    monkeypatch.delenv("TILEVIZ_TOKEN", raising=False)
    monkeypatch.setattr(client, "ensure_engine", lambda home: None)
    results.bring_in_content(store, GOOD_JSON.encode(), "good.json")
    st.cache_resource.clear()
    app = opened("sweep")
    assert not app.error and len(app.get("plotly_chart")) == 2
    (listed,) = (frame for frame in app.dataframe if "strategy" in frame.value or "by" in frame.value)
    assert len(listed.value) > 10 and set(listed.value["state"]) == {"imported"}
    st.cache_resource.clear()
