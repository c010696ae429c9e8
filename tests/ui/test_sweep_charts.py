"""The frames and figures of the tabs: numbers as they were stored, failures counted, nothing computed here that a child should."""

import pytest

from tests.ui import examples, sweep_examples
from tests.ui.test_charts import words_of
from tests.ui.test_sweep_heatmap import loaded
from tileviz import kernels
from tileviz.bench.peaks import peaks_of
from tileviz.records import Cost
from tileviz.store import Store
from tileviz.ui.charts import style
from tileviz.ui.sweeps import against, card, effects, failures, listing, parallel, progress, rooflines, shapes, take, top, watch
from tileviz.ui.sweeps.heatmap import Choice, heatmap_frame
from tileviz.ui.sweeps.map_words import caption
from tileviz.ui.sweeps.table import table_of

BEST = {"block_M": 128, "block_N": 256, "block_K": 64, "num_stages": 4, "threads": 256, **sweep_examples.BASE}


@pytest.fixture
def store(tmp_path) -> Store:
    return Store(tmp_path)


def test_the_best_leads_the_table_and_each_row_says_how_it_differs(store):
    table = loaded(store)
    frame = top.top_frame(table, 0, 10)
    assert table.configs[table.best(0)] == BEST
    assert frame["differs"].tolist()[:3] == ["the best itself", "num_stages 3 for 4", "num_stages 2 for 4"]
    assert frame["us"].is_monotonic_increasing and len(frame) == 10
    shown = top.top_table(frame, table)
    assert shown["of best"].tolist()[0] == "1.00\u00d7" and shown["registers"].tolist()[0] == "160"


def test_configs_that_are_tied_with_the_best_stand_with_it_and_are_marked(store):
    sweep_examples.stored(store)
    by_time = loaded(store, "s2")
    second, third = by_time.timed(0)["trial"].tolist()[1:3]
    store.note_sweep("s2", tied={0: [third, second]})
    table = table_of(store.sweep("s2"), store.sweep_columns("s2"))
    frame = top.top_frame(table, 0, 4)
    assert table.rows.at[table.best(0), "trial"] == third, "as measured in turn, not by the first time"
    assert frame["tied"].tolist() == [True, True, False, False]
    assert "tied with 1" in card.title(table, 0, table.best(0), table.best(0))


def test_bars_have_error_bars_and_a_line_for_each_baseline(store):
    table = loaded(store)
    figure = top.top_figure(top.top_frame(table, 0, 10), [examples.baseline("cublas", "cuBLAS", 210.0, 200.0)])
    assert len(figure.data[0].error_x.array) == 10 and figure.data[0].error_x.arrayminus[0] > 0
    assert [a.text for a in figure.layout.annotations] == ["cuBLAS 210 \u00b5s"]


def test_a_slow_baseline_takes_no_room_from_the_bars(store):
    table = loaded(store)
    baselines = [examples.baseline("cublas", "cuBLAS", 210.0, 200.0), examples.baseline("math", "math", 22_000.0, 200.0)]
    figure = top.top_figure(top.top_frame(table, 0, 10), baselines)
    assert figure.layout.xaxis.range[1] < 1.1 * max(figure.data[0].x) and {shape.x0 for shape in figure.layout.shapes} == {0.21 * 1000}
    assert [a.text for a in figure.layout.annotations] == ["cuBLAS 210 \u00b5s", "math 22.0 ms \u2192"]


def test_the_best_so_far_only_falls_and_failures_are_crosses(store):
    frame = progress.progress_frame(loaded(store), 0)
    assert len(frame) == 94 and frame["best_us"].is_monotonic_decreasing
    assert frame["trial"].tolist() == list(range(1, 95)) and frame["seconds"].iloc[0] == 0
    for against_what in ("seconds", "trial"):
        figure = progress.progress_figure(frame, against_what)
        assert [t.name for t in figure.data] == ["a config", "without a time", "fastest so far"]


def test_main_effects_and_failure_shares_are_counted_by_value(store):
    frame = effects.effects_frame(loaded(store), 0)
    wide = frame[(frame["knob"] == "block_N") & (frame["value"] == "256")].iloc[0]
    assert (wide["configs"], wide["measured"], wide["pruned"], wide["failed"]) == (36, 24, 12, 0)
    narrow = frame[(frame["knob"] == "block_N") & (frame["value"] == "64")].iloc[0]
    assert narrow["failed"] == 2
    assert set(frame["knob"]) == set(sweep_examples.VALUES), "knobs with one value have no effect"
    figure = effects.failure_figure(frame)
    assert sum(trace.x[0] for trace in figure.data) == pytest.approx(1)
    assert len(effects.effects_figure(frame).data) == 2 * 5
    assert effects.importance_figure({"block_M": 0.7, "threads": 0.3}).data[0].x == (0.7, 0.3)


