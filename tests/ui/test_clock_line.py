"""The line of the SM clock: whose it is, what held it back, and the sentence over it."""

from tests.ui import examples
from tileviz.ui.charts import style
from tileviz.ui.charts.clocks import clocks_figure, clocks_frame
from tileviz.ui.explore.clock_line import words

STEADY = {"sm_clock_mhz": 1980.0, "sm_clocks_mhz": (1980.0,) * 4}
CAPPED = {
    "sm_clock_mhz": 1900.0,
    "sm_clocks_mhz": (1980.0, 1900.0, 1900.0, 1755.0),
    "clock_limits": ((1, 2, "power cap"), (3, 3, "power cap, power brake")),
}


def timed():
    other = examples.baseline("eager", "PyTorch <eager>", 5100.0, 3200.0, timing=examples.timing(5100.0, **STEADY))
    return examples.trial(timing=examples.timing(3200.0, **CAPPED), baselines=(other,))


def test_ours_and_each_baseline_have_a_line_over_the_same_width():
    frame = clocks_frame(timed())
    assert frame.groupby("name", sort=False)["at"].agg(["min", "max"]).to_numpy().tolist() == [[0, 1], [0, 1]]
    assert list(frame["role"].unique()) == ["ours", "best baseline"]


def test_readings_that_were_held_back_are_marked_by_what_held_them():
    other, ours = clocks_figure(clocks_frame(timed())).data
    assert [size > 1 for size in ours.marker.size] == [False, True, True, True] and not any(size > 1 for size in other.marker.size)
    assert ours.marker.color[2] == style.OTHER_BASELINE and ours.marker.color[3] == style.FAILED
    assert ours.customdata[3] == "this config: 1,755 MHz, power cap, power brake" and other.customdata[0].startswith(
        "PyTorch &lt;eager&gt;"
    )


def test_a_steady_clock_looks_steady():
    low, high = clocks_figure(clocks_frame(examples.trial(timing=examples.timing(1.0, **STEADY), baselines=()))).layout.yaxis.range
    assert (low, high) == (1950.0, 2010.0)


def test_the_sentence_has_median_range_and_reasons():
    assert (
        words(timed().timing)
        == "SM clock 1,900 MHz median, 1,755 to 1,980; power cap in 75 % of the readings; power brake in 25 % of the readings"
    )
    assert words(examples.timing(1.0, **STEADY)) == "SM clock 1,980 MHz median"
