"""One best: every place that names the best config of a problem names the same one, with the same time and rate."""

import json

import pytest

from tests.ui import examples, sweep_examples
from tileviz import formats
from tileviz.cli.sweep import sweep_text
from tileviz.engine import presets
from tileviz.engine.sweeps import results
from tileviz.errors import BadRequest
from tileviz.measured import best_of, fastest_baseline, ranked, why_no_best
from tileviz.store import Store
from tileviz.store.recorded import FILE, Recorded
from tileviz.ui.sweeps import card, heatmap, listing, rooflines, take, top, watch
from tileviz.ui.sweeps.table import SweepTable, rated, table_of

SWEEPS = [view.id for view in Recorded(FILE).sweeps(limit=1000)]


@pytest.fixture(scope="module")
def there() -> Recorded:
    return Recorded(FILE)


def table_in(store, sweep: str) -> SweepTable:
    return table_of(store.sweep(sweep), store.sweep_columns(sweep))


def starred(table: SweepTable, problem: int) -> list[int]:
    """Ordinals of the cells with a star, whatever the metric."""
    axes = (*table.favourites, *table.values)[:2]
    stars = []
    for metric in ("latency", "GB/s"):
        frame = heatmap.heatmap_frame(table, heatmap.Choice(*axes, problem=problem, metric=metric))
        stars.append(frame[frame["cell"].str.startswith("\u2605")]["ordinal"].tolist())
    assert stars[0] == stars[1]
    return stars[0]


@pytest.mark.parametrize("sweep", SWEEPS)
def test_every_place_names_the_same_best_of_a_recorded_sweep(sweep, there, monkeypatch):
    for page in (watch, listing):
        monkeypatch.setattr(page, "store", lambda: there)
    view, frame, table = there.sweep(sweep), there.sweep_frame(sweep), table_in(there, sweep)
    document, kept = results.document(there, sweep), {t.trial: t for t in presets.best_of(there, view)}
    sections = sweep_text(document).split("\n\n")[1:]
    for number, problem in enumerate(view.request["problems"]):
        named = best_of([row for row in frame if row["problem_index"] == number], view.tied.get(number, ()))
        trial, row = there.trial(named["trial"]), document["best_of"][number]
        best = view.bests[number]
        assert (best.ordinal, best.trial, best.median_us) == (named["ordinal"], named["trial"], named["median_us"])
        assert (row["ordinal"], row["trial"], row["config"]) == (best.ordinal, best.trial, named["config"])
        index = table.best(number)
        assert table.rows.at[index, "ordinal"] == best.ordinal and table.configs[index] == named["config"] == trial.config
        words, rate = formats.duration_us(best.median_us), rated(named["tflops"], named["gbps"])
        assert formats.duration_us(trial.timing.median_us) == words and rated(trial.tflops, trial.gbps) == rate
        assert starred(table, number) == [best.ordinal]
        assert card.title(table, number, index, index).startswith(f"Config {best.ordinal:,}, the best")
        assert card.standing(table, index, index) == "the best"
        shown = top.top_table(top.top_frame(table, number, 3), table).iloc[0]
        assert (shown["config"], shown["latency"], shown["rate"]) == (f"{best.ordinal}", words, rate)
        assert take.autotune_text(table, number, 1) == results.autotune_list([trial.config])
        tuned = kept[best.trial]
        assert (tuned.config, formats.duration_us(tuned.median_us), rated(tuned.tflops, tuned.gbps)) == (trial.config, words, rate)
        first = next(line for line in sections[number].splitlines() if " to " in line and "(" in line and "FLOPs" not in line)
        assert words in first and rate in first and formats.assignments(trial.config) in first
        assert formats.assignments(problem) in sections[number]
    if len(view.request["problems"]) == 1:
        assert watch.best_words(view).startswith(f"best {words}, {rate}: {formats.assignments(trial.config)}")
        assert listing.sweeps_frame([view])["best"].tolist() == [words]
        assert document["best"] == document["best_of"][0]


