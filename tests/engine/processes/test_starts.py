"""An engine that dies again and again is not started for ever, and who waits for it is told what killed it."""

import fcntl
import json
import os
import time

import pytest

from tests.conftest import tileviz
from tileviz.engine import client
from tileviz.engine.processes import heartbeat, starts
from tileviz.engine.sweeps import client as sweeps
from tileviz.errors import BadValue, EngineError, StoreError
from tileviz.store import Store

RUN = ("run", "vector_add", "-p", "N=1000", "-p", "dtype=float32", "--device", "cpu", "--no-baselines", "--json")

SWEEP = {"kernel": "vector_add", "target": "cpu", "device": "cpu", "problems": [{"N": 64}], "effort": "full", "strategy": "grid"}

DYING = """
import os, sys
class NVMLError(Exception): pass
def nvmlInit(): pass
def nvmlShutdown(): pass
def nvmlSystemGetCudaDriverVersion(): raise NVMLError("no driver")
def nvmlDeviceGetCount():
    if sys.argv[0].endswith("engine/__main__.py"):
        with open(os.environ["STARTS"], "a") as file: file.write("x")
        exec(os.environ["DIES_BY"])
    return 0
"""
"""In the place of NVML: an engine asks it right after it took its lock."""


@pytest.fixture
def dying(tmp_path, monkeypatch):
    """(environment of commands whose engine dies by a line of Python, a way to count its starts)."""
    (tmp_path / "stand-in").mkdir()
    (tmp_path / "stand-in" / "pynvml.py").write_text(DYING)
    count = tmp_path / "starts"

    def environment(line: str) -> dict[str, str]:
        return {"PYTHONPATH": str(tmp_path / "stand-in"), "STARTS": str(count), "DIES_BY": line}

    return environment, lambda: len(count.read_text())


def test_what_kills_an_engine_is_told_and_when_it_is_mended_all_goes_on(home, dying):
    environment, started = dying
    env = environment("raise RuntimeError('the card fell off the bus')")
    done = tileviz(*RUN, **env)
    assert done.status == 1 and started() == starts.MOST
    assert "the engine does not stay alive: RuntimeError: the card fell off the bus; " in done.json["error"]
    (job,) = Store(home).jobs()
    assert (job.state, job.reason) == ("failed", "the engine does not stay alive: RuntimeError: the card fell off the bus")
    report = tileviz("doctor", "--json", **env)
    assert report.status == 1 and report.json["engine"] == done.json["error"] == starts.trouble(home)
    again = tileviz(*RUN, **env)
    assert again.json["error"] == done.json["error"] and started() == starts.MOST + 1, "what is asked for anew gets one start"
    mended = tileviz(*RUN, PYTHONOPTIMIZE="2")
    assert mended.json["status"] == "ok", mended.err
    assert starts.trouble(home) == "" and not (home / starts.FILE_NAME).exists()


def test_an_engine_that_is_killed_again_and_again_is_told_in_words(home, dying):
    environment, started = dying
    done = tileviz(*RUN, **environment("os.kill(os.getpid(), 9)"))
    assert done.status == 1 and started() == starts.MOST
    assert "does not stay alive: it was killed, perhaps by the system for lack of memory; " in done.json["error"]


def test_deaths_are_counted_over_processes_until_one_lives(tmp_path):
    for pid in (11, 12):
        starts.died(tmp_path, pid, "exit status 1")
        assert starts.trouble(tmp_path) == ""
    starts.died(tmp_path, 13, "MemoryError: of torch")
    starts.died(tmp_path, 13, "exit status 1")
    assert "MemoryError: of torch; " in starts.trouble(tmp_path), "the engine's own words go before its exit status"
    starts.may_start_once(tmp_path)
    assert starts.trouble(tmp_path) == ""
    starts.began(tmp_path)
    assert starts.KILLED in starts.trouble(tmp_path), "the next one left no word"
    starts.lived(tmp_path)
    assert starts.trouble(tmp_path) == "" and starts.read(tmp_path) == starts.Starts()


@pytest.mark.parametrize("text", ["", "[]", '{"count": "x"}', "\x00", '{"count": 1}'])
def test_a_count_that_cannot_be_read_starts_anew(tmp_path, text):
    (tmp_path / starts.FILE_NAME).write_text(text)
    assert starts.read(tmp_path) == starts.Starts()


