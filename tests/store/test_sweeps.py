"""Sweeps in the store, and as files: nothing is lost on the way in, out and back."""

import json
import re
import sqlite3
import time
from dataclasses import replace

import pytest

from tests.store.test_store import a_trial
from tileviz.errors import BadRequest
from tileviz.records import Resources, SharedBytes
from tileviz.store import Store, exchange
from tileviz.store.database import MIGRATIONS
from tileviz.store.sweeps import MOST_DEATHS, NOT_RUN, SweepRow

PROBLEMS = [{"M": 64, "dtype": "float32"}, {"M": 128, "dtype": "float32"}]
REQUEST = {"kernel": "gemm", "target": "cpu", "device": "cpu", "problems": PROBLEMS, "strategy": "grid", "budget": {"trials": None}}
COUNTS = {"source": {"barrier": 2, "branch": 5}, "sass": {"tensor_core": 8}}


@pytest.fixture
def store(tmp_path):
    return Store(tmp_path)


def rows(count=6):
    """Half of them of each problem; the third is pruned, the last one equal to the first."""
    configs = [{"block_M": 16 * (i + 1), "enable_swizzle": i % 2 == 0, "tl.enable_fast_math": False} for i in range(count)]
    made = [SweepRow(i, i * 2 // count, config) for i, config in enumerate(configs)]
    made[2] = replace(made[2], status="pruned", reason='rule, with "quotes", a comma;\nand a line')
    made[-1] = replace(made[-1], same_as=0)
    return made


def trial(name, **changes):
    shared = SharedBytes(1024, 2048)
    found = Resources(registers=32, spill_bytes=0, shared_bytes=shared, threads_launched=256, occupancy=0.25, blocks_per_sm=2)
    values = {"resources": found, "instructions": COUNTS, "tflops": 1.5, "gbps": 2.5, "seconds": {"compile": 1.25, "check": 0.5}}
    return a_trial(trial=name, **{**values, **changes})


def filled(store):
    store.create_sweep("s1", REQUEST, rows())
    failed = trial("t1", status="compile_failed", timing=None, verdict=None, reason="no")
    store.save_sweep_trials("s1", [((0, 5), trial("t0")), ((1,), failed)])
    store.save_sweep_trials("s1", [((3,), trial("t3"))], columns={"finalist": 1})
    return store.sweep_frame("s1")


def test_columns_say_what_the_frame_says(store):
    frame, columns = filled(store), store.sweep_columns("s1")
    assert {len(values) for values in columns.values()} == {len(frame)}
    for name, values in columns.items():
        told = [json.loads(value) if value else None for value in values] if name in ("config", "instructions") else values
        assert told == [row[name] for row in frame], name
    assert columns.keys() == frame[0].keys() - {"problem"} and store.sweep_columns("nothing") == {}


def test_a_new_sweep_has_a_row_for_each_requested_config(store):
    store.create_sweep("s1", REQUEST, rows())
    view, frame = store.sweep("s1"), store.sweep_frame("s1")
    assert view.counts == {NOT_RUN: 5, "pruned": 1} and view.requested == 6 and view.active
    assert [row["ordinal"] for row in frame] == list(range(6))
    assert [row["problem"]["M"] for row in frame] == [64, 64, 64, 128, 128, 128]
    assert frame[0]["config"] == {"block_M": 16, "enable_swizzle": True, "tl.enable_fast_math": False}


def test_a_trial_fills_its_row_and_those_that_share_it(store):
    frame = filled(store)
    assert [row["status"] for row in frame] == ["ok", "compile_failed", "pruned", "ok", NOT_RUN, "ok"]
    assert frame[0]["median_us"] == frame[5]["median_us"] == 2.0 and frame[5]["trial"] == "t0"
    assert frame[5]["reason"] == "same code as config 0" and frame[5]["config"]["block_M"] == 96
    assert (frame[0]["registers"], frame[0]["shared_dynamic_bytes"], frame[0]["compile_s"], frame[0]["measure_s"]) == (32, 2048, 1.25, 0.5)
    assert frame[0]["instructions"] == COUNTS and frame[3]["finalist"] is True and frame[0]["finalist"] is False
    assert frame[1]["median_us"] is None and frame[1]["reason"] == "no"
    assert store.trial("t0") == trial("t0")
    assert store.sweep("s1").best == {0: "t0", 1: "t3"}
    assert set(store.trials_of_sweep("s1")) == {"t0", "t1", "t3"}


def test_ties_and_notes_are_added_to_what_is_there(store):
    filled(store)
    store.note_sweep("s1", tied={0: ["t0"]}, notes={"lane_busy": 0.9})
    store.note_sweep("s1", tied={1: ["t3", "t0"]})
    view = store.sweep("s1")
    assert view.tied == {0: ["t0"], 1: ["t3", "t0"]} and view.notes == {"lane_busy": 0.9}


def test_a_sweep_whose_job_was_cancelled_in_the_queue_is_cancelled(store):
    job = "j1"
    store.create_sweep("s1", REQUEST, rows(), job=job)
    store.queue_sweep("s1", job, {"sweep": "s1"}, before=job)
    store.cancel(job)
    assert store.sweep("s1").state == "cancelled" and store.sweeps(active=True) == []


def test_engines_that_die_without_progress_again_and_again_end_a_sweep_and_progress_forgives(store):
    store.create_sweep("s1", REQUEST, rows())
    job = store.submit("sweep", {"sweep": "s1"})
    store.start_sweep("s1", job=job)
    for death in range(MOST_DEATHS + 2):
        assert store.claim(job), death
        store.save_sweep_trials("s1", [((0,), trial("t0"))])
        store.recover_jobs()
    for _ in range(MOST_DEATHS):
        store.claim(job)
        store.recover_jobs()
    view = store.sweep("s1")
    assert view.state == "failed" and f"{MOST_DEATHS} times in a row" in view.reason


def test_sweeps_are_listed_newest_first(store):
    for name in ("a", "b", "c"):
        store.create_sweep(name, {**REQUEST, "kernel": "softmax" if name == "b" else "gemm"}, rows())
        time.sleep(0.002)
    assert [view.id for view in store.sweeps()] == ["c", "b", "a"]
    assert [view.id for view in store.sweeps("gemm", limit=1)] == ["c"]
    assert store.sweep("nothing") is None and store.sweep_frame("nothing") == []


def test_a_store_of_the_first_schema_gains_sweeps_and_keeps_its_trials(tmp_path):
    old = sqlite3.connect(tmp_path / "store.db")
    old.executescript(MIGRATIONS[0] + "PRAGMA user_version=1;")
    old.close()
    store = Store(tmp_path)
    store.save_trial(a_trial())
    store.create_sweep("s1", REQUEST, rows())
    assert store.trial("t1") == a_trial() and store.sweep("s1").requested == 6


def test_ten_thousand_rows_are_read(store):
    results = {"median_us": 1.0, "instructions": COUNTS}
    big = [SweepRow(i, 0, {"block_M": i, "block_N": 64, "num_stages": 3}, "ok", results=results) for i in range(10_000)]
    store.create_sweep("s1", REQUEST, big)
    frame = store.sweep_frame("s1")
    assert len(frame) == 10_000 and frame[77]["instructions"] == COUNTS
    assert store.sweep("s1").counts == {"ok": 10_000}


# files


def back(store, form):
    """The frame of s1, and that of what its export brings back."""
    frame = filled(store)
    found = exchange.read(exchange.written(store.sweep("s1"), frame, form))
    store.create_sweep("s2", found.request, found.rows, state="done")
    return frame, store.sweep_frame("s2")


def heatmap(frame):
    return [(row["problem"], row["config"], row["status"], row["reason"], row["median_us"], row["same_as"]) for row in frame]


def test_json_comes_back_to_the_same_frame(store):
    frame, again = back(store, "json")
    assert again == frame


def test_csv_comes_back_to_the_same_frame(store):
    frame, again = back(store, "csv")
    assert again == frame


def test_t4_comes_back_to_the_same_heatmap_of_what_was_run(store):
    frame, again = back(store, "t4")
    assert heatmap(again) == heatmap([row for row in frame if row["status"] != NOT_RUN])


def test_t4_is_what_its_schema_asks_for(store):
    frame = filled(store)
    document = json.loads(exchange.written(store.sweep("s1"), frame, "t4"))
    assert re.fullmatch(r"[0-9]+\.[0-9]+\.[0-9]+", document["schema_version"])
    words = {"timeout", "compile", "runtime", "correctness", "constraints", "correct"}
    for result in document["results"]:
        assert {"configuration", "times", "invalidity", "correctness"} <= set(result)
        assert isinstance(result["timestamp"], str) and isinstance(result["configuration"], dict) and isinstance(result["objectives"], list)
        assert result["invalidity"] in words and isinstance(result["correctness"], float)
        times = dict(result["times"])
        assert isinstance(times.pop("runtimes"), list) and all(isinstance(time, float) for time in times.values())
        assert {"framework", "search_algorithm"} <= set(times) <= {"compilation_time", "framework", "search_algorithm", "validation"}
        for measurement in result["measurements"]:
            assert isinstance(measurement["name"], str) and isinstance(measurement["unit"], str)
            assert isinstance(measurement["value"], (int, float, str, list))
    assert [r["invalidity"] for r in document["results"]] == ["correct", "compile", "constraints", "correct", "correct"]
    assert document["results"][0]["times"]["runtimes"] == [0.002]


def test_every_status_has_its_word_in_t4():
    from tileviz.records import STATUSES

    assert set(exchange.INVALIDITY) == set(STATUSES)
    assert {exchange.INVALIDITY[status] for status in ("launch_failed", "runtime_failed", "crashed")} == {"runtime"}


def test_a_t4_file_of_another_tuner_is_read_too():
    time_ms = [{"name": "time", "value": 0.5, "unit": "ms"}]
    right = {"configuration": {"block": 64}, "times": {}, "invalidity": "correct", "correctness": 1, "measurements": time_ms}
    refused = {"configuration": {"block": 32}, "times": {}, "invalidity": "constraints", "correctness": 0}
    found = exchange.read(json.dumps({"schema_version": "1.0.0", "results": [right, refused]}))
    assert [(row.status, row.results.get("median_us")) for row in found.rows] == [("ok", 500.0), ("pruned", None)]


NO_SWEEPS = ("", "{}", "[1, 2]", "a,b\n1,2\n", '{"results": [{"invalidity": "luck"}]}', "{", "PK\x03\x04", '{"rows": 3}')


@pytest.mark.parametrize("text", NO_SWEEPS)
def test_a_file_that_is_no_sweep_is_refused_in_one_sentence(text):
    with pytest.raises(BadRequest, match="holds no sweep"):
        exchange.read(text)


def test_a_trial_of_a_sweep_stays_one_when_it_is_written_again(store):
    """Nsight Compute's figures are added to a trial later; the last runs of a kernel must not list it then."""
    store.create_sweep("again", REQUEST, [SweepRow(0, 0, {"block_M": 64})])
    store.save_sweep_trials("again", [((0,), trial("swept"))])
    assert [t.trial for t in store.trials("gemm", sweeps=False)] == []
    store.save_trial(trial("swept"))
    assert [t.trial for t in store.trials("gemm", sweeps=False)] == [] and [t.trial for t in store.trials("gemm")] == ["swept"]


def test_ties_that_are_none_are_taken_away_and_the_fastest_is_the_best_again(store):
    filled(store)
    store.save_sweep_trials("s1", [((1,), trial("t1", timing=replace(trial("x").timing, samples_us=(1.5,))))])
    store.finish_sweep("s1", "cancelled")
    store.note_sweep("s1", tied={0: ["t0"], 1: ["t3"]})
    assert store.sweep("s1").best[0] == "t0", "the finals decide"
    store.note_sweep("s1", tied={0: None})
    view = store.sweep("s1")
    assert view.best[0] == "t1" and view.tied == {1: ["t3"]}, "they knew nothing of what was tried since"
