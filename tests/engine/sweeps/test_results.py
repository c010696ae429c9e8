"""What is made of a stored sweep: the JSON document, exports of a large space, and configs for TileLang's autotune."""

import ast

import pytest

from tests.asked import resolve_sweep
from tests.engine.sweeps.test_space import ADA
from tests.store.test_sweeps import REQUEST, rows, trial
from tileviz.engine.sweeps import client, results
from tileviz.errors import BadRequest
from tileviz.kernels import kernel
from tileviz.store import Store
from tileviz.store.sweeps import SweepRow

SPACE = {knob.name: [knob.default] for knob in kernel("gemm").knobs} | {
    "block_M": [64, 128, 256], "block_N": [64, 128, 256], "block_K": [32, 64, 128], "num_stages": [2, 3, 4, 5],
    "threads": [128, 256, 512, 1024], "enable_swizzle": [True], "panel_size": [10],
}  # fmt: skip


@pytest.fixture
def store(tmp_path):
    return Store(tmp_path)


@pytest.fixture
def large(store, monkeypatch):
    """432 configs of which a large part is illegal; nothing of it is run."""
    monkeypatch.setattr(client.client, "ensure_engine", lambda home: None)
    request, space = resolve_sweep("gemm", {"M": 4096, "N": 4096, "K": 4096}, SPACE, devices=[ADA])
    return client.submit(store, request, space)


@pytest.mark.parametrize("form", ["csv", "json"])
def test_a_space_larger_than_a_heatmap_comes_back_from_a_file_illegal_ones_and_all(store, large, tmp_path, form):
    path = tmp_path / "out"
    assert results.export(store, large, form, path) == 432
    again = results.bring_in(store, path)
    assert store.sweep_frame(again) == store.sweep_frame(large)
    assert store.sweep(again).counts == store.sweep(large).counts
    assert store.sweep(again).counts["pruned"] > 432 * 0.3


def test_the_document_has_a_row_for_each_requested_config_with_its_fate(store, large):
    document = results.document(store, large)
    assert len(document["trials"]) == 432 and document["best"] is None and document["tied"] == [[]]
    assert {row["status"] for row in document["trials"]} == {"pruned", "not_run"}
    assert all(row["reason"] for row in document["trials"] if row["status"] == "pruned")
    assert document["counted"]["pruned"] == document["counts"]["pruned"]


def test_a_sweep_that_waits_for_an_engine_can_be_cancelled(store, large):
    client.cancel(store, large)
    assert store.sweep(large).state == "cancelled"
    assert client.wait(store, large, timeout=1).state == "cancelled"


@pytest.mark.parametrize("read", [results.document, lambda store, sweep: results.written(store, sweep, "csv")])
def test_a_sweep_that_is_deleted_while_it_is_read_is_told_as_gone(store, large, monkeypatch, read):
    client.cancel(store, large)
    frame = store.sweep_frame

    def deleted_before(sweep):
        store.delete([sweep])
        return frame(sweep)

    monkeypatch.setattr(store, "sweep_frame", deleted_before)
    with pytest.raises(BadRequest, match=f"no sweep '{large}'"):
        read(store, large)


def test_configs_for_autotune_are_python_with_pass_configs_apart():
    fast = {"block_M": 64, "enable_swizzle": True, "tl.enable_fast_math": True}
    text = results.autotune_list([fast, {"block_M": 128, "enable_swizzle": False}])
    assert ast.literal_eval(text.removeprefix("configs = ")) == [
        {"block_M": 64, "enable_swizzle": True, "pass_configs": {"tl.enable_fast_math": True}},
        {"block_M": 128, "enable_swizzle": False},
    ]


def test_a_hundred_thousand_rows_in_the_store_leave_a_list_and_a_frame_quick(store, large):
    view, frame = store.sweep(large), store.sweep_frame(large)
    rows = [SweepRow(i, 0, frame[i % 432]["config"], "ok", results={"median_us": 1.0 + i}) for i in range(10_000)]
    for number in range(10):
        store.create_sweep(f"big{number}", view.request, rows, state="done")
    assert len(store.sweeps()) == 11
    assert len(store.sweep_frame("big7", instructions=False)) == 10_000


@pytest.mark.parametrize("form", ["csv", "json", "t4"])
def test_word_knobs_and_pass_configs_come_back_from_a_file_as_they_were(store, tmp_path, form):
    configs = [{"variant": word, "block_M": 64, "enable_swizzle": flag, "tl.device_compile_flags": "-O3 -lineinfo"}
               for word in ("plain", "persistent") for flag in (True, False)]  # fmt: skip
    rows = [SweepRow(n, 0, config, "ok", results={"median_us": 1.5 + n, "ended": 1.0}) for n, config in enumerate(configs)]
    store.create_sweep("words", {"kernel": "gemm", "target": "sm_90a", "problems": [{"M": 64, "layout": "NN"}]}, rows, state="done")
    path = tmp_path / "out"
    results.export(store, "words", form, path)
    again = store.sweep_frame(results.bring_in(store, path))
    assert [row["config"] for row in again] == configs and [row["median_us"] for row in again] == [1.5, 2.5, 3.5, 4.5]
    assert store.sweep_frame("words")[0]["problem"] == again[0]["problem"]


def test_a_changed_file_shows_its_own_times_and_not_those_of_the_trials_it_names(store, tmp_path):
    store.create_sweep("s1", REQUEST, rows(), state="done")
    store.save_sweep_trials("s1", [((0, 5), trial("t0"))])
    path = tmp_path / "sweep.csv"
    results.export(store, "s1", "csv", path)
    same = results.document(store, results.bring_in(store, path))["trials"]
    assert same[0]["timing"]["timer"] == "perf_counter" and same[0]["timing"]["median_us"] == 2.0
    path.write_text(path.read_text().replace(",2.0,1.2,2.8,", ",5.0,1.2,2.8,"))
    changed = results.document(store, results.bring_in(store, path))["trials"]
    assert {row["timing"]["median_us"] for row in changed if row["timing"]} == {5.0} and "timer" not in changed[0]["timing"]
