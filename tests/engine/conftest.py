"""An engine with a scripted compiler and device, stepped by the test itself."""

import pytest

from tests.engine import scripted_jobs as script
from tileviz.bench.facts import cpu_device
from tileviz.engine import server
from tileviz.engine.jobs import kinds, race
from tileviz.engine.jobs.race import RaceTask
from tileviz.engine.jobs.sweep import SweepTask
from tileviz.engine.processes.channel import Pipe
from tileviz.engine.processes.lanes import spawn_child
from tileviz.engine.sweeps import client, finals
from tileviz.store import Store


class Spawner:
    """In the place of a fork server: children in fresh interpreters, without TileLang."""

    ready = True

    def __init__(self):
        self.control, self.other_end = Pipe()

    def child(self):
        return spawn_child()

    def hangs(self):
        return ""

    def learn_exit(self, child):
        """A spawned child's exit status is known to its own process handle."""

    def kill(self, why=""):
        self.control.close()


class ScriptedSweep(SweepTask):
    compile_job = script.ScriptedCompile
    ready_job = script.ScriptedReady
    config_job = script.ScriptedConfig


class ScriptedRaceTask(RaceTask):
    race_job = script.ScriptedRace
    compile_job = script.ScriptedCompile
    beside_job = script.ScriptedBeside


@pytest.fixture
def scripted_store(tmp_path, monkeypatch):
    """A store whose engine is the test's own."""
    monkeypatch.setenv("TILEVIZ_HOME", str(tmp_path))
    monkeypatch.setenv("TILEVIZ_COMPILE_WORKERS", "2")
    monkeypatch.setattr(server.ForkServer, "start", Spawner)
    monkeypatch.setitem(kinds.KINDS, "sweep", ScriptedSweep)
    monkeypatch.setitem(kinds.KINDS, race.KIND, ScriptedRaceTask)
    monkeypatch.setattr(finals.Finals, "finals_job", script.ScriptedFinals)
    monkeypatch.setattr(client.client, "ensure_engine", lambda home: None)
    return Store(tmp_path)


@pytest.fixture
def scripted_engine(scripted_store):
    """Starts engines: `scripted_engine()`; every one is gone afterwards."""
    made = []

    def start(devices=None):
        devices = devices or [cpu_device()]
        engine = server.Engine(scripted_store, devices, 60.0)
        engine.prepared |= {device.target for device in devices}
        engine.store.recover_jobs()
        made.append(engine)
        return engine

    yield start
    for engine in made:
        engine._kill_all()
