"""What a sweep shows in Python, without an engine: a made-up one in a store of its own."""

import re

import pytest

import tileviz
from tests.ui import sweep_examples
from tileviz.api.sweeping import Sweep, each_problem
from tileviz.errors import BadRequest, Limitation, UnknownName
from tileviz.store import Store


@pytest.fixture
def store(tmp_path, monkeypatch) -> Store:
    monkeypatch.setenv("TILEVIZ_HOME", str(tmp_path))
    return Store()


@pytest.fixture
def sweep(store) -> Sweep:
    return tileviz.load(sweep_examples.stored(store, problems=(sweep_examples.PROBLEM, {**sweep_examples.PROBLEM, "M": 512})))


def test_its_frame_has_a_row_for_each_config_that_was_asked_for(sweep):
    frame = sweep.frame()
    assert len(frame) == len(sweep) == sum(sweep.counts.values())
    assert frame["M"].unique().tolist() == [4096, 512] and {"block_M", "latency_us", "reason"} <= set(frame)
    assert frame.loc[frame["status"] != "ok", "latency_us"].isna().all()


def test_its_best_is_a_result(sweep):
    best = sweep.best()
    assert best.config["block_M"] == 128 and best.config["block_N"] == 256
    assert best.latency_us == pytest.approx(sweep.frame()["latency_us"].min(), rel=0.05)
    assert sweep.best(7) is None


@pytest.mark.parametrize("kind", ["top", "progress", "knobs"])
def test_each_figure_is_drawn(sweep, kind):
    assert sweep.figure(kind, problem=1).data


def test_a_figure_says_why_there_is_none(store):
    untried = tileviz.load(sweep_examples.stored(store, "s2", measured=0.0))
    with pytest.raises(Limitation, match="no config of this problem has a time"):
        untried.figure()
    with pytest.raises(UnknownName, match="known: knobs, progress, top"):
        untried.figure("heat")


def test_a_notebook_sees_the_fastest_first(sweep):
    shown = sweep._repr_html_()
    assert re.search("best: .*block_M=128 block_N=256", shown) and "more rows" in shown
    assert repr(sweep).startswith(f"sweep {sweep.id} of gemm, done: ")


def test_it_is_exported_and_kept(sweep, store, tmp_path):
    assert sweep.export(tmp_path / "out.csv") == len(sweep) and (tmp_path / "out.csv").read_text().startswith("ordinal,kernel,target")
    kept = sweep.keep_best()
    assert kept and [tuned.id for tuned in tileviz.list_presets("gemm")] == [tuned.id for tuned in kept]


def test_sizes_that_are_lists_are_several_problems():
    assert each_problem({"M": [1, 2], "N": (3, 4), "dtype": "float32"}) == [
        {"M": m, "N": n, "dtype": "float32"} for m in (1, 2) for n in (3, 4)
    ]
    assert each_problem([{"M": 1}, {"M": range(2, 4)}]) == [{"M": 1}, {"M": 2}, {"M": 3}]
    assert each_problem(None) == each_problem({}) == [{}]
    for nothing in ([], {"M": []}):
        with pytest.raises(BadRequest, match="at least one"):
            each_problem(nothing)
