"""A race against TileLang's AutoTuner, scripted: what is told of it, and what happens when it fails, dies, hangs or is cancelled."""

from dataclasses import replace
from types import SimpleNamespace

import pytest

from tests.asked import resolve_sweep
from tests.engine import scripted_jobs as script
from tests.engine.sweeps.test_space import ONE
from tileviz.engine.jobs import race
from tileviz.engine.sweeps import client, results
from tileviz.errors import BadRequest
from tileviz.formats import race_words
from tileviz.records import Device, JobView

H200 = Device("cuda:0", "NVIDIA H200", "sm_90a", {"sm_count": 132, "memory_bytes": 140 << 30})
FIRST = (script.FINE, script.FAST, script.SLOW)


@pytest.fixture
def store(scripted_store):
    return scripted_store


@pytest.fixture
def engine(scripted_engine):
    return scripted_engine([H200])


def submitted(store, values, n=64, **more):
    settings = {"devices": [H200], "effort": "full", "baselines": False, "timeout_s": 5.0, "strategy": "grid", **more}
    request, space = resolve_sweep("vector_add", {"N": n}, {"block_N": list(values), "threads": [128]}, **settings)
    return client.submit(store, request, space)


def step_until_over(engine, store, job, most=2000):
    for _ in range(most):
        engine._step()
        if not store.job(job).active:
            return store.job(job)
    pytest.fail(f"the race is still {store.job(job).state}, {store.job(job).phase}")


def raced(engine, store, values=FIRST, timeout_s=None, **more):
    """(the sweep, the note of its race, the job)."""
    sweep = submitted(store, values, **more)
    job = step_until_over(engine, store, race.submit(store, sweep, timeout_s=timeout_s))
    return sweep, race.told(store.sweep(sweep).notes, 0), job


def test_a_race_begins_after_its_sweep_and_tells_both_sides_by_our_timer(store, engine):
    sweep, found, job = raced(engine, store)
    assert store.sweep(sweep).state == "done" and job.state == "done"
    assert (found["wall_s"], found["says_us"], found["tried"], found["failed"]) == (52.3, 11.5, 3, 1)
    assert found["config"]["block_N"] == script.FINE and found["ours_config"]["block_N"] == script.FAST
    assert found["measured_us"] == pytest.approx(10.05) and found["ours_us"] == pytest.approx(10.0)
    assert found["tied"] and not found["same"] and found["timer"] == "perf_counter"
    assert store.trial(found["trial"]).config == found["config"], "its trial is kept"
    assert results.document(store, sweep)["rival"] == [found]


def test_what_it_wrote_is_gone_and_the_device_is_free_again(store, engine):
    raced(engine, store)
    assert not list(store.home.glob("rival-*")) and not engine.lanes["cuda:0"].busy


def test_the_words_name_both_times_both_configs_and_who_won(store, engine):
    sweep, found, _ = raced(engine, store)
    said = race_words({**found, "sweep_s": 12.0})
    theirs = "TileLang AutoTuner: 52 s for 3 configs, 1 of them without a time, best block_N=2 threads=128, 11.5 \u00b5s as it says"
    assert said.startswith(theirs)
    assert "and 10.1 \u00b5s by our timer. This sweep: 12 s of search, best 10.0 \u00b5s: block_N=1 threads=128, tied." in said
    apart = {**found, "tied": False, "measured_us": 20.0}
    assert race_words(apart).endswith("block_N=1 threads=128, faster.")
    assert race_words({**apart, "measured_us": 5.0}).endswith("slower.")
    assert race_words({**found, "same": True}).endswith("the same config.")


def test_the_same_config_is_told_as_the_same(store, engine):
    _, found, _ = raced(engine, store, (script.FAST, script.SLOW))
    assert found["same"] and found["tied"]


def test_a_config_that_is_wrong_by_our_check_is_told_with_its_reason(store, engine):
    _, found, job = raced(engine, store, (script.WRONG, script.FAST))
    assert found["checked"] == "wrong_result" and "measured_us" not in found
    assert "did not pass our check: 8 of 104 columns never written" in race_words(found)


def test_both_race_over_the_same_list_equal_configs_once_and_none_that_breaks_a_rule(store, engine):
    values = {**ONE, "block_M": [64, 128, 64], "block_K": [24, 32], "num_stages": [2], "threads": [128]}
    request, space = resolve_sweep("gemm", {}, values, devices=[H200])
    sweep = client.submit(store, request, space)
    assert store.sweep(sweep).requested == 6
    assert [(config["block_M"], config["block_K"]) for config in race.configs_of(store, sweep, 0)] == [(64, 32), (128, 32)]


