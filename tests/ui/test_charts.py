"""Frames and figures: what stands on a chart, from records alone."""

import itertools

from tests.ui import examples
from tileviz import kernels
from tileviz.measured import Timing
from tileviz.ui.charts import style
from tileviz.ui.charts.latency import latency_figure, latency_frame
from tileviz.ui.charts.samples import GL_FROM, above_axis, samples_figure, samples_frame
from tileviz.ui.charts.traffic import traffic_figure, traffic_frame


def test_ours_comes_first_then_the_fastest_baseline():
    trial = examples.trial(
        baselines=(examples.baseline("slow", "Slow", 9000.0, 3200.0), examples.baseline("quick", "Quick", 1000.0, 3200.0))
    )
    frame = latency_frame(trial)
    assert list(frame["name"]) == ["this config", "Quick", "Slow"]
    assert list(frame["role"]) == ["ours", "best baseline", "other baseline"]


def test_a_baseline_without_a_time_has_no_bar():
    missing = examples.baseline("gone", "Gone", 1.0, 1.0, status="unsupported", timing=None, verdict=None)
    assert list(latency_frame(examples.trial(baselines=(missing,)))["name"]) == ["this config"]


def test_a_wrong_baseline_is_drawn_as_failed_and_is_never_the_fastest():
    wrong = examples.baseline("wrong", "Wrong", 10.0, 3200.0, verdict=examples.right(ok=False))
    right = examples.baseline("right", "Right", 5000.0, 3200.0)
    trial = examples.trial(baselines=(wrong, right))
    assert dict(zip(latency_frame(trial)["name"], latency_frame(trial)["role"]))["Wrong"] == "failed"


def test_a_chart_never_mixes_timers():
    other = examples.baseline("other", "Other", 50.0, 3200.0, timing=examples.timing(50.0, timer="cuda_events"))
    assert list(latency_frame(examples.trial(baselines=(other,)))["name"]) == ["this config"]


def test_bars_have_whiskers_from_p10_to_p90_in_one_unit():
    trial = examples.trial(baselines=(examples.baseline("eager", "PyTorch eager", 5100.0, 3200.0),))
    bars = latency_figure(latency_frame(trial)).data[0]
    assert bars.x[-1] == trial.timing.median_us / 1000
    assert bars.x[-1] + bars.error_x.array[-1] == trial.timing.p90_us / 1000
    assert abs(bars.x[-1] - bars.error_x.arrayminus[-1] - trial.timing.p10_us / 1000) < 1e-12
    assert bars.marker.color[-1] == style.OURS


def test_names_on_a_chart_are_text():
    nasty = examples.baseline("x", "<b onclick=x>bold</b>", 5100.0, 3200.0)
    assert "&lt;b onclick" in latency_figure(latency_frame(examples.trial(baselines=(nasty,)))).data[0].y[0]


def test_every_sample_is_on_the_strip():
    timing = examples.timing(81.4, n=57)
    strip = samples_figure(samples_frame(timing)).data[0]
    assert len(strip.y) == 57
    assert strip.type == "scatter"


def test_an_outlier_leaves_the_axis_to_the_others_and_is_counted():
    frame = samples_frame(Timing((5000.0, 5100.0) * 98 + (5050.0, 150_000.0, 40_000.0, 30_000.0), "perf_counter", "n/a"))
    figure = samples_figure(frame)
    assert above_axis(frame) == "3 of 200 above the axis, highest 150 ms"
    assert len(figure.data[0].y) == 200 and list(figure.data[1].x) == [198, 199, 200]
    assert figure.layout.yaxis.range[1] < 6 and "highest" not in above_axis(samples_frame(examples.timing(81.4)))


def test_a_whisker_far_longer_than_its_bar_is_cut_and_says_so():
    wild = Timing((5000.0,) * 8 + (200_000.0,) * 2, "perf_counter", "n/a")
    figure = latency_figure(latency_frame(examples.trial(timing=wild, baselines=())))
    assert figure.layout.xaxis.range[1] < 11 and ", p90 " in figure.data[0].y[0]


def test_many_samples_are_drawn_by_webgl():
    assert samples_figure(samples_frame(examples.timing(81.4, n=GL_FROM + 1))).data[0].type == "scattergl"


def test_every_role_has_a_colour_of_its_own():
    assert len(set(style.COLOURS.values())) == len(style.COLOURS)


def test_an_empty_kernel_is_a_line_where_it_can_be_seen_and_short_times_say_so():
    near = examples.trial(timing=examples.timing(1.1, floor_us=0.6, launch_bound=True), baselines=())
    figure = latency_figure(latency_frame(near))
    assert figure.layout.shapes[0].x0 == 0.6 and "empty kernel" in figure.layout.annotations[0].text
    assert "launch-bound" in figure.data[0].y[0]
    far = latency_figure(latency_frame(examples.trial(timing=examples.timing(3200.0, floor_us=0.6), baselines=())))
    assert not far.layout.shapes and "launch-bound" not in far.data[0].y[0]


