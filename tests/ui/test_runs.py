"""The words of a job on its way."""

import time
from dataclasses import replace

import pytest

from tileviz.records import JobView
from tileviz.ui.parts import runs, waiting
from tileviz.ui.parts.runs import headline, steps
from tileviz.ui.system import job_line

JOB = JobView("j", "run", {"kernel": "gemm", "device": "cpu", "config": {"block_M": 64}}, "queued", created=100.0, queue_position=0)


@pytest.mark.parametrize(
    ("job", "words"),
    [
        (JOB, "queued, 2.0 s: the engine is starting"),
        (replace(JOB, queue_position=1), "queued, 2.0 s: 1 job before it; another session is measuring"),
        (replace(JOB, queue_position=3), "queued, 2.0 s: 3 jobs before it; another session is measuring"),
        (replace(JOB, state="running", started=101.0), "starting, 1.0 s"),
        (replace(JOB, state="running", phase="lower", phase_started=101.5), "lower the tile program, 0.5 s"),
        (replace(JOB, state="running", phase="baseline eager", phase_started=100.0), "baseline eager, 2.0 s"),
        (replace(JOB, state="cancelling", phase="time"), "cancelling: what runs is being stopped"),
    ],
)
def test_the_headline_says_what_happens_and_for_how_long(job, words):
    assert headline(job, now=102.0).replace("\\", "") == words


def test_steps_are_done_running_and_still_to_come():
    job = replace(JOB, state="running", phase="check", phase_started=1.0, phases={"lower": 0.4, "compile": 0.9})
    names = [name for name, _ in steps(job)]
    assert names == ["lower 0.4 s", "compile 0.9 s", "check", "time"]


def test_a_skipped_phase_is_not_promised():
    job = replace(JOB, state="running", phase="time", phase_started=1.0, phases={"check": 0.1})
    assert [name for name, _ in steps(job)] == ["check 0.1 s", "time"]


def test_nothing_is_promised_behind_the_baselines():
    job = replace(JOB, state="running", phase="baseline eager", phase_started=1.0, phases={"check": 0.1, "time": 0.2})
    assert [name for name, _ in steps(job)] == ["check 0.1 s", "time 0.2 s", "baseline eager"]


def test_a_job_in_the_list_escapes_what_it_shows():
    nasty = replace(JOB, request={"kernel": "<b>", "device": "cpu", "config": {"x": "*y*"}})
    assert "\\<b" in job_line(nasty, now=101.0)
    assert "\\*y" in job_line(nasty, now=101.0)


class Jobs:
    """A store without trials."""

    def trial(self, _id):
        return None


def test_the_trial_of_a_compile_is_news_together_with_its_end(monkeypatch):
    monkeypatch.setattr(runs, "store", Jobs)
    active = replace(JOB, kind="compile", state="running", artifact="a")
    assert runs.signature(replace(active, trial="t")) == runs.signature(active)
    assert runs.signature(replace(active, trial="t", state="done")) != runs.signature(active)


def test_the_bar_of_several_jobs_tells_what_it_waits_for():
    job = JobView(id="a", kind="compile", state="queued", request={"target": "sm_80"}, created=time.time())
    assert waiting.progress_words(3, 4, [job]).startswith("3 of 4 compiled; waiting for sm_80: queued, ")


def test_a_job_that_is_gone_is_not_waited_for():
    assert runs._has_news(None)
    assert not runs._has_news(JOB) and runs._has_news(replace(JOB, trial="t"))
