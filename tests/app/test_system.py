"""The System page without a browser."""

from dataclasses import replace

import pytest

from tests.app.pages import opened, texts
from tests.asked import resolve
from tests.ui import examples
from tileviz.compiler import toolchain
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
    monkeypatch.setattr(toolchain, "problems", lambda home: [gap])
    app = opened("system")
    assert any("nvdisasm" in w.value for w in app.warning)
    assert any(c.value == gap.line for c in app.code)


def test_without_a_driver_there_is_one_row_about_it_and_no_hint(monkeypatch):
    monkeypatch.setattr(toolchain, "versions", lambda: {"python": "3.12.0", "nvcc": None, "driver": None, "driver CUDA": None})
    app = opened("system")
    rows = next(frame.value for frame in app.dataframe if list(frame.value.columns) == ["name", "version"])
    assert dict(zip(rows["name"], rows["version"])) == {
        "python": "3.12.0", "nvcc": "not installed", "driver": "no NVIDIA driver: fine without a GPU"
    }  # fmt: skip
    assert "CUDA 13 code needs" not in texts(app)


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


CEILINGS = {
    "copy_tbps": 4.267, "copy_bytes": 4 << 30, "tflops": {"float16": 761.4}, "sizes": {"float16": 4096}, "timer": "cupti", "created": 1e9,
    "fingerprint": {},
}  # fmt: skip


def test_ceilings_stand_beside_datasheet_peaks():
    from tileviz.ui.system import ceilings_frame

    rows = {row.ceiling: row for row in ceilings_frame(replace(examples.H200, facts={"ceilings": CEILINGS})).itertuples()}
    memory, half = rows["memory, copy of 4.00 GiB"], rows["float16, 4,096\u00b3 product"]
    assert (memory.measured, memory.datasheet, memory.share) == ("4.27 TB/s", "4.80 TB/s", "89 %")
    assert (half.measured, half.datasheet, half.share) == ("761 TFLOPS", "989 TFLOPS", "77 %")
    assert rows["TF32"].measured == "" and rows["TF32"].datasheet == "495 TFLOPS"
    assert ceilings_frame(examples.CPU).empty


def test_a_button_queues_measuring_the_ceilings(store):
    app = opened("system")
    assert "Not measured yet." in texts(app)
    app.button(key="measure_cpu").click().run()
    assert not app.exception
    assert [(job.kind, job.request["device"]) for job in store.jobs(active=True)] == [("ceilings", "cpu")]
    assert app.button(key="measure_cpu").disabled


def test_measured_ceilings_are_no_row_among_the_facts(store):
    store.save_device(replace(examples.CPU, facts={"cores": 2, "ceilings": {**CEILINGS, "copy_tbps": 0.01}}))
    app = opened("system")
    assert "Measured on 2001-09-09, timer cupti." in texts(app).replace("\\", "")
    facts = next(frame.value for frame in app.dataframe if list(frame.value.columns) == ["fact", "value"])
    assert list(facts["fact"]) == ["cores"]


def test_every_cache_that_clearing_empties_has_its_size():
    frame = next(frame.value for frame in opened("system").dataframe if list(frame.value.columns) == ["what", "size"])
    assert any("torch.compile and Triton" in what for what in frame["what"])
