"""Each kind of job is a file, and stands in one list."""

from pathlib import Path
from types import SimpleNamespace

import pytest

import tileviz.engine.jobs
from tileviz.engine.jobs.kinds import KINDS, task_of
from tileviz.engine.jobs.race import RaceTask
from tileviz.engine.jobs.task import Task
from tileviz.errors import EngineError
from tileviz.records import JobView

SAID_BY_A_KIND = {"begin", "lane_job", "made", "measured"}


def test_each_kind_has_a_file_of_its_own():
    files = [kind.__module__.rpartition(".")[2] for kind in KINDS.values()]
    assert len(set(files)) == len(KINDS)
    assert set(files) < {path.stem for path in Path(tileviz.engine.jobs.__file__).parent.glob("*.py")}


@pytest.mark.parametrize("kind", KINDS)
def test_each_kind_says_what_it_asks_for_and_what_becomes_of_the_answer(kind):
    said = {name for base in KINDS[kind].__mro__ if base is not Task for name in vars(base)}
    assert "begin" in said and (said & (SAID_BY_A_KIND - {"begin"}) or "ears" in said)


def test_a_job_of_another_version_ends_with_a_sentence():
    task = task_of("of a later version")(SimpleNamespace(store=None), JobView("j", "of a later version", {}, "running"))
    with pytest.raises(EngineError, match="knows no job of this kind; it knows compile, run, sweep"):
        task.begin()


def test_a_race_waits_for_its_own_sweep_alone():
    race = JobView("j", "rival", {"sweep": "s1"}, "queued")
    sweeps = {name: JobView(name, "sweep", {"sweep": name}, "running") for name in ("s1", "s2")}
    assert RaceTask.must_wait(race, [race, sweeps["s1"]]) and not RaceTask.must_wait(race, [race, sweeps["s2"]])
