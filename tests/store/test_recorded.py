"""The recorded file: what goes in, what is left out, and that nobody ever writes to it."""

import os
import shutil
import sqlite3
from dataclasses import replace
from pathlib import Path

import pytest

from tests import recordings
from tests.recordings import H200, SMALL, SQUARE
from tests.ui import examples
from tileviz import kernels
from tileviz.errors import StoreError
from tileviz.store import Store, StoreWithRecorded
from tileviz.store import recorded as recorded_module
from tileviz.store.database import MIGRATIONS
from tileviz.store.recorded import LEAST_SCHEMA, Recorded, recorded
from tileviz.store.recording import QUANTILES, thinned, without_folders


@pytest.fixture(scope="module")
def gpu(tmp_path_factory) -> Path:
    """The folder of a recording, with the home it is made of."""
    folder = tmp_path_factory.mktemp("gpu")
    recordings.made(folder, (SQUARE, SMALL))
    return folder


@pytest.fixture
def file(gpu, tmp_path) -> Path:
    return Path(shutil.copy(gpu / "recorded.db", tmp_path))


@pytest.fixture
def there(file) -> Recorded:
    return Recorded(file)


@pytest.fixture
def both(file, tmp_path, monkeypatch) -> StoreWithRecorded:
    monkeypatch.setenv(recorded_module.VARIABLE, str(file))
    return StoreWithRecorded(tmp_path / "own")


def test_every_trial_of_a_sweep_is_there_failures_too(there):
    (view,) = there.sweeps()
    assert view.recorded and view.device == "NVIDIA H200" and view.counts == {"ok": 6, "compile_failed": 2}
    assert len(there.sweep_frame("r1")) == 8 and there.sweep_frame("r1")[0]["reason"] == "the compiler stopped"
    assert there.trial("r1-0").detail == "gemm.h(3): error"
    assert [best.median_us for best in there.sweep("r1").bests.values()] == [pytest.approx(204.8, rel=0.01), pytest.approx(51.2, rel=0.01)]


def test_a_device_goes_by_its_name_and_keeps_no_id_of_the_machine(there):
    (device,) = there.devices()
    assert device.id == device.name == "NVIDIA H200" and "uuid" not in device.facts and device.facts["sm_count"] == 132
    assert there.trial("r1-3").device == "NVIDIA H200" and there.trial("r1-3").recorded


def test_the_best_has_its_code_but_not_its_machine_code(there):
    (trial, _) = there.with_code("gemm")
    artifact = there.artifact(trial.artifact)
    assert "HGMMA" in artifact.sass and artifact.program and artifact.lines["sass"] and artifact.cubin is None
    assert there.trial("r1-1").artifact is None
    assert there.trial("r1-1").instructions == {"sass": {"tensor_core": 8}}


def test_many_samples_become_quantiles_with_the_same_median_and_percentiles(there, gpu):
    whole, few = Store(gpu / "gpu").trial("r1-1").timing, there.trial("r1-1").timing
    assert few.n == QUANTILES < whole.n and "quantiles of 40 samples" in few.note
    for name in ("median_us", "p10_us", "p90_us"):
        assert getattr(few, name) == pytest.approx(getattr(whole, name), rel=1e-6)
    assert there.trial("r1-3").timing.n == 40 and there.trial("r1-3").baselines[0].timing.n == QUANTILES
    assert thinned(replace(whole, samples_us=(1.0, 2.0))).samples_us == (1.0, 2.0)


def test_a_result_is_found_by_what_it_is_of_whatever_its_key(there):
    problem = kernels.kernel("gemm").problem(SQUARE)
    config = recordings.config_of(problem, block_M=128, block_N=64)
    assert there.same("gemm", problem, dict(reversed(config.items())), "sm_90a").trial == "r1-2"
    assert there.same("gemm", {**problem, "M": 512}, config, "sm_90a") is None
    assert there.same("gemm", problem, {**config, "panel_size": 16}, "sm_90a") is None
    assert there.same("gemm", problem, config, "sm_80") is None


