"""The System page without a browser."""

import pytest

from tests.app.pages import opened, texts
from tests.ui import examples
from tileviz.compiler import toolchain
from tileviz.engine.requests import resolve
from tileviz.store import Store


def test_an_empty_store_shows_devices_versions_and_where_things_are(store):
    app = opened("system")
    said = texts(app).replace("\\", "")
    assert "Example CPU" in said
    assert str(store.home) in said
    assert "No job is running or queued." in said
    assert "The engine is not running" in said


def test_what_is_missing_comes_with_the_line_that_gets_it(monkeypatch):
    gap = toolchain.Missing("nvdisasm", "SASS", "pip install nvidia-cuda-nvdisasm")
    monkeypatch.setattr(toolchain, "problems", lambda: [gap])
    app = opened("system")
    assert any("nvdisasm" in w.value for w in app.warning)
    assert any(c.value == gap.line for c in app.code)


def test_versions_and_facts_are_tables():
    app = opened("system")
    names = [set(frame.value.columns) for frame in app.dataframe]
    assert {"name", "version"} in names
    assert {"fact", "value"} in names


def test_active_jobs_are_listed_and_can_be_cancelled(store):
    from dataclasses import asdict

    job = store.submit("run", asdict(resolve("gemm", devices=[examples.CPU])))
    app = opened("system")
    assert "run gemm on cpu" in texts(app).replace("\\", "")
    app.button(key=f"cancel_{job}").click().run()
    assert store.job(job).state == "cancelled"


def test_clearing_keeps_results_and_deletes_code(store):
    trial = examples.trial()
    store.save_trial(trial)
    store.save_artifact(examples.artifact(trial))
    app = opened("system")
    app.button(key="clear").click().run()
    assert store.artifact(trial.artifact) is None
    assert store.trial(trial.trial) == trial
    assert any("was cleared" in s.value for s in app.success)


def test_a_damaged_store_is_set_aside_and_the_page_says_so(tmp_path):
    home = tmp_path / "home"
    home.mkdir()
    (home / "store.db").write_bytes(b"this is no database" * 100)
    app = opened("system")
    assert any("was damaged" in w.value for w in app.warning)
    assert list(home.glob("store.db.damaged-*"))


@pytest.mark.parametrize("stem", ["", "system"])
def test_a_store_that_cannot_be_opened_is_one_sentence(stem, monkeypatch, tmp_path):
    blocked = tmp_path / "file"
    blocked.write_text("")
    monkeypatch.setenv("TILEVIZ_HOME", str(blocked / "home"))
    app = opened(stem)
    assert any("set TILEVIZ\\_HOME" in e.value for e in app.error)
    assert "Traceback" not in texts(app)


def test_facts_have_units():
    from tileviz.ui.system import fact

    assert fact("memory_bytes", 141 << 30) == "141 GiB"
    assert fact("sm_clock_max_mhz", 1980) == "1,980 MHz"
    assert fact("cuda_driver_version", 13000) == "13.0"
    assert isinstance(Store, type)