@pytest.mark.parametrize(
    "n, sentence",
    [
        (script.RACE_FAILS, "found no config that compiles and runs"),
        (script.RACE_CRASHES, "segmentation fault"),
        (script.RACE_HANGS, "tells nothing before it has tried every config, was stopped after 1 s"),
    ],
)
def test_a_race_that_fails_dies_or_hangs_is_a_sentence_and_the_sweep_is_as_it_was(store, engine, n, sentence):
    sweep, found, job = raced(engine, store, n=n, timeout_s=1.0)
    assert job.state == "failed" and sentence in job.reason
    assert sentence in race_words(found) and race_words(found).startswith("TileLang AutoTuner: ")
    assert store.sweep(sweep).counts == {"ok": 3} and not engine.lanes["cuda:0"].busy
    again = submitted(store, FIRST)
    while store.sweep(again).active:
        engine._step()
    assert store.sweep(again).counts == {"ok": 3}, "the device is used on"


def test_cancelling_the_sweep_cancels_the_race_that_waits_for_it(store, engine):
    sweep = submitted(store, FIRST)
    job = race.submit(store, sweep)
    engine._step()
    client.cancel(store, sweep)
    step_until_over(engine, store, job)
    while store.sweep(sweep).active:
        engine._step()
    assert store.job(job).state == "cancelled" and race.told(store.sweep(sweep).notes, 0) is None


def test_a_race_that_runs_can_be_cancelled_and_its_process_is_gone(store, engine):
    sweep = submitted(store, FIRST, n=script.RACE_HANGS)
    job = race.submit(store, sweep)
    while store.job(job).phase != race.PHASE:
        engine._step()
    (child,) = [task.child for task in engine.tasks.values()]
    client.cancel(store, sweep)
    assert step_until_over(engine, store, job).state == "cancelled"
    assert child.process.poll() is not None and not engine.lanes["cuda:0"].busy and not list(store.home.glob("rival-*"))


def test_a_sweep_waits_while_a_race_has_the_device(store, engine):
    first = submitted(store, FIRST, n=script.RACE_HANGS)
    job = race.submit(store, first, timeout_s=1.5)
    while store.job(job).phase != race.PHASE:
        engine._step()
    second = submitted(store, FIRST)
    engine._step()
    assert store.sweep(second).state == "queued" and store.job(store.sweep(second).job).queue_position == 1
    step_until_over(engine, store, job)
    while store.sweep(second).active:
        engine._step()
    assert store.sweep(second).counts == {"ok": 3}


def test_the_cpu_target_says_in_one_sentence_why_there_is_no_race(scripted_store):
    request, space = resolve_sweep("vector_add", {"N": 64}, {"block_N": [16], "threads": [128]}, target="cpu")
    sweep = client.submit(scripted_store, request, space)
    with pytest.raises(BadRequest, match="needs an NVIDIA GPU: it times with CUDA events"):
        race.submit(scripted_store, sweep)
    assert not race.jobs_of(scripted_store, sweep)


def test_an_imported_sweep_cannot_be_raced(scripted_store):
    scripted_store.create_sweep("s1", {"kernel": "gemm", "target": "sm_90a", "problems": [{}], "imported": "mine.json"}, [], state="done")
    with pytest.raises(BadRequest, match="came from a file"):
        race.submit(scripted_store, "s1")


def test_a_recorded_sweep_cannot_be_raced_and_says_what_a_race_needs(scripted_store):
    scripted_store.create_sweep("s1", {"kernel": "gemm", "target": "sm_90a", "problems": [{}]}, [], state="done")
    measured_here = scripted_store.sweep("s1")
    assert race.why_not(measured_here) == ""
    recorded = race.why_not(replace(measured_here, recorded=True))
    assert recorded == "this sweep comes with tileviz and was measured elsewhere; a race needs the device that it was measured on"


def test_the_autotuners_config_is_timed_alone_where_the_sweep_was_deleted_meanwhile(scripted_store):
    task = race.RaceTask(SimpleNamespace(store=scripted_store), JobView("j", race.KIND, {}, "running"))
    task.sweep, task.problem = "gone", 0
    assert task._ours() is None
