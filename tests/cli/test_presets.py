"""Presets and recorded results on the command line."""

from dataclasses import replace

import pytest

from tests import recordings
from tests.conftest import tileviz
from tests.recordings import DAY, SMALL, SQUARE
from tileviz.store import Store


@pytest.fixture(scope="module")
def file(tmp_path_factory):
    return recordings.made(tmp_path_factory.mktemp("gpu"), (SQUARE, SMALL))


@pytest.fixture(autouse=True)
def with_recorded(home, file, monkeypatch):
    monkeypatch.setenv("TILEVIZ_RECORDED", str(file))


def test_a_recorded_sweep_and_trial_are_shown_and_exported(tmp_path):
    shown = tileviz("show", "r1")
    assert shown.status == 0 and "gemm on NVIDIA H200: 8 configs requested, 6 ok, 2 compile_failed" in shown.out
    assert "cuBLAS" in shown.out
    trial = tileviz("show", "r1-3")
    assert trial.status == 0 and "on NVIDIA H200" in trial.out
    assert tileviz("show", "r1-3", "--json").json["recorded"] is True
    assert "HGMMA" in tileviz("show", "r1-3", "--emit", "sass").out
    document = tileviz("show", "r1", "--json").json
    assert len(document["trials"]) == 8 and document["best"]["trial"] == "r1-3"
    exported = tileviz("export", "r1", str(tmp_path / "r1.csv"), "--format", "csv")
    assert exported.status == 0 and (tmp_path / "r1.csv").read_text().count("\n") == 9


def test_a_recorded_sweep_is_neither_resumed_nor_kept():
    again, keep = tileviz("sweep", "--resume", "r1"), tileviz("show", "r1", "--keep-best")
    assert again.status == 2 and "comes with tileviz; it can be shown, not resumed" in again.sentence
    assert keep.status == 2 and "there is nothing to keep" in keep.sentence


def test_the_best_of_ones_own_sweep_is_kept(home):
    recordings.sweep(Store(home), (SQUARE, SMALL), "own")
    done = tileviz("show", "own", "--keep-best")
    assert done.status == 0 and done.err.count("kept as a preset for M=") == 2
    assert {tuned.problem["M"] for tuned in Store(home).tuned()} == {4096, 1024}
    assert "takes the id of a sweep" in tileviz("show", "own-3", "--keep-best").sentence


def test_presets_are_listed_and_ones_own_can_be_forgotten(home):
    recordings.sweep(Store(home), (SMALL,), "own")
    tileviz("show", "own", "--keep-best")
    own, *recorded = tileviz("presets", "gemm", "--json").json["presets"]
    assert own["recorded"] is False and len(recorded) == 2 and recorded[0]["recorded"] is True
    listed = tileviz("presets").out
    assert f"your own, {own['id']}, on NVIDIA H200" in listed and f"recorded on NVIDIA H200, {DAY}" in listed
    assert "0.900 times as fast as cuBLAS" in listed
    assert tileviz("presets", "--forget", own["id"]).status == 0 and Store(home).tuned() == []
    again = tileviz("presets", "--forget", recorded[0]["id"])
    assert again.status == 2 and "no preset" in again.sentence
    assert tileviz("presets", "gem").status == 2


def test_compile_starts_from_the_nearest_preset_and_says_so():
    words = ("compile", "gemm", "--target", "sm_90a", "-p", "M=2048", "-p", "N=1024", "-p", "K=1024", "--emit", "source")
    done = tileviz(*words)
    assert done.status == 0 and f"knobs that were not given: recorded on NVIDIA H200, {DAY}, at M=1024 N=1024 K=1024" in done.err
    plain = tileviz(*words, "--no-presets")
    assert plain.status == 0 and "knobs that were not given" not in plain.err and plain.out != done.out


def test_one_of_another_form_of_the_kernel_is_listed_as_unused(home):
    recordings.sweep(Store(home), (SMALL,), "own")
    tileviz("show", "own", "--keep-best")
    (own,) = Store(home).tuned()
    Store(home).save_tuned(replace(own, config={name: value for name, value in own.config.items() if name != "store"}))
    listed = tileviz("presets", "gemm").out
    assert listed.count("nothing starts from it") == 1 and "of another form of gemm, knobs store" in listed
