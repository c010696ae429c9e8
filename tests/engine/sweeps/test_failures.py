"""A sweep with a scripted compiler and device: failures of every kind in every phase cost their own config and nothing else."""

import time
from dataclasses import replace

import pytest

from tests import long_proofs
from tests.asked import resolve_sweep
from tests.engine import scripted_jobs as script
from tests.engine.conftest import Spawner, cpu_device
from tests.waiting import PATIENT_S
from tileviz.cli.sweep import sweep_text
from tileviz.engine.processes.channel import Pipe
from tileviz.engine.processes.lanes import spawn_child
from tileviz.engine.sweeps import client, results
from tileviz.errors import StoreError
from tileviz.records import Device


@pytest.fixture
def store(scripted_store):
    return scripted_store


@pytest.fixture
def engine(scripted_engine):
    return scripted_engine


def submitted(store, values, problem=None, **more):
    settings = {"target": "cpu", "effort": "full", "baselines": False, "timeout_s": 4.0, **more}
    request, space = resolve_sweep("vector_add", problem or {"N": 64}, {"block_N": values, "threads": [128]}, **settings)
    return client.submit(store, request, space)


def step_until(engine, condition, seconds=PATIENT_S):
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, f"not within {seconds} s"
        engine._step()


def run_to_end(engine, store, sweep):
    step_until(engine, lambda: not store.sweep(sweep).active)
    return store.sweep(sweep)


def by_block(store, sweep):
    return {row["config"]["block_N"]: row for row in store.sweep_frame(sweep)}


def test_every_kind_of_failure_in_every_phase_has_its_status_and_the_rest_goes_on(store, engine):
    sweep = submitted(store, list(script.EXPECTED))
    view = run_to_end(engine(), store, sweep)
    rows = by_block(store, sweep)
    assert view.state == "done"
    assert {block: row["status"] for block, row in rows.items()} == script.EXPECTED
    assert all(row["reason"] for row in rows.values() if row["status"] != "ok")
    assert "never written" in rows[script.WRONG]["reason"] and "illegal" in rows[script.ILLEGAL]["reason"]
    assert "131,072 B of shared memory" in rows[script.FITS_NOWHERE]["reason"] and rows[script.FITS_NOWHERE]["median_us"] is None
    assert "phase 'lower': segmentation fault" in rows[script.COMPILE_CRASHES]["reason"]
    assert "phase 'check': segmentation fault" in rows[script.RUN_CRASHES]["reason"]
    assert "4 s" in rows[script.COMPILE_HANGS]["reason"] and "4 s" in rows[script.RUN_HANGS]["reason"]
    assert store.trial(rows[script.COMPILE_FAILS]["trial"]).detail == "all that g++ said"
    assert store.artifact(store.trial(rows[script.COMPILE_FAILS]["trial"]).artifact).source.startswith("source 3")


@pytest.mark.parametrize(
    "bad, place",
    long_proofs.cases(
        [(script.ILLEGAL, 0), (script.ILLEGAL, 1), (script.ILLEGAL, 2), (script.RUN_CRASHES, 1), (script.RUN_HANGS, 1)], 1, 3
    ),
)
def test_good_configs_around_a_bad_one_are_as_if_alone_in_any_order(store, engine, bad, place):
    """Case A01."""
    order = [script.FAST, script.FINE]
    order.insert(place, bad)
    sweep = submitted(store, order, strategy="model")
    run_to_end(engine(), store, sweep)
    rows = by_block(store, sweep)
    assert {block: rows[block]["status"] for block in order} == {block: script.EXPECTED[block] for block in order}
    assert rows[script.FAST]["median_us"] == pytest.approx(10.0)


def test_a_child_that_dies_while_inputs_are_drawn_is_replaced(store, engine):
    sweep = submitted(store, [script.FAST, script.FINE], problem={"N": script.DIES_EARLY})
    assert run_to_end(engine(), store, sweep).counts == {"ok": 2}


