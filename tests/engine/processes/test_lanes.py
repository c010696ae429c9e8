"""Children run jobs, die alone, and never outlive the engine."""

import os
import signal
import subprocess
import sys
import time
from multiprocessing.connection import wait
from types import SimpleNamespace

import psutil
import pytest

from tests.engine.of_processes import is_gone
from tests.engine.trial_jobs import Crash, LoadedModules, Raises, Sleep, Spawns
from tests.waiting import PATIENT_S, until
from tileviz.engine.processes import lanes
from tileviz.engine.processes.lanes import ForkServer, MeasureLane, exit_words, package_root, spawn_child


@pytest.fixture(scope="module")
def fork_server():
    fork_server = ForkServer.start()
    while not fork_server.ready:
        fork_server.listen()
    yield fork_server
    fork_server.kill()


def born(fork_server, child):
    while child.pid is None:
        fork_server.listen()
    return child


STARTED = ("started", None)


def heard(child, seconds: float = PATIENT_S) -> list:
    """Messages of a child up to the end of its job."""
    messages = []
    while not messages or messages[-1][0] not in ("done", "failed"):
        assert wait([child.connection], seconds), f"silent after {messages}"
        messages.append(child.connection.recv())
    return messages


def gone(pid: int) -> bool:
    return until(lambda: is_gone(pid))


def test_a_child_runs_jobs_one_after_the_other(fork_server):
    child = fork_server.child()
    child.send(Sleep(0.01))
    assert heard(child) == [STARTED, ("phase", "sleep"), ("done", "slept")]
    child.send(Sleep(0.0))
    assert heard(child)[-1] == ("done", "slept")
    child.kill()


def test_a_child_is_born_warm_and_fast(fork_server):
    child = fork_server.child()
    child.send(LoadedModules())
    assert {"torch", "tilelang"} <= set(heard(child)[-1][1])
    child.kill()


def test_a_crash_ends_one_child_and_says_how(fork_server):
    child, other = born(fork_server, fork_server.child()), fork_server.child()
    child.send(Crash())
    assert [child.connection.recv() for _ in range(2)] == [STARTED, ("phase", "crash")]
    with pytest.raises(EOFError):
        child.connection.recv()
    fork_server.learn_exit(child)
    assert child.death() == "segmentation fault"
    other.send(Sleep(0.0))
    assert heard(other)[-1] == ("done", "slept")
    other.kill()


def test_an_exception_becomes_a_message_with_one_sentence_and_the_rest_folded(fork_server):
    child = fork_server.child()
    child.send(Raises())
    kind, status, sentence, detail = heard(child)[-1]
    assert (kind, status, sentence) == ("failed", "runtime_failed", "ValueError: no good")
    assert "Traceback" in detail
    child.kill()


def test_killing_a_child_kills_what_it_started(fork_server):
    child = born(fork_server, fork_server.child())
    child.send(Spawns())
    assert child.connection.recv() == STARTED
    grandchild = child.connection.recv()[1]
    assert psutil.pid_exists(grandchild)
    child.kill()
    assert gone(grandchild) and gone(child.pid)


def test_a_child_killed_before_its_pid_is_known_is_gone_too(fork_server):
    child = fork_server.child()
    child.send(Sleep(60))
    child.kill()
    born(fork_server, child)
    assert gone(child.pid)


def test_the_measure_lane_starts_a_new_child_after_a_drop(fork_server):
    lane = MeasureLane("cpu", fork_server)
    first = lane.child()
    assert lane.child() is first
    lane.drop()
    assert lane.child() is not first
    lane.child().send(Sleep(0.0))
    assert heard(lane.child())[-1] == ("done", "slept")
    lane.drop()


def test_the_measure_lane_replaces_a_child_that_died_between_two_jobs(fork_server):
    lane = MeasureLane("cpu", fork_server)
    first = born(fork_server, lane.child())
    lane.busy = True
    psutil.Process(first.pid).kill()
    assert gone(first.pid)
    until(lambda: first.gone)  # its threads hold the pipe for a moment longer
    assert lane.child() is not first and lane.busy
    lane.child().send(Sleep(0.0))
    assert heard(lane.child())[-1] == ("done", "slept")
    lane.drop()


