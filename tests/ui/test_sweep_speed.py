"""How long the pictures of 10,000 trials take. Prints figures (`-s`); asserts that the pictures are whole, no time: machines differ."""

import time

from tests.ui import sweep_examples
from tileviz.store import Store
from tileviz.ui.sweeps import against, effects, parallel, progress, top
from tileviz.ui.sweeps.heatmap import Choice, heatmap_figure, heatmap_frame
from tileviz.ui.sweeps.table import table_of


def test_ten_thousand_trials_are_drawn_whole(tmp_path):
    store, took = Store(tmp_path), {}
    sweep_examples.stored(store, "big", values=sweep_examples.BIG)

    def timed(name, make):
        start = time.perf_counter()
        found = make()
        took[name] = time.perf_counter() - start
        return found

    view = store.sweep("big")
    rows = timed("read from the store", lambda: store.sweep_columns("big"))
    table = timed("table", lambda: table_of(view, rows))
    choice = Choice("block_M", "block_N")
    heatmap = timed("heatmap", lambda: heatmap_figure(heatmap_frame(table, choice), table, choice).to_json())
    measure = "SASS: Tensor core"
    scatter = timed("scatter", lambda: against.against_figure(against.against_frame(table, 0, measure), table, measure))
    best = timed("progress", lambda: progress.progress_figure(progress.progress_frame(table, 0), "trial"))
    shown = timed("top 1000", lambda: top.top_table(top.top_frame(table, 0, 1000), table))
    lines = timed("parallel", lambda: parallel.parallel_figure(parallel.parallel_frame(table, 0), table))
    by_value = timed("main effects", lambda: effects.effects_figure(effects.effects_frame(table, 0)))
    print("\n" + "\n".join(f"{name:>20} {seconds:6.3f} s" for name, seconds in took.items()))
    assert len(table.rows) == 10_000 and '"heatmap"' in heatmap
    assert scatter.data[0].type == "scattergl" and len(scatter.data[0].x) == 9_996, "four fail to compile"
    assert best.data[0].type == "scattergl" and len(shown) == 1000
    assert len(lines.data[0].line.color) == parallel.MOST and len(by_value.data) == 10