def test_it_is_read_from_a_folder_that_nobody_may_write_and_leaves_nothing_beside_it(file, tmp_path):
    folder = tmp_path / "package"
    folder.mkdir()
    file = file.rename(folder / file.name)
    before = file.read_bytes()
    os.chmod(file, 0o444)
    os.chmod(folder, 0o555)
    try:
        there = Recorded(file)
        assert there.trial("r1-3").status == "ok" and there.sweep_frame("r1") and there.tuned()
        assert [path.name for path in folder.iterdir()] == ["recorded.db"] and file.read_bytes() == before
    finally:
        os.chmod(folder, 0o755)


def test_what_would_write_is_refused(there):
    with pytest.raises(StoreError, match="only read"):
        there.save_trial(examples.trial())
    with pytest.raises(StoreError, match="only read"):
        there.forget_tuned("x")
    with pytest.raises(StoreError, match="only read"):
        there.save_artifact(there.artifact(there.with_code("gemm")[0].artifact))
    for refused in (lambda: there.files.write_more("k", {}), lambda: there.files.remove("k"), there.clear_cache, there.recover_jobs):
        with pytest.raises(StoreError, match="only read"):
            refused()
    with pytest.raises(StoreError, match="cannot be read: attempt to write a readonly database"), there.database.connect() as connection:
        connection.execute("DELETE FROM preset")


def test_an_id_that_is_not_the_users_own_is_looked_for_there_and_lists_hold_their_own(both):
    both.save_trial(examples.trial(trial="mine"))
    assert both.trial("mine").device == "cpu" and both.trial("r1-3").recorded and both.trial("nothing") is None
    assert [trial.trial for trial in both.trials()] == ["mine"] and both.sweeps() == [] and both.tuned() == [] and both.devices() == []
    assert both.sweep_columns("r1")["ordinal"] == list(range(8))
    assert both.sweep("r1").recorded and len(both.sweep_frame("r1", instructions=False)) == 8 and set(both.trials_of_sweep("r1")) > {"r1-0"}
    assert both.sweep_pace("r1").total == 8 and both.artifact("key-r1-3").source


def test_a_store_without_the_recorded_set_does_not_know_it(both):
    assert Store(both.home).trial("r1-3") is None and Store(both.home).recorded is None


@pytest.mark.parametrize("version", [LEAST_SCHEMA - 1, len(MIGRATIONS) + 1])
def test_a_file_of_another_schema_is_left_out(file, version, monkeypatch):
    said = []
    monkeypatch.setattr(recorded_module.log, "warning", lambda words, *values: said.append(words % values))
    with sqlite3.connect(file) as connection:
        connection.execute(f"PRAGMA user_version={version}")
    connection.close()
    monkeypatch.setenv(recorded_module.VARIABLE, str(file))
    recorded_module._opened.cache_clear()
    assert recorded() is None and "schema" in said[0]


def test_no_file_and_a_damaged_one_mean_no_recorded_results(tmp_path, monkeypatch):
    for content in (None, b"no database at all" * 100):
        path = tmp_path / f"{content is None}.db"
        if content:
            path.write_bytes(content)
        monkeypatch.setenv(recorded_module.VARIABLE, str(path))
        assert recorded() is None
    monkeypatch.setenv(recorded_module.VARIABLE, "none")
    assert recorded() is None


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        ("/home/someone/venv/lib/a.h(3): error", "a.h(3): error"),
        ('#include "/opt/x/y.h"', '#include "y.h"'),
        ("#include <tl_templates/cuda/gemm.h>", "#include <tl_templates/cuda/gemm.h>"),
        ("a / b // c /*0150*/", "a / b // c /*0150*/"),
    ],
)
def test_folders_of_a_machine_are_taken_out(text, kept):
    assert without_folders(text) == kept


def test_presets_come_along(there):
    found = {tuned.problem["M"]: tuned for tuned in there.tuned("gemm")}
    assert set(found) == {4096, 1024} and all(tuned.recorded and tuned.device == H200.name for tuned in found.values())
    assert found[4096].config["block_M"] == 128 and found[4096].baseline == "cuBLAS" and found[4096].speedup == pytest.approx(0.9)
    assert there.tuned("softmax") == []
