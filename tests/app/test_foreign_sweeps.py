"""The Sweep page with sweeps of files: some that cannot be drawn, of kernels that are not here, with rates alone, without any number."""

import json

import pytest

from tests.app.pages import opened, texts
from tests.ui import sweep_examples
from tileviz.engine.sweeps import results as engine_results
from tileviz.errors import StoreError
from tileviz.store.sweeps import SweepRow
from tileviz.ui.sweeps import listing, results
from tileviz.ui.sweeps.listing import sweeps_frame

BAD = {
    "no problems": ({"problems": None}, {}),
    "problems of a dict": ({"problems": {"M": 1}}, {}),
    "a time of text": ({}, {"median_us": "27,5"}),
    "a time below 0": ({}, {"median_us": -1.0}),
    "a problem that is not there": ({"problems": [{"M": 1}]}, {"problem": 7}),
}
"""What earlier versions took from files: changes of the request, and of a row."""


def plainly(app) -> str:
    return texts(app).replace("\\", "")


def put_unchecked(store, name: str, sweep: str) -> None:
    """As a version that checked nothing stored it."""
    asked, row = BAD[name][0], dict(BAD[name][1])
    request = {"kernel": "gemm", "target": "cpu", "device": "cpu", "problems": [{"M": 64}], "imported": "bad.json", **asked}
    request = {key: value for key, value in request.items() if value is not None}
    made = SweepRow(0, row.pop("problem", 0), {"block_M": 64}, "ok", results=row)
    store.create_sweep(sweep, request, [made], state="done", reason="imported from bad.json")


@pytest.mark.parametrize("name", BAD)
def test_a_sweep_that_cannot_be_drawn_says_so_and_the_others_are_drawn_and_it_can_be_deleted(store, name):
    sweep_examples.stored(store)
    put_unchecked(store, name, "bad")
    app = opened("sweep", sweep="s1")
    assert not app.error and len(app.get("plotly_chart")) == 2, "a good sweep is drawn beside it"
    app = opened("sweep", sweep="bad")
    (error,) = app.error
    assert "Sweep bad cannot be drawn" in error.value and "It came from a file; delete it" in error.value
    assert not app.get("plotly_chart") and app.button(key="sweep_start")
    app.button(key="_sweep_delete").click().run()
    assert store.sweep("bad") is None and not app.error and len(app.get("plotly_chart")) == 2
    assert "Deleted: sweep bad" in plainly(app)


def test_a_row_of_the_list_that_cannot_be_made_says_so(store):
    sweep_examples.stored(store)
    put_unchecked(store, "no problems", "bad")
    frame = sweeps_frame(store.sweeps())
    assert list(frame["state"]) == ["cannot be drawn", "done"] and frame.at[0, "sweep"] == "bad"


def test_a_store_that_fails_is_not_taken_for_a_sweep_that_cannot_be_drawn(store, monkeypatch):
    def fails(view):
        raise StoreError("the store cannot be read")

    sweep_examples.stored(store)
    monkeypatch.setattr(listing, "pace_of", fails)
    with pytest.raises(StoreError):
        sweeps_frame(store.sweeps())


def brought(store, rows, **request) -> str:
    asked = {"kernel": "gemm", "target": "cpu", "problems": [{"M": 64}], **request}
    content = json.dumps({"request": asked, "rows": [{"ordinal": n, "problem_index": 0, **row} for n, row in enumerate(rows)]})
    return engine_results.bring_in_content(store, content.encode(), "theirs.json")


FOREIGN = {
    "a part of its sizes": ("gemm", "cpu", {"M": 64}),
    "sizes of text": ("flash_attention", "cpu", {"B": 1, "H": 1, "Sq": "x", "Sk": 5, "D": 64, "causal": "yes"}),
    "sizes of 0": ("softmax", "sm_90a", {"M": 0, "N": 0, "dtype": 5}),
    "another kernel": ("theirs", "unknown", {}),
}


@pytest.mark.parametrize("name", FOREIGN)
def test_every_tab_draws_a_sweep_whose_kernel_or_sizes_are_not_ours(store, name):
    kernel, target, problem = FOREIGN[name]
    rows = [{"config": {"block": 16 * n, "way": "-O3"}, "status": "ok", "median_us": 2.0 + n} for n in range(3)]
    sweep = brought(store, rows, kernel=kernel, target=target, problems=[problem])
    app = opened("sweep", sweep=sweep)
    for tab in results.TABS:
        app.query_params["view"] = tab
        app.run()
        assert not app.error and not app.exception, (tab, [e.value for e in app.error])
    assert f"Sweep {sweep}" in plainly(app)


def test_rates_without_times_are_shown_as_rates_and_configs_without_either_not_as_failures(store):
    sweep = brought(store, [{"config": {"b": n}, "status": "ok", "tflops": 1.0 + n} for n in range(3)])
    app = opened("sweep", sweep=sweep)
    assert not app.error and app.selectbox(key="_map_metric").value == "TFLOPS"
    assert "3 of 3 cells measured. Numbers in TFLOPS" in plainly(app)
    sweep = brought(store, [{"config": {"b": n}, "status": "ok", "reason": "no time told"} for n in range(3)])
    app = opened("sweep", sweep=sweep, view="Failures")
    assert "0 of 3 cells measured, 3 without a number" in plainly(app)
    assert "Nothing failed, and no config broke a rule." in plainly(app)


def test_a_cell_that_a_spreadsheet_would_take_for_a_formula_is_kept_as_text_in_tables_too(store):
    brought(store, [{"config": {"way": way}, "status": "ok", "median_us": 1.0} for way in ("-O3", "=1+1", "-5")], kernel="=theirs")
    frame = sweeps_frame(store.sweeps())
    assert frame.at[0, "kernel"] == "'=theirs"
    app = opened("sweep", sweep=store.sweeps()[0].id)
    knobs = next(frame.value for frame in app.dataframe if "knob" in frame.value)
    assert knobs.iat[0, 1] in ("'-O3", "'=1+1", "-5")
