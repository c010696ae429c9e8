"""The AutoTuner's config beside ours by our own timer: the real job, on the CPU target."""

import os

import pytest

from tests.asked import resolve
from tileviz.compiler import toolchain
from tileviz.engine.jobs.race import BesideJob
from tileviz.records import Trial


@pytest.fixture(autouse=True)
def tilelang_cache(tmp_path, monkeypatch):
    before = dict(os.environ)
    monkeypatch.setenv("TILEVIZ_HOME", str(tmp_path))
    toolchain.configure_environment(tmp_path)
    yield
    os.environ.clear()
    os.environ.update(before)


def entry(block: int, name: str):
    request = resolve("vector_add", {"N": 4096}, {"block_N": block}, target="cpu", baselines=False)
    return request, Trial(name, request.kernel, request.problem, request.config, request.target, request.device, "ok", key=request.key)


def test_both_are_checked_and_timed_by_one_timer_and_in_turn():
    ours, first, tied = BesideJob(entry(512, "ours"), None)()
    assert ours is None and first.status == "ok" and first.verdict.ok and tied == ["ours"]
    ours, theirs, tied = BesideJob(entry(1024, "theirs"), (entry(512, "ours")[0], first))()
    assert (ours.trial, theirs.trial) == ("ours", "theirs") and theirs.verdict.ok and theirs.config["block_N"] == 1024
    assert ours.timing.timer == theirs.timing.timer and "in turn" in ours.timing.note and "in turn" in theirs.timing.note
    assert set(tied) <= {"ours", "theirs"} and tied
