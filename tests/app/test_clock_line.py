"""The clock line on the Explore page: there where clocks were read, absent on the CPU."""

from tests.app.pages import opened, texts
from tests.ui import examples


def test_a_gpu_result_shows_its_clock_under_the_samples(store, with_h200):
    timing = examples.timing(
        180.0, timer="cupti", l2="cold", sm_clock_mhz=1900.0, sm_clocks_mhz=(1980.0, 1900.0), clock_limits=((1, 1, "power cap"),)
    )
    store.save_trial(examples.trial(device=examples.H200, timing=timing))
    app = opened()
    assert "SM clock 1,900 MHz median, 1,900 to 1,980; power cap in 50 % of the readings" in texts(app)
    assert len(app.get("plotly_chart")) == 3


def test_without_clocks_there_is_no_line(store):
    store.save_trial(examples.trial())
    app = opened()
    assert "SM clock" not in texts(app) and len(app.get("plotly_chart")) == 2