def test_identical_source_is_measured_once_and_says_of_which(store, engine):
    sweep = submitted(store, [script.FAST, script.TWIN_OF_FAST, script.SLOW])
    run_to_end(engine(), store, sweep)
    rows = by_block(store, sweep)
    one, twin = rows[script.FAST], rows[script.TWIN_OF_FAST]
    if one["same_as"] is not None:
        one, twin = twin, one
    assert twin["same_as"] == one["ordinal"] and twin["trial"] == one["trial"] and twin["median_us"] == one["median_us"]
    assert twin["reason"].startswith(f"same code as config {one['ordinal']}")


def test_finalists_are_marked_and_ties_are_a_set(store, engine):
    sweep = submitted(store, [script.FAST, script.FINE, script.SLOW, script.WRONG])
    view = run_to_end(engine(), store, sweep)
    rows = by_block(store, sweep)
    assert view.tied == {0: [rows[script.FAST]["trial"], rows[script.FINE]["trial"]]}
    assert view.best == {0: rows[script.FAST]["trial"]}
    assert [rows[block]["finalist"] for block in (script.FAST, script.SLOW, script.WRONG)] == [True, True, False]
    assert store.trial(rows[script.FAST]["trial"]).timing.note == "measured in turn"


def test_a_sweep_in_which_nothing_works_ends_with_reasons(store, engine):
    sweep = submitted(store, [script.COMPILE_FAILS, script.NO_ROOM, script.WRONG])
    view = run_to_end(engine(), store, sweep)
    assert view.state == "done" and view.best == {} and view.counts == {"compile_failed": 1, "launch_failed": 1, "wrong_result": 1}
    assert len({row["reason"] for row in store.sweep_frame(sweep)}) == 3


@pytest.mark.parametrize(
    "budget, most, words",
    [({"trials": 3}, 3, "3 trials"), ({"patience": 4}, 12, "has not moved for 4"), ({"seconds": 0.5}, 30, "budget of 0.5 s")],
)
def test_a_budget_ends_the_search_and_says_so(store, engine, budget, most, words, monkeypatch):
    monkeypatch.setenv("SCRIPTED_SECONDS", "0.05")
    sweep = submitted(store, list(range(20, 60)), strategy="grid", **budget)
    view = run_to_end(engine(), store, sweep)
    assert view.state == "done" and words in view.reason
    assert 1 <= view.counts["ok"] <= most and view.counts["not_run"] == 40 - view.counts["ok"]


def test_resume_runs_only_the_rest(store, engine):
    sweep = submitted(store, list(range(20, 26)), trials=2)
    run_to_end(engine(), store, sweep)
    before = {row["trial"] for row in store.sweep_frame(sweep, statuses=("ok",))}
    client.resume(store, sweep)
    view = run_to_end(engine(), store, sweep)
    after = {row["trial"] for row in store.sweep_frame(sweep, statuses=("ok",))}
    assert view.counts == {"ok": 6} and before < after


def test_a_sweep_from_before_a_knob_goes_on(store, engine, monkeypatch):
    """A new version came between: its rows lack the knob, and an idle engine of the old one must go."""
    sweep = submitted(store, list(range(20, 26)), trials=2)
    run_to_end(engine(), store, sweep)
    with store.database.transaction() as connection:
        connection.execute("UPDATE sweep_trial SET config=json_remove(config, '$.threads') WHERE sweep=?", (sweep,))
    renewed = []
    monkeypatch.setattr(client.client, "renew_engine", renewed.append)
    client.resume(store, sweep)
    view = run_to_end(engine(), store, sweep)
    assert view.state == "done" and view.counts == {"ok": 6} and renewed == [store]


