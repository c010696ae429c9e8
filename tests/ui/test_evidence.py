"""Lines about baselines and measuring conditions."""

from tests.ui import examples
from tileviz.ui.evidence import baseline_lines, conditions


def test_baselines_left_out_for_one_reason_share_a_line():
    gone = {"status": "unsupported", "reason": "runs on a GPU only", "timing": None, "verdict": None}
    trial = examples.trial(
        baselines=(examples.baseline("a", "cuBLAS", 1.0, 1.0, **gone), examples.baseline("b", "cuBLASLt", 1.0, 1.0, **gone))
    )
    assert baseline_lines(trial) == ["**cuBLAS; cuBLASLt**: not compared (unsupported): runs on a GPU only"]


def test_a_baseline_that_compiled_says_for_how_long():
    trial = examples.trial(baselines=(examples.baseline("c", "torch.compile", 2000.0, 3200.0, compile_s=18.9),))
    assert "compiled in 19 s" in baseline_lines(trial)[0]


def test_a_title_with_markup_is_text():
    trial = examples.trial(baselines=(examples.baseline("c", "*<i>*", 2000.0, 3200.0),))
    assert baseline_lines(trial)[0].startswith("**\\*\\<i\\>\\***")


def test_conditions_name_timer_l2_and_clocks():
    timing = examples.timing(
        80.0, timer="cupti", l2="cold", sm_clock_mhz=1980.0, power_w=612.0, throttled=True, throttle_reasons=("hw slowdown",)
    )
    assert conditions(timing) == "timer cupti, L2 cold, 1,980 MHz SM, 612 W, throttled (hw slowdown)"


def test_clocks_that_were_not_read_are_said_to_be_so():
    assert conditions(examples.timing(80.0)) == "timer perf_counter, L2 n/a, clocks not read"