def test_the_recorded_presets_are_the_bests_of_their_sweeps(there):
    bests = {(view.id, trial) for view in there.sweeps(limit=1000) for trial in view.best.values()}
    assert {(tuned.sweep, tuned.trial) for tuned in there.tuned()} <= bests


def test_a_sweep_in_which_the_first_pass_and_the_finals_disagree_is_among_them(there):
    """13a132c705c4: config 0 has the shorter time, 814.77 us, and config 115 (816.83 us beside the baselines) was the fastest in turn."""
    view, frame = there.sweep("13a132c705c4"), there.sweep_frame("13a132c705c4", statuses=("ok",))
    assert ranked(frame)[0]["ordinal"] == 0 and view.bests[0].ordinal == 115 and len(view.tied[0]) == 3
    table = table_in(there, view.id)
    assert card.standing(table, table.index_of(0), table.best(0)) == "tied with the best"


def test_pairs_of_one_comparison_are_told_in_one_way(there):
    """No 'same time' here, '1.01 times' there, 'unclear' elsewhere: what holds 1 is a tie in every place, and no ratio is told of it."""
    ties = clear = 0
    for tuned in there.tuned():
        trial = there.trial(tuned.trial)
        found = fastest_baseline(trial.baselines)
        if found is None:
            continue
        said = [formats.compared_value(found.comparison), formats.compared_with(found.comparison, found.title)]
        said += [formats.compared_with(tuned.comparison, tuned.baseline), card.baseline_words(trial)]
        if found.comparison.low <= 1 <= found.comparison.high:
            ties += 1
            assert said[:3] == ["tie", f"tied with {found.title}", f"tied with {found.title}"]
            assert f"{found.title} {formats.duration_us(found.timing.median_us)} (tie)" in said[3]
        elif found.comparison.verdict in ("faster", "slower"):
            clear += 1
            ratio = formats.significant(found.speedup)
            assert said[:3] == [f"{ratio}\u00d7", *[f"{ratio} times as fast as {found.title}"] * 2] and f"({ratio}\u00d7)" in said[3]
    assert ties >= 4 and clear > 50


def row(ordinal: int, us: float | None, **more) -> dict:
    plain = {"status": "ok", "same_as": None, "implausible": False, "launch_bound": False, "trial": f"t{ordinal}"}
    return {"ordinal": ordinal, "median_us": us, **plain, **more}


@pytest.mark.parametrize(
    ("rows", "turns", "best"),
    [
        ([row(0, 3.0), row(1, 2.0)], (), 1),
        ([row(1, 2.0), row(0, 2.0)], (), 0),
        ([row(0, 3.0), row(1, 2.0), row(2, 2.5)], ("t2", "t0"), 2),
        ([row(0, 3.0), row(1, 2.0), row(2, 2.5, launch_bound=True)], ("t2", "t0"), 0),
        ([row(0, 3.0), row(1, 1.0, launch_bound=True), row(2, 0.5, implausible=True), row(3, 0.1, status="wrong_result")], (), 0),
        ([row(0, 3.0), row(1, 2.0, same_as=0), row(2, None), row(3, -1.0)], (), 0),
        ([row(0, 1.0, launch_bound=True)], ("t0",), None),
        ([], (), None),
    ],
)
def test_the_finals_decide_then_the_time_then_the_order_and_no_launch_is_the_best(rows, turns, best):
    found = best_of(rows, turns)
    assert (found["ordinal"] if found is not None else None) == best


def launch_bound_sweep(store: Store, which) -> SweepTable:
    """Configs whose ordinal `which` says so are launch-bound; the fastest config of the example is 71."""
    made = sweep_examples.rows()
    for one in made:
        if one.status == "ok":
            one.results["launch_bound"] = int(which(one.ordinal))
    store.create_sweep("s1", sweep_examples.request(), made, state="done", reason="all ran")
    return table_in(store, "s1")