def test_shares_of_failures_are_counted_within_comparable_configs(store):
    """A search that tried more of one value's other knobs says nothing about that value."""
    table = loaded(store)
    whole = effects.share_frame(table, 0).set_index(["knob", "value"])
    assert whole.loc[("block_N", "256"), ["configs", "measured", "pruned"]].tolist() == [36, 24, 12]
    columns = store.sweep_columns("s1")
    columns["status"] = [
        "not_run" if c["block_N"] == 64 and c["block_K"] == 64 else s for s, c in zip(columns["status"], table.configs, strict=True)
    ]
    part = effects.share_frame(table_of(store.sweep("s1"), columns), 0).set_index(["knob", "value"])
    assert part.loc["block_N"]["configs"].tolist() == [18, 18, 18], "only where block_N=64 was tried too"
    assert part.loc[("block_N", "64"), "failed"] == 0 and part["comparable"].all()
    columns["status"] = ["not_run" if (c["block_M"] == 64) == (c["threads"] == 128) else "ok" for c in table.configs]
    apart = effects.share_frame(table_of(store.sweep("s1"), columns), 0)
    assert not apart[apart["knob"] == "threads"]["comparable"].any()
    assert "threads: no configs differ in it alone" in effects.share_words(apart)


def test_latency_is_set_against_resources_and_counts_that_differ(store):
    table = loaded(store)
    known = against.measures(table)
    assert {"registers a thread", "shared memory, B", "SASS: Tensor core"} <= set(known)
    assert "threads launched" not in known, "the same in every config"
    frame = against.against_frame(table, 0, "SASS: Tensor core")
    assert set(frame["x"]) == {64.0, 128.0, 256.0} and len(frame) == 94
    figure = against.against_figure(frame, table, "SASS: Tensor core")
    assert "block_M=" in figure.data[0].text[0] and figure.data[0].type == "scatter"


def test_parallel_coordinates_have_an_axis_a_varying_knob_and_the_time(store):
    table = loaded(store)
    figure = parallel.parallel_figure(parallel.parallel_frame(table, 0), table)
    assert [d.label for d in figure.data[0].dimensions] == [*sweep_examples.VALUES, "latency, \u00b5s"]
    assert len(parallel.parallel_frame(table, 0, 5)) == 5


def test_shapes_set_the_best_of_each_problem_beside_its_baselines(store):
    problems = [{**sweep_examples.PROBLEM, "M": m} for m in (512, 1024, 4096)]
    table = loaded(store, problems=problems)
    trials = {0: store.trial(table.rows.at[table.best(0), "trial"])}
    frame = shapes.shapes_frame(table, trials)
    assert shapes.sizes(table) == ["M"]
    assert frame[frame["ours"]]["problem"].tolist() == [0, 1, 2]
    rival = frame[frame["name"] == "cuBLAS"].iloc[0]
    ours = frame[frame["ours"]].iloc[0]
    assert rival["tflops"] == pytest.approx(ours["tflops"] * ours["us"] / rival["us"])
    figure = shapes.shapes_figure(frame, table, "M", "tflops")
    assert figure.layout.xaxis.type == figure.layout.yaxis.type == "log"
    assert [t.name for t in figure.data] == ["best config", "cuBLAS"]
    assert figure.layout.xaxis.ticktext == ("512", "1k", "4k")


def test_the_roofline_holds_every_config_under_the_ceilings_of_the_datasheet(store):
    table = loaded(store)
    cost = kernels.kernel("gemm").cost(sweep_examples.PROBLEM)
    frame = rooflines.roofline_frame(table, {0: cost})
    assert len(frame) == 94 and frame["best"].sum() == 1
    assert frame["intensity"].iloc[0] == pytest.approx(cost.flops / cost.bytes)
    peaks = peaks_of("NVIDIA H200")
    roof = rooflines.roofline_figure(frame, peaks, None, "float16").data[0]
    assert max(roof.y) == peaks.tflops["float16"] and roof.y[0] == pytest.approx(roof.x[0] * peaks.tbps)
    assert rooflines.roofline_frame(table, {0: Cost(0, 1e9)}).empty, "a kernel that the field counts no FLOPs for"
    rates = rooflines.rate_figure(table.timed(0).assign(us=1.0)[["gbps", "us", "ordinal"]], peaks, None)
    assert len(rates.data[0].y) == 94 and rates.layout.shapes[0].y0 == peaks.tbps * 1000


def test_words_of_every_chart_of_a_sweep_are_12_px_or_more_in_the_colour_of_the_theme(store):
    problems = [{**sweep_examples.PROBLEM, "M": m} for m in (512, 1024)]
    table = loaded(store, problems=problems)
    trials, costs = {0: store.trial(table.rows.at[table.best(0), "trial"])}, {0: Cost(1e12, 1e9)}
    baselines, counts = list(trials[0].baselines), "SASS: Tensor core"
    for figure in (
        top.top_figure(top.top_frame(table, 0, 10), baselines),
        progress.progress_figure(progress.progress_frame(table, 0), "trial"),
        effects.effects_figure(effects.effects_frame(table, 0)),
        effects.failure_figure(effects.share_frame(table, 0)),
        effects.importance_figure({"block_M": 1.0}),
        parallel.parallel_figure(parallel.parallel_frame(table, 0), table),
        against.against_figure(against.against_frame(table, 0, counts), table, counts),
        shapes.shapes_figure(shapes.shapes_frame(table, trials), table, "M", "us"),
        rooflines.roofline_figure(rooflines.roofline_frame(table, costs), peaks_of("NVIDIA H200"), None, "float16"),
    ):
        fonts = words_of(figure)
        assert len(fonts) > 2 and {font["color"] for _, font in fonts} == {style.TEXT}
        assert min(font["size"] for _, font in fonts) >= 12


