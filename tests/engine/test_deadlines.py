"""A timeout counts the seconds of the step it names: not the start of a process, nor the wait for a device that another holds."""

import time
from types import SimpleNamespace

import pytest

from tileviz.engine.jobs.compile import CompileTask
from tileviz.engine.jobs.task import NO_PROCESS, START_S
from tileviz.engine.processes.channel import Pipe
from tileviz.engine.processes.device_lock import WAITING
from tileviz.engine.processes.lanes import Child
from tileviz.engine.sweeps import pool as pools
from tileviz.engine.sweeps.lane_use import LaneUser
from tileviz.engine.sweeps.pool import CompilePool, Item
from tileviz.records import JobView, Trial
from tileviz.store import Store

TIMEOUT_S = 0.05


class Talks:
    """A child that says what the test lets it say."""

    def __init__(self):
        ours, self.theirs = Pipe()
        self.child = Child(ours, pid=None)

    def say(self, *message):
        self.theirs.send(message)


@pytest.fixture
def talks():
    return Talks()


@pytest.fixture
def task(tmp_path, talks):
    """A task that has handed its child a job."""
    store = Store(tmp_path)
    engine = SimpleNamespace(store=store, learn_exit=lambda child: None)
    made = CompileTask(engine, store.job(store.submit("compile", {})))
    made.request = SimpleNamespace(timeout_s=TIMEOUT_S, device=None)
    made.trial, made.stage = Trial("t", "gemm", {}, {}, "cpu", None, "ok"), "compile"
    made._hand_over(talks.child, "a job")
    return made


def late(task) -> str:
    """What became of the task a while later."""
    time.sleep(TIMEOUT_S * 2)
    task.enforce_deadline()
    return task.trial.status if task.ended else "goes on"


def test_the_start_of_a_process_is_not_counted(task, talks):
    assert late(task) == "goes on"
    talks.say("started", None)
    task.hear()
    assert late(task) == "timeout" and "compiling was stopped after 0.05 s" in task.trial.reason


def test_the_wait_for_a_device_that_another_holds_is_not_counted(task, talks):
    for message in (("started", None), ("phase", WAITING)):
        talks.say(*message)
        task.hear()
    assert late(task) == "goes on"
    talks.say("started", None)
    task.hear()
    assert late(task) == "timeout"


def test_a_process_that_never_begins_is_given_up_in_words(task):
    task.deadline -= START_S
    assert late(task) == "crashed" and task.trial.reason == NO_PROCESS


def test_a_config_of_a_sweep_has_its_seconds_from_when_it_begins(talks):
    pool = CompilePool(1, lambda: talks.child, lambda child: None, TIMEOUT_S)
    pool.give(Item(0, 0, Trial("t", "gemm", {}, {}, "cpu", "cpu", "ok")), "a job")
    time.sleep(TIMEOUT_S * 2)
    assert list(pool.overdue()) == []
    talks.say("started", None)
    assert pool.hear(pool.workers[0]) is None
    time.sleep(TIMEOUT_S * 2)
    ((_, trial),) = pool.overdue()
    assert trial.status == "timeout" and "compiling was stopped after 0.05 s" in trial.reason


def test_children_of_a_sweep_that_never_begin_are_no_fault_of_the_configs(talks, monkeypatch):
    monkeypatch.setattr(pools, "START_S", 0.0)
    pool = CompilePool(1, lambda: talks.child, lambda child: None, 60.0)
    pool.give(Item(0, 0, Trial("t", "gemm", {}, {}, "cpu", "cpu", "ok")), "a job")
    ((_, trial),) = pool.overdue()
    assert (trial.status, trial.reason, pool.unborn) == ("crashed", NO_PROCESS, 1)


def test_a_sweep_keeps_the_time_of_its_lane_alike(tmp_path, talks):
    user = LaneUser(SimpleNamespace(store=Store(tmp_path)), JobView("j", "sweep", {}, "running"))
    user.request = SimpleNamespace(timeout_s=TIMEOUT_S, device="cpu")
    user.keep_time("started", None)
    assert user.began and user.deadline - time.monotonic() <= TIMEOUT_S
    user.keep_time("phase", WAITING)
    assert user.deadline is None
    user.keep_time("started", None)
    before = user.deadline
    user.keep_time("phase", "check")
    assert user.deadline == before and user.lane_phase == "check"
