"""Frames and figures: what stands on a chart, from records alone."""

from tests.ui import examples
from tileviz.ui.charts import style
from tileviz.ui.charts.latency import fastest_baseline, latency_figure, latency_frame
from tileviz.ui.charts.samples import GL_FROM, samples_figure, samples_frame


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
    assert fastest_baseline(trial).name == "right"
    assert dict(zip(latency_frame(trial)["name"], latency_frame(trial)["role"]))["Wrong"] == "failed"


def test_an_implausible_baseline_is_never_the_fastest():
    strange = examples.baseline("strange", "Strange", 1.0, 3200.0, timing=examples.timing(1.0, implausible="too fast"))
    assert fastest_baseline(examples.trial(baselines=(strange,))) is None


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


def test_many_samples_are_drawn_by_webgl():
    assert samples_figure(samples_frame(examples.timing(81.4, n=GL_FROM + 1))).data[0].type == "scattergl"


def test_every_role_has_a_colour_of_its_own():
    assert len(set(style.COLOURS.values())) == len(style.COLOURS)