def test_a_launch_bound_config_wears_no_crown_though_it_is_the_fastest(tmp_path):
    store = Store(tmp_path)
    table = launch_bound_sweep(store, lambda ordinal: ordinal == 71)
    fastest = table.index_of(71)
    assert table.rows["median_us"].idxmin() == fastest != table.best(0)
    assert store.sweep("s1").bests[0].ordinal == table.rows.at[table.best(0), "ordinal"]
    assert 71 not in starred(table, 0) and len(starred(table, 0)) == 1
    assert card.title(table, 0, fastest, table.best(0)) == "Config 71"
    assert card.standing(table, fastest, table.best(0)) == "launch-bound: not ranked"
    assert top.top_table(top.top_frame(table, 0, 200), table)["of best"].tolist()[-1] == "launch-bound"
    assert results.document(store, "s1")["best"]["ordinal"] != 71


def test_where_every_config_is_launch_bound_none_is_named_and_it_says_why(tmp_path, monkeypatch):
    store = Store(tmp_path)
    monkeypatch.setattr(watch, "store", lambda: store)
    table = launch_bound_sweep(store, lambda ordinal: True)
    view, why = store.sweep("s1"), "all 94 timed configs are launch-bound, within twice an empty kernel, so none is named the best"
    document = results.document(store, "s1")
    assert view.bests == {} and table.best(0) is None and document["best"] is None and document["best_of"] == [None]
    assert document["no_best"] == [why] and table.why_no_best(0) == why and watch.best_words(view) == why
    assert why in sweep_text(document) and sweep_text(document).count(", launch-bound") == 10
    assert starred(table, 0) == [] and len(top.top_frame(table, 0, 5)) == 5
    assert card.standing(table, 0, None) == "launch-bound: not ranked"
    assert presets.best_of(store, view) == []


def test_the_best_of_the_finals_is_the_best_after_export_and_import(there, tmp_path):
    store, sweep = Store(tmp_path), "13a132c705c4"
    view, file = there.sweep(sweep), tmp_path / "sweep.json"
    results.export(there, sweep, "json", file)
    back, text = store.sweep(results.bring_in(store, file)), file.read_text()
    assert back.tied == view.tied and {n: b.ordinal for n, b in back.bests.items()} == {n: b.ordinal for n, b in view.bests.items()}
    with pytest.raises(BadRequest, match=r"\$\.tied\.0: problem 0 has no trial 'other'"):
        results.bring_in_content(store, json.dumps({**json.loads(text), "tied": {"0": ["other"]}}).encode(), "sweep.json")


def test_why_there_is_no_best_counts_what_has_a_time():
    assert why_no_best([row(0, None), row(1, 2.0, status="timeout")]) == "no config gave a time"
    assert why_no_best([row(0, 1.0, launch_bound=True)]).startswith("the one timed config is launch-bound")


def test_rows_of_a_file_without_trials_have_a_best_everywhere(tmp_path):
    store, made = Store(tmp_path), sweep_examples.rows()
    for one in made:
        one.results.pop("trial", None)
    store.create_sweep("s1", sweep_examples.request(imported="theirs.csv"), made, state="done")
    best = store.sweep("s1").bests[0]
    assert (best.ordinal, best.trial) == (71, None) and starred(table_in(store, "s1"), 0) == [71]
    document = json.loads(json.dumps(results.document(store, "s1")))
    assert document["best"]["ordinal"] == 71 and document["best"]["timing"]["median_us"] == best.median_us
    assert sweep_text(document).split("\n\n")[1].splitlines()[1].count(formats.duration_us(best.median_us)) >= 1


def test_the_roofline_marks_the_best_and_no_launch(tmp_path):
    from tileviz.records import Cost

    table = launch_bound_sweep(Store(tmp_path), lambda ordinal: ordinal == 71)
    frame = rooflines.roofline_frame(table, {0: Cost(1e9, 1e6)})
    assert frame[frame["best"]]["ordinal"].tolist() == [table.rows.at[table.best(0), "ordinal"]]


def test_baselines_of_an_example_are_told_by_their_comparison():
    trial = examples.trial(baselines=(examples.baseline("a", "A", 105.0, 100.0), examples.baseline("b", "B", 100.2, 100.0)))
    assert card.baseline_words(trial).endswith("B 100 \u00b5s (tie), A 105 \u00b5s (1.05\u00d7)")
