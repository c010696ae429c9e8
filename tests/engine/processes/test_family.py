"""Processes of a child are found wherever they went, and killed."""

import os
import subprocess
import sys
import time

import psutil
import pytest

from tileviz.engine.processes import family

LEAVES = """
import ctypes, os, subprocess, sys, time
ctypes.CDLL(None).prctl(36, 1, 0, 0, 0)
bare = {"PATH": os.environ["PATH"]}
plain = subprocess.Popen(["sleep", "1000"], start_new_session=True, env=bare)
starts = "import subprocess; print(subprocess.Popen(['sleep', '1000'], env={}).pid, flush=True)"
parent = subprocess.Popen([sys.executable, "-c", starts],
                          stdout=subprocess.PIPE, env=bare, text=True)
orphan = parent.stdout.readline().strip()
parent.wait()
print(plain.pid, orphan, flush=True)
time.sleep(1000)
"""


@pytest.fixture
def child():
    process = subprocess.Popen([sys.executable, "-c", LEAVES], stdout=subprocess.PIPE, text=True, start_new_session=True)
    process.below = set(map(int, process.stdout.readline().split()))
    yield process
    family.kill(process.pid, "")
    process.wait()


def test_a_session_of_its_own_an_empty_environment_and_a_dead_parent_hide_nothing(child):
    assert len(child.below) == 2 and family.family(child.pid, "") == {child.pid, *child.below}
    taken = family.memory_bytes({child.pid})
    assert 0 < taken[child.pid] <= family.resident_bytes({child.pid, *child.below})
    family.kill_below(child.pid)
    assert child.poll() is None and not [pid for pid in child.below if is_alive(pid)]


def test_all_are_killed_and_others_are_left_alone(child):
    assert family.kill(child.pid, "a mark that nobody carries") == 3
    assert child.wait(10) == -9 and not [pid for pid in child.below if is_alive(pid)]


def test_a_mark_in_the_environment_finds_what_descends_from_nobody():
    marked = subprocess.Popen(["sleep", "1000"], env={**os.environ, family.MARK: "a mark of this test"})
    end = time.monotonic() + 10
    while not family.family(0, "a mark of this test") and time.monotonic() < end:
        time.sleep(0.01)  # between fork and exec it has our environment
    assert family.family(0, "a mark of this test") == {marked.pid} and not family.family(0, "another")
    family.kill(0, "a mark of this test")
    assert marked.wait(10) == -9


def is_alive(pid: int) -> bool:
    return psutil.pid_exists(pid) and psutil.Process(pid).status() != psutil.STATUS_ZOMBIE