def test_an_engine_that_dies_again_and_again_loses_nothing(store, engine, monkeypatch):
    monkeypatch.setenv("SCRIPTED_SECONDS", "0.05")
    sweep = submitted(store, list(range(20, 32)))
    seen: set[str] = set()
    for deaths in range(1, 6):
        dying = engine()
        step_until(dying, lambda least=deaths * 2: store.sweep(sweep).counts.get("ok", 0) >= least)
        dying._kill_all()
        now = {row["trial"] for row in store.sweep_frame(sweep, statuses=("ok",))}
        assert seen <= now
        seen = now
    view = run_to_end(engine(), store, sweep)
    rows = store.sweep_frame(sweep)
    assert view.counts == {"ok": 12} and seen <= {row["trial"] for row in rows}


def test_of_two_resumes_at_once_one_wins_and_the_other_is_told(store, engine):
    sweep = submitted(store, list(range(20, 24)), trials=1)
    run_to_end(engine(), store, sweep)
    first = client.resume(store, sweep)
    told = []
    assert client.resume(store, sweep, {"trials": 2}, told.append) == first
    assert told == [f"sweep {sweep} was asked for already and is queued; its budget stays as it is"]
    assert store.sweep(sweep).request["budget"]["trials"] is None
    assert [job.id for job in store.jobs(active=True)] == [first]


def test_a_resume_that_comes_between_anothers_look_and_its_press_is_told_too(store, engine, monkeypatch):
    sweep = submitted(store, list(range(20, 24)), trials=1)
    run_to_end(engine(), store, sweep)
    looked, first, told = store.sweep(sweep), client.resume(store, sweep), []
    views = iter([looked])
    monkeypatch.setattr(store, "sweep", lambda found, real=store.sweep: next(views, None) or real(found))
    assert client.resume(store, sweep, say=told.append) == first and "is queued" in told[0]
    assert [job.id for job in store.jobs(active=True)] == [first]


def test_a_sweep_asks_once_whether_the_engine_is_of_these_files(store, monkeypatch):
    asked = []
    monkeypatch.setattr(client.client, "renew_engine", lambda store: asked.append(1))
    submitted(store, [20])
    assert asked == [1]


def test_cancel_stops_hanging_configs_and_keeps_what_is_done(store, engine):
    sweep = submitted(store, [script.FAST, script.COMPILE_HANGS, script.RUN_HANGS, *range(20, 40)], timeout_s=60)
    running = engine()
    step_until(running, lambda: store.sweep(sweep).counts.get("ok", 0) >= 1)
    children = [worker.child for task in running.tasks.values() for worker in task.pool.workers]
    client.cancel(store, sweep)
    view = run_to_end(running, store, sweep)
    assert view.state == "cancelled"
    assert all(child.process.poll() is not None for child in children)
    assert view.counts["ok"] >= 1 and "cancelled" not in view.counts
    assert store.job(view.job).state == "cancelled"


def test_a_sweep_that_waits_for_the_device_says_its_place_and_then_runs(store, engine, monkeypatch):
    monkeypatch.setenv("SCRIPTED_SECONDS", "0.05")
    first, second = submitted(store, list(range(20, 26))), submitted(store, list(range(20, 24)), problem={"N": 65})
    running = engine()
    step_until(running, lambda: store.sweep(first).counts.get("ok", 0) >= 1)
    assert store.job(store.sweep(second).job).queue_position == 1 and store.sweep(second).counts == {"not_run": 4}
    assert run_to_end(running, store, second).counts == {"ok": 4}
    assert store.sweep(first).counts == {"ok": 6}


def test_sweeps_on_two_devices_share_the_compile_children(store, engine, monkeypatch):
    monkeypatch.setenv("SCRIPTED_SECONDS", "0.05")
    devices = [cpu_device(), replace(cpu_device(), id="other")]
    first = submitted(store, list(range(20, 32)), target=None, devices=devices, device="cpu")
    running = engine(devices)
    step_until(running, lambda: store.sweep(first).counts.get("ok", 0) >= 1)
    (task,) = running.tasks.values()
    assert task.pool.size == running.compile_slots == 2
    second = submitted(store, list(range(20, 24)), target=None, devices=devices, device="other")
    step_until(running, lambda: len([t for t in running.tasks.values() if t.hands_out]) == 2)
    running._step()
    assert [t.pool.size for t in running.tasks.values()] == [1, 1]
    assert run_to_end(running, store, second).counts == {"ok": 4}
    assert run_to_end(running, store, first).counts == {"ok": 12}