def test_a_job_for_a_dead_child_is_heard_as_its_death(fork_server):
    child = born(fork_server, fork_server.child())
    psutil.Process(child.pid).kill()
    assert gone(child.pid)
    child.send(Sleep(0.0))
    assert wait([child.connection], 5) == [child.connection]
    with pytest.raises((EOFError, OSError)):
        child.connection.recv()
    child.kill()


def test_a_stopped_fork_server_is_noticed_and_its_unborn_children_hear_its_end(monkeypatch):
    fork_server = ForkServer.start()
    while not fork_server.ready:
        fork_server.listen()
    monkeypatch.setattr(lanes, "STOPPED_S", 60.0)
    monkeypatch.setattr(lanes, "HANGS_S", 0.3)
    psutil.Process(fork_server.process.pid).suspend()
    child = fork_server.child()
    child.send(Sleep(0.0))
    assert not fork_server.hangs()
    time.sleep(0.4)
    assert "gave none for" in fork_server.hangs()
    fork_server.kill()
    assert wait([child.connection], 5) == [child.connection]
    with pytest.raises((EOFError, OSError)):
        child.connection.recv()


def test_a_fork_server_stopped_while_it_warms_up_is_told_as_a_stopped_engine_is(monkeypatch):
    fork_server = ForkServer.start()
    psutil.Process(fork_server.process.pid).suspend()
    until(lambda: lanes.is_stopped(fork_server.process.pid))
    child = fork_server.child()
    monkeypatch.setattr(lanes, "STOPPED_S", 0.3)
    assert not fork_server.ready and not fork_server.hangs()
    time.sleep(0.4)
    said = fork_server.hangs()
    assert f"process {fork_server.process.pid}) was stopped" in said and "another takes its place" in said
    fork_server.kill(said)
    assert wait([child.connection], 5) == [child.connection] and child.why_unborn == said


def test_one_that_only_takes_long_to_warm_up_is_left_alone(monkeypatch):
    """Not even at the moment when it is warm, and a child was asked for long before."""
    monkeypatch.setattr(lanes, "STOPPED_S", 0.0)
    monkeypatch.setattr(lanes, "HANGS_S", 0.05)
    ours, theirs = lanes.Pipe()
    fork_server = ForkServer(ours, SimpleNamespace(pid=os.getpid()))
    fork_server.unborn.append(lanes.Child(ours))
    time.sleep(0.1)
    assert not fork_server.hangs()
    theirs.send(("ready",))
    fork_server.listen()
    assert fork_server.ready and not fork_server.hangs()
    time.sleep(0.1)
    assert fork_server.hangs()


def test_a_spawned_child_has_no_inherited_state():
    child = spawn_child()
    child.send(LoadedModules())
    assert "tilelang" not in heard(child)[-1][1]
    child.kill()
    assert gone(child.pid)


def test_killing_the_engine_leaves_no_fork_server_child_or_grandchild():
    code = """
import sys, time
from tests.engine.of_processes import is_gone
from tests.engine.trial_jobs import Spawns
from tileviz.engine.processes.lanes import ForkServer
fork_server = ForkServer.start()
child = fork_server.child()
child.send(Spawns())
while child.pid is None: fork_server.listen()
assert child.connection.recv() == ("started", None)
print(fork_server.process.pid, child.pid, child.connection.recv()[1], flush=True)
time.sleep(60)
"""
    engine = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True, cwd=package_root())
    pids = [int(word) for word in engine.stdout.readline().split()]
    assert len(pids) == 3
    engine.send_signal(signal.SIGKILL)
    engine.wait()
    assert all(gone(pid) for pid in pids)


@pytest.mark.parametrize(
    ("status", "words"), [(-11, "segmentation fault"), (-6, "signal SIGABRT"), (3, "exit status 3"), (None, "it ended without a word")]
)
def test_exit_statuses_in_words(status, words):
    assert exit_words(status) == words