def test_failures_are_grouped_by_kind_with_an_example_that_opens(store):
    """Case A04: distinct reasons, grouped counts, never one shrug."""
    frame = failures.failure_frame(loaded(store), 0)
    assert frame["status"].tolist() == ["pruned", "compile_failed"] and frame["configs"].tolist() == [12, 2]
    assert frame["share"].sum() == pytest.approx(14 / 108)
    assert "262,144" in failures.failure_table(frame)["for example"][0]


def test_the_card_of_a_config_has_what_is_known_and_its_difference_from_the_best(store):
    table = loaded(store)
    best, other = table.best(0), table.index_of(0)
    assert card.title(table, 0, best, best).endswith("the best")
    assert card.facts(table, best)["Tensor core (SASS)"] == "128"
    knobs = card.knob_frame(table, other, best)
    assert knobs.iloc[0].tolist() == ["block_M", "64", "128"] and knobs.iloc[-1]["the best"] == "same"
    assert list(card.knob_frame(table, best, best).columns) == ["knob", "value"]


def test_equal_code_is_said_and_listed_once(store):
    """Case A05."""
    sweep_examples.stored(store)
    store.link_sweep_rows("s1", [70], 71)
    table = table_of(store.sweep("s1"), store.sweep_columns("s1"))
    assert card.notes(table, 70)[0] == "Same generated code as config 71, measured once."
    assert 70 not in top.top_frame(table, 0, 100)["ordinal"].tolist()
    assert len(table.timed(0)) == 93 and len(table.timed(0, leaders=False)) == 94


def test_what_is_taken_along_holds_the_best_config(store):
    table = loaded(store)
    text = take.best_script(table, 0, table.best(0))
    compile(text, "script", "exec")
    assert "'block_N': 256" in text
    names: dict = {}
    exec(take.autotune_text(table, 0, 5), names)
    assert len(names["configs"]) == 5 and names["configs"][0] == BEST


def test_the_list_names_every_sweep_with_its_state_and_best(store, monkeypatch):
    sweep_examples.stored(store)
    sweep_examples.stored(store, "s2", measured=0.5, state="cancelled")
    monkeypatch.setattr(listing, "store", lambda: store)
    frame = listing.sweeps_frame(store.sweeps(), "s1")
    assert frame["state"].tolist() == ["cancelled", "done"] and frame[""].tolist() == ["", "\u25cf"]
    assert frame["configs"].tolist()[1] == "96 of 96" and frame["best"].tolist()[1].endswith("\u00b5s")


def test_a_running_sweep_says_how_far_it_is_how_fast_and_how_long(store):
    sweep_examples.stored(store, measured=0.5, state="running")
    store.finish_sweep("s1", "running", seconds=10.0)
    view, pace = store.sweep("s1"), store.sweep_pace("s1")
    assert (pace.done, pace.total) == (54, 96)
    words = watch.pace_words(view, pace)
    assert words.startswith("54 of 96 configs, 5.4 a second, about 7.8 s left")
    assert watch.progress(view, pace) == pytest.approx(54 / 96)
    assert watch.badges(pace)[0] == ("ok 52", "green") and ("compile 2", "red") in watch.badges(pace)


def test_a_knob_that_changes_no_code_is_no_axis_and_the_caption_says_so(store):
    """On the CPU target threads change nothing: every config with the second value is the same code as one with the first."""
    knobs, columns = loaded(store).knobs, store.sweep_columns("s1")
    columns["same_as"] = [n - 1 if knobs.at[n, "threads"] == "256" else None for n in columns["ordinal"]]
    table = table_of(store.sweep("s1"), columns)
    assert table.idle == ["threads"] and "threads" not in table.varying
    choice = Choice("block_M", "block_N")
    assert "No difference here: threads." in caption(table, choice, heatmap_frame(table, choice))


def test_the_list_reads_how_far_a_sweep_is_once_when_it_has_ended_and_always_while_it_runs(store, monkeypatch):
    sweep_examples.stored(store, "done")
    sweep_examples.stored(store, "live", measured=0.5, state="running")
    monkeypatch.setattr(listing, "store", lambda: store)
    asked = []
    monkeypatch.setattr(store, "sweep_pace", lambda sweep, real=store.sweep_pace: asked.append(sweep) or real(sweep))
    for _ in range(2):
        frame = listing.sweeps_frame(store.sweeps()).set_index("sweep")
    assert sorted(asked) == ["done", "live", "live"] and frame.at["done", "configs"] == "96 of 96"
    store.start_sweep("done")  # resumed: it counts again
    listing.sweeps_frame(store.sweeps())
    assert asked.count("done") == 2