@pytest.mark.parametrize(
    ("error", "words"),
    [
        (BadValue("M is 0"), "M is 0"),
        (KeyError("cuda:1"), "KeyError: 'cuda:1'"),
        (ValueError("\n a\nb"), "ValueError: a"),
        (MemoryError(), "MemoryError"),
    ],
)
def test_last_words_are_a_part_of_a_sentence(error, words):
    assert starts.last_words(error) == words


def test_nothing_is_started_while_the_last_deaths_stand(tmp_path):
    (tmp_path / starts.FILE_NAME).write_text(json.dumps({"count": starts.MOST, "pid": 1, "said": "no target 'sm_61'"}))
    with pytest.raises(EngineError, match="does not stay alive: no target 'sm_61'; "):
        client.ensure_engine(tmp_path)
    assert not (tmp_path / "engine.log").exists()
    assert client.trouble(tmp_path) == starts.trouble(tmp_path)


def test_a_sweep_that_no_engine_comes_for_can_be_resumed(tmp_path):
    store = Store(tmp_path)
    (tmp_path / starts.FILE_NAME).write_text(json.dumps({"count": starts.MOST, "pid": 1, "said": "no target 'sm_61'"}))
    store.create_sweep("s1", SWEEP, (), job="j1")
    store.queue_sweep("s1", "j1", {"sweep": "s1"}, before="j1")
    with pytest.raises(EngineError, match="no target 'sm_61'"):
        sweeps.wait(store, "s1", timeout=5)
    view = store.sweep("s1")
    assert (view.state, view.active, view.reason) == ("failed", False, "the engine does not stay alive: no target 'sm_61'")


def test_an_engine_without_a_heartbeat_is_silent(tmp_path):
    with open(tmp_path / "engine.lock", "w+") as lock:
        lock.write(str(os.getpid()))
        lock.flush()
        fcntl.flock(lock, fcntl.LOCK_EX)
        client.ensure_engine(tmp_path)
        os.utime(tmp_path / "engine.lock", (time.time(), time.time() - 40))
        words = f"the engine \\(process {os.getpid()}\\) has been silent for 4. s.*kill -CONT {os.getpid()}"
        with pytest.raises(EngineError, match=words):
            client.ensure_engine(tmp_path)
        assert "has been silent for 4" in client.trouble(tmp_path)
        with pytest.raises(EngineError, match="silent"):
            client.queue(Store(tmp_path), "compile", {})
        assert not Store(tmp_path).jobs()


def test_an_engine_beats_at_each_step(scripted_engine, scripted_store):
    lock = scripted_store.home / heartbeat.LOCK
    lock.touch()
    os.utime(lock, (0, 0))
    scripted_engine()._step()
    assert time.time() - lock.stat().st_mtime < heartbeat.SILENT_S


def test_a_heart_that_beats_while_one_looks_is_not_silent(tmp_path, monkeypatch):
    """A machine that was asleep: every heartbeat is old when it wakes."""
    (tmp_path / "engine.lock").touch()
    os.utime(tmp_path / "engine.lock", (0, 0))
    monkeypatch.setattr(heartbeat.time, "sleep", lambda _seconds: heartbeat.beat(tmp_path))
    assert heartbeat.silent_s(tmp_path) == 0.0


@pytest.mark.parametrize("kind", ["sweep", "rival", "run", "read", "ceilings", "profile", "importance", "of a later version"])
@pytest.mark.parametrize("request_", [{}, {"device": "cuda:9"}, {"sweep": 3, "of_a_later_version": [1]}])
def test_a_job_that_says_too_little_ends_alone(scripted_engine, scripted_store, kind, request_):
    job = scripted_store.submit(kind, request_)
    engine = scripted_engine()
    for _ in range(4):
        engine._step()
    assert scripted_store.job(job).state == "failed" and scripted_store.job(job).reason
    assert not engine.stopping and not engine.tasks


def test_a_store_that_is_locked_while_the_engine_looks_for_work_does_not_kill_it(scripted_engine, monkeypatch):
    engine = scripted_engine()
    engine.last_work = 0.0

    def locked(*_args, **_more):
        raise StoreError("stayed locked for 10 s")

    monkeypatch.setattr(engine.store, "jobs", locked)
    assert engine._is_idle() is False
    engine._step()
