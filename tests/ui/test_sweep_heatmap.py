"""The heatmap of a sweep: measured cells only, failures by kind, how it was reduced, and which config a click opens."""

import json

import pytest

from tests.ui import sweep_examples
from tileviz.store import Store, exchange
from tileviz.ui.charts import colour
from tileviz.ui.sweeps import corners
from tileviz.ui.sweeps.heatmap import BEST, MEDIAN, MOST_PANELS, Choice, axis_of, heatmap_figure, heatmap_frame, panels, place_of
from tileviz.ui.sweeps.map_words import best_words, caption, corner_words
from tileviz.ui.sweeps.table import MEASURED, Counts, SweepTable, table_of

MAP = Choice("block_M", "block_N")


@pytest.fixture
def store(tmp_path) -> Store:
    return Store(tmp_path)


def loaded(store, sweep="s1", **more) -> SweepTable:
    sweep_examples.stored(store, sweep, **more)
    return table_of(store.sweep(sweep), store.sweep_columns(sweep))


def cell(frame, x, y, by=""):
    (found,) = frame[(frame["x"] == x) & (frame["y"] == y) & (frame["by"] == by)].to_dict("records")
    return found


def test_a_cell_has_the_best_of_its_configs_and_opens_that_config(store):
    table = loaded(store)
    own = table.rows[(table.knobs["block_M"] == "64") & (table.knobs["block_N"] == "128") & table.rows["timed"]]
    found = cell(heatmap_frame(table, MAP), "64", "128")
    assert found["value"] == own["median_us"].min()
    assert found["ordinal"] == own.loc[own["median_us"].idxmin(), "ordinal"]
    assert (found["measured"], found["configs"]) == (12, 12)