def test_a_full_disk_ends_the_sweep_with_a_sentence_and_resume_goes_on(store, engine, monkeypatch):
    sweep = submitted(store, list(range(20, 26)))
    running = engine()
    step_until(running, lambda: store.sweep(sweep).counts.get("ok", 0) >= 2)
    real = running.store.save_sweep_trials

    def full(*_args, **_kwargs):
        raise StoreError("the disk is full; free some space, then run again")

    monkeypatch.setattr(running.store, "save_sweep_trials", full)
    view = run_to_end(running, store, sweep)
    assert view.state == "failed" and "disk is full" in view.reason
    monkeypatch.setattr(running.store, "save_sweep_trials", real)
    client.resume(store, sweep)
    assert run_to_end(running, store, sweep).counts == {"ok": 6}


def test_children_that_cannot_be_started_end_the_sweep_and_blame_no_config(store, engine):
    class Barren(Spawner):
        def child(self):
            child = spawn_child()
            child.kill()
            ours, theirs = Pipe()
            theirs.close()
            return type(child)(ours)

    sweep = submitted(store, list(range(20, 40)))
    running = engine()
    running.fork_server = Barren()
    view = run_to_end(running, store, sweep)
    assert view.state == "failed" and "no process could be started" in view.reason
    assert view.counts["not_run"] >= 18


def test_a_sweep_of_which_every_config_breaks_a_rule_ends_by_itself_with_a_reason_for_each(store, engine):
    """Case A04, from the request to what a person reads: four configs, four rules, no exception."""
    ada = Device("cuda:0", "NVIDIA GeForce RTX 4090", "sm_89", {"sm_count": 128, "memory_bytes": 24 << 30})
    usual = {"block_M": 128, "block_N": 128, "block_K": 32, "num_stages": 2, "threads": 128}
    configs = [{"threads": 96}, {"block_K": 24}, {"block_M": 256, "block_N": 256, "block_K": 128, "num_stages": 4}, {"threads": 2048}]
    request, space = resolve_sweep("gemm", {}, configs=configs, fixed=usual, devices=[ada], effort="full")
    sweep = client.submit(store, request, space)
    view = run_to_end(engine([ada]), store, sweep)
    assert view.state == "done" and view.counts == {"pruned": 4} and view.best == {}
    assert len({row["reason"] for row in store.sweep_frame(sweep)}) == 4
    said = sweep_text(results.document(store, sweep))
    assert "4 configs requested, 4 pruned" in said and said.count("  pruned: ") == 4 and "no config gave a time" in said


def test_repeated_and_equal_configs_are_compiled_once_and_each_requested_one_has_its_row(store, engine):
    """Case A05: five requested, two of them repeats, and a twin that only its generated source gives away."""
    values = [script.FAST, script.SLOW, script.FAST, script.TWIN_OF_FAST, script.SLOW]
    sweep = submitted(store, values)
    counted = store.sweep(sweep).request["counted"]
    assert (counted["requested"], counted["unique"], counted["duplicates"]) == (5, 3, 2)
    view = run_to_end(engine(), store, sweep)
    rows = store.sweep_frame(sweep)
    assert view.counts == {"ok": 5} and [row["config"]["block_N"] for row in rows] == values
    assert len({row["trial"] for row in rows}) == 2, "two sources, two timings"
    assert sum(row["same_as"] is not None for row in rows) == 3
    assert all(row["reason"].startswith("same code as config") for row in rows if row["same_as"] is not None)
