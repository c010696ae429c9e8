"""The large store of the benchmark is what a real one is: rows and trials through the store's own interface."""

from benchmarks import big_store
from tests.ui import sweep_examples
from tileviz.store import Store


def test_a_store_of_any_size_is_built_in_the_likeness_of_a_real_sweep(tmp_path, capsys):
    store = Store(tmp_path)
    sweep_examples.stored(store)
    big_store.built(store, "s1", 60)
    view, frame = store.sweep("big0"), store.sweep_frame("big0")
    assert view.state == "done" and view.counts == {"ok": 60} and len({row["trial"] for row in frame}) == 60
    assert store.trial(view.best[0]).config == min(frame, key=lambda row: row["median_us"])["config"]
    assert len({row["median_us"] for row in frame}) == 60
    assert store.trials("gemm", sweeps=False) and all(not t.trial.startswith("big") for t in store.trials("gemm", sweeps=False))
    assert {t.trial for t in store.trials("gemm", sweeps=False, limit=100)}.isdisjoint(row["trial"] for row in frame)
    assert capsys.readouterr().out.startswith("60 trials written")