def test_the_median_is_a_config_that_was_measured_not_a_mean(store):
    table = loaded(store)
    found = cell(heatmap_frame(table, Choice("block_M", "block_N", reduce=MEDIAN)), "64", "128")
    row = table.rows[table.rows["ordinal"] == found["ordinal"]].iloc[0]
    assert row["median_us"] == found["value"]
    own = table.rows[(table.knobs["block_M"] == "64") & (table.knobs["block_N"] == "128")]["median_us"].sort_values()
    assert found["value"] == own.iloc[(len(own) - 1) // 2]


def test_what_was_not_measured_has_no_number_and_is_drawn_by_its_kind_with_the_reason_on_hover(store):
    table = loaded(store)
    found = cell(heatmap_frame(table, MAP), "256", "256")
    assert found["kind"] == "pruned" and found["cell"] == "pruned" and found["value"] != found["value"]
    assert "shared memory 262,144 B" in found["told"]
    fixed = Choice("block_M", "block_N", fixed={"block_K": "64", "num_stages": "2"})
    failed = cell(heatmap_frame(table, fixed), "64", "64")
    assert failed["kind"] == "failed" and failed["cell"] == "compile"
    assert "<b>no" in failed["told"], "a tool's text is text"


def test_a_cell_with_any_measured_config_is_measured_and_says_how_many(store):
    found = cell(heatmap_frame(loaded(store), MAP), "64", "64")
    assert found["kind"] == "measured" and (found["measured"], found["configs"]) == (10, 12)
    assert "10 measured of 12 configs" in found["told"]


def test_the_best_cell_is_starred_and_speeds_are_relative_to_it(store):
    frame = heatmap_frame(loaded(store), MAP)
    starred = frame[frame["cell"].str.startswith("\u2605")]
    assert starred[["x", "y"]].to_numpy().tolist() == [["128", "256"]]
    assert frame["share"].max() == 1 and frame["share"].min() > 0


def test_not_run_is_told_apart_from_failed(store):
    frame = heatmap_frame(loaded(store, measured=0.5, state="cancelled"), MAP)
    assert cell(frame, "256", "128")["kind"] == "not run"
    assert cell(frame, "64", "64")["kind"] == "measured"


def test_the_caption_says_over_what_it_was_reduced_and_what_is_fixed(store):
    table = loaded(store)
    choice = Choice("block_M", "block_N", "num_stages", reduce=BEST, fixed={"threads": "256"})
    words = caption(table, choice, heatmap_frame(table, choice))
    assert words.startswith("Best over block_K; threads=256 fixed. 24 of 27 cells measured, 3 pruned")
    assert "nothing is interpolated" in words


def test_every_value_is_on_its_axis_in_order_of_number(store):
    table = loaded(store)
    figure = heatmap_figure(heatmap_frame(table, MAP), table, MAP)
    assert figure.layout.xaxis.categoryarray == ("64", "128", "256") and figure.layout.xaxis.type == "category"
    clicks = figure.data[-1]
    assert clicks.type == "scatter" and clicks.marker.opacity == 0 and len(clicks.customdata) == 9
    assert set(clicks.customdata) <= set(table.rows["ordinal"])


def test_small_multiples_have_a_panel_a_value_with_its_name(store):
    table, choice = loaded(store), Choice("block_M", "block_N", "num_stages")
    figure = heatmap_figure(heatmap_frame(table, choice), table, choice)
    assert [a.text for a in figure.layout.annotations] == ["num_stages=2", "num_stages=3", "num_stages=4"]
    assert len([t for t in figure.data if t.type == "heatmap"]) == 2 * 3


def test_a_rate_is_best_where_it_is_largest(store):
    frame = heatmap_frame(loaded(store), Choice("block_M", "block_N", metric="TFLOPS"))
    assert cell(frame, "128", "256")["share"] == 1
    assert frame.attrs["unit"] == "TFLOPS"


@pytest.mark.parametrize("form", exchange.FORMATS)
def test_a_file_that_comes_back_gives_the_same_heatmap(store, form):
    """Case U05: five knobs, a part of it illegal; export and import give the same picture."""
    table = loaded(store)
    found = exchange.read(exchange.written(table.view, store.sweep_frame("s1"), form))
    store.create_sweep("s2", found.request, found.rows, state="done")
    again = table_of(store.sweep("s2"), store.sweep_columns("s2"))
    for choice in (MAP, Choice("block_K", "threads", "num_stages", reduce=MEDIAN)):
        ours, theirs = heatmap_frame(table, choice), heatmap_frame(again, choice)
        columns = ["x", "y", "by", "kind", "value", "ordinal", "cell"]
        assert ours[columns].round(6).equals(theirs[columns].round(6))


def test_an_implausible_time_is_never_a_number(store):
    table = loaded(store)
    rows = table.rows.copy()
    assert rows["timed"].sum() == 94
    with store.database.connect() as connection:
        connection.execute("UPDATE sweep_trial SET implausible=1 WHERE json_extract(config, '$.block_M')=128")
    marked = table_of(store.sweep("s1"), store.sweep_columns("s1"))
    found = cell(heatmap_frame(marked, MAP), "128", "256")
    assert found["kind"] == "failed" and found["cell"] == "implausible" and marked.best(0) != table.best(0)


def test_numbers_are_the_first_axes_then_words_then_flags(store):
    values = {"variant": ("plain", "persistent"), "tl.enable_fast_math": (True, False), "block_M": (64, 128), "block_N": (64, 128)}
    table = loaded(store, values={**values, "block_K": (32,), "num_stages": (3,), "threads": (128,)})
    assert table.favourites == ["block_M", "block_N", "variant", "tl.enable_fast_math"]
    frame = heatmap_frame(table, Choice("variant", "block_M"))
    assert set(frame["x"]) == {"plain", "persistent"} and (frame["kind"] == MEASURED).all()
    fixed = heatmap_frame(table, Choice("block_M", "block_N", fixed={"variant": "persistent"}))
    assert {table.configs[table.index_of(ordinal)]["variant"] for ordinal in fixed["ordinal"]} == {"persistent"}


def test_values_of_a_knob_that_are_equal_and_of_different_kinds_keep_their_own_words(store):
    view, columns = store.sweep(sweep_examples.stored(store)), store.sweep_columns("s1")
    for ordinal, value in enumerate((True, 1, 1.0, None)):
        columns["config"][ordinal] = json.dumps({**json.loads(columns["config"][ordinal]), "mixed": value})
    assert table_of(view, columns).knobs["mixed"].tolist()[:5] == ["true", "1", "1.0", "default", "default"]


def test_instruction_counts_are_read_where_they_are_asked_for(store):
    table = loaded(store)
    assert table.counted[0] == {"sass": {"tensor_core": 64, "barrier": 12}} and len(table.counted) == len(table.rows)
    counts = Counts(['{"ptx": {}}', None, "not read"])
    assert counts[0] == {"ptx": {}} and counts[1] is None
    with pytest.raises(json.JSONDecodeError):
        list(counts)


def test_a_sweep_without_configs_is_an_empty_table(store):
    view = store.sweep(sweep_examples.stored(store))
    table = table_of(view, {})
    assert table.rows.empty and table.best(0) is None and table.varying == [] and len(table.counted) == 0


def test_a_click_fades_no_number_and_draws_no_mark_of_plotlys(store):
    table = loaded(store)
    figure = heatmap_figure(heatmap_frame(table, MAP), table, MAP)
    numbers, clicks = figure.data[-2:]
    assert numbers.selected.textfont.color, "without it plotly fades every number to 20 % at a click"
    assert clicks.selected.marker.opacity == clicks.unselected.marker.opacity == 0
    assert clicks.hoverinfo == "none", "a label would lie over the neighbours"


def test_each_number_is_written_in_the_ink_of_its_cell(store):
    table = loaded(store)
    frame = heatmap_frame(table, MAP)
    inks = dict(zip(zip(frame["x"], frame["y"]), heatmap_figure(frame, table, MAP).data[-2].textfont.color))
    assert inks["128", "256"] == colour.BLACK and inks["256", "64"] == colour.WHITE


def test_a_config_is_found_in_its_cell_and_panel_also_where_another_stands_for_it(store):
    table = loaded(store)
    choice = Choice("block_M", "block_N", "num_stages")
    frame = heatmap_frame(table, choice)
    for ordinal in (0, 71, 103):
        place = place_of(table, choice, ordinal)
        config = table.configs[ordinal]
        assert place == tuple(str(config[name]) for name in ("block_M", "block_N", "num_stages"))
    assert axis_of(table, choice, frame, "2") == "x" and axis_of(table, choice, frame, "4") == "x3"
    assert place_of(table, Choice("block_M", "block_N", fixed={"threads": "128"}), 71) is None
    assert place_of(table, MAP, 10_000) is None


def test_the_best_stays_named_with_small_multiples_and_where_it_is_in_no_cell(store):
    table = loaded(store)
    assert "panel num_stages=4, block_M=128 block_N=256" in best_words(table, Choice("block_M", "block_N", "num_stages"))
    assert best_words(table, MAP).endswith(": block_M=128 block_N=256")
    held = Choice("block_M", "block_N", fixed={"threads": "128", "block_K": "64"})
    assert best_words(table, held).endswith("it has threads=256, so it is in no cell here")


def test_the_panel_of_the_best_is_drawn_where_there_are_more_values_than_panels(store):
    values = {**sweep_examples.VALUES, "block_M": (128,), "block_K": (64,), "num_stages": tuple(range(-7, 5))}
    table = loaded(store, values=values)
    choice = Choice("threads", "block_N", "num_stages")
    drawn = panels(table, choice)
    assert len(drawn) == MOST_PANELS and drawn[-1] == "4" == table.knobs.at[table.best(0), "num_stages"]
    assert f"Only {MOST_PANELS} of 12 values of num_stages have a panel" in caption(table, choice, heatmap_frame(table, choice))


def test_a_corner_that_is_pruned_whole_says_by_what(store):
    table = loaded(store)
    said = "1 cell is pruned whole (block_M=256 block_N=256), 12 of 12 configs: shared memory 262,144 B is over the 232,448 B"
    assert corner_words(table, MAP).startswith(said)
    assert corner_words(table, Choice("block_M", "block_N", "num_stages")).startswith("3 cells are pruned whole (the first is block_M=256")
    assert corner_words(table, Choice("block_M", "block_K")) == ""
    assert [c.values for c in corners.least_corners(table, 0)] == [{"block_M": "256", "block_N": "256"}]
    found = cell(heatmap_frame(table, MAP), "256", "256")
    assert found["told"].startswith("block_M=256 block_N=256: 12 of 12 pruned\nshared memory 262,144 B")