def test_traffic_has_a_column_a_level_a_bar_a_chain_and_formulas_on_hover():
    problem = {"M": 8192, "N": 4096, "K": 1024, "dtype": "float16", "epilogue": "bias_gelu_tanh"}
    found = kernels.kernel("gemm_bias_gelu").traffic(problem, {"block_M": 128, "block_N": 256, "block_K": 64})
    frame = traffic_frame(found)
    dram = frame[(frame["level"] == "dram") & (frame["chain"] == "fused")]
    assert dram["bytes"].sum() == found[-1].total("dram") and set(dram["role"]) == {"ours"}
    figure = traffic_figure(frame)
    assert [a.text for a in figure.layout.annotations] == ["<b>DRAM</b>", "<b>L2</b>", "<b>shared memory</b>", "<b>registers</b>"]
    assert "M K + K N + M N" in figure.data[0].customdata[0][2]
    assert list(figure.layout.yaxis.categoryarray) == ["one launch", "product with bias, then the activation", "a launch for each step"]


def test_softmax_moves_nothing_through_shared_memory_in_the_model():
    found = kernels.kernel("softmax").traffic({"M": 128, "N": 1000, "dtype": "float32"}, {"block_N": 1024})
    assert len(traffic_figure(traffic_frame(found)).layout.annotations) == 3


def test_one_slow_baseline_is_cut_so_that_the_others_can_be_told_apart():
    far = examples.baseline("math", "SDPA math", 90_000.0, 3200.0)
    near = examples.baseline("flash", "SDPA flash", 3000.0, 3200.0)
    figure = latency_figure(latency_frame(examples.trial(baselines=(far, near))))
    assert figure.layout.xaxis.range[1] < 15
    assert [("bar cut" in label) for label in figure.data[0].y] == [True, False, False]
    assert 90.0 in figure.data[0].x


def words_of(figure) -> list[tuple[str, dict]]:
    """(where, font) of every font that a figure tells."""
    found = []

    def look(where, part):
        for name, value in part.items() if isinstance(part, dict) else enumerate(part):
            if isinstance(value, (dict, list, tuple)):
                if str(name).endswith("font"):
                    found.append((f"{where}.{name}", value))
                look(f"{where}.{name}", value)

    drawn = figure.to_plotly_json()
    drawn["layout"].pop("template")
    look("", drawn)
    return found


def test_words_of_a_chart_are_12_px_or_more_and_in_the_colour_of_the_theme():
    trial = examples.trial(
        timing=examples.timing(1.1, floor_us=0.6, launch_bound=True), baselines=(examples.baseline("eager", "PyTorch eager", 1.2, 1.0),)
    )
    for figure in (latency_figure(latency_frame(trial)), samples_figure(samples_frame(examples.timing(81.4)))):
        fonts = words_of(figure)
        assert {where for where, _ in fonts} >= {".layout.font", ".layout.xaxis.tickfont", ".layout.xaxis.title.font"}
        assert min(font["size"] for _, font in fonts) >= 12
        assert {font["color"] for _, font in fonts} == {style.TEXT}


def test_a_logarithmic_axis_has_whole_numbers_and_no_bare_2_and_5():
    assert style.log_ticks([201, 414])["ticktext"] == ["200", "300", "400"]
    assert style.log_ticks([1, 3000])["ticktext"] == ["1", "3", "10", "30", "100", "300", "1,000", "3,000"]
    assert style.log_ticks([200, 210])["ticktext"] == ["200", "210", "220"]
    assert style.log_ticks([]) == {"type": "log"} == style.log_ticks([float("nan"), 0.0])


def test_ticks_are_never_so_many_that_they_touch_and_never_none():
    for low, far in itertools.product((1e-3, 0.7, 42.0, 8e6), (1.0, 1.01, 1.3, 2.9, 3.1, 7.0, 40.0, 1e4, 1e12)):
        ticks = style.log_ticks([low, low * far])["tickvals"]
        assert 1 <= len(ticks) <= style.MOST_TICKS and ticks == sorted(set(ticks)), (low, far, ticks)


def test_sizes_are_named_by_powers_of_two():
    assert style.size_ticks([128, 1024, 16384])["ticktext"] == ["128", "1k", "16k"]
    assert style.size_ticks([1000, 4096, 1 << 20])["ticktext"] == ["1,000", "4k", "1M"]
    many = style.size_ticks(range(512, 16384, 512))
    assert len(many["tickvals"]) <= style.MOST_TICKS + 1 and set(many["tickvals"]) <= set(range(512, 16384, 512))


def test_names_of_lines_have_a_row_each_and_no_line_goes_through_one():
    """A line goes up to its own row, through all below; a name there stands left of its own line in the right half, else right of it."""
    lines = [(0.2, "a", "#c67800"), (0.9, "b", "#848990"), (2.0, "c", "#848990"), (2.01, "d", "#848990"), (90.0, "math", "#848990")]
    shapes, notes, above = style.line_labels(lines, end=3.0)
    rows = [note["yshift"] for note in notes]
    assert all(b - a >= style.SMALL for a, b in itertools.pairwise(rows)) and above >= rows[-1] + style.SMALL / 2
    ups = {shape["x0"]: shape["y1"] for shape in shapes if shape.get("ysizemode") == "pixel"}
    assert sorted(ups) == [0.2, 0.9, 2.0, 2.01]
    for note in notes:
        beside = [x for x in ups if (x > note["x"] if note["xanchor"] == "left" else x < note["x"]) and (x > 1.5) == (note["x"] > 1.5)]
        assert all(ups[x] <= note["yshift"] for x in beside), note["text"]
    (far,) = [note for note in notes if note["text"].startswith("math")]
    assert far["text"] == "math \u2192" and far["x"] == 3.0
