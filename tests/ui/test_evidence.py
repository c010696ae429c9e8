"""Lines about baselines and measuring conditions."""

from tests.ui import examples
from tileviz.ui.explore.evidence import baseline_lines, conditions, marks, shared_mode


def test_baselines_left_out_for_one_reason_share_a_line():
    gone = {"status": "unsupported", "reason": "runs on a GPU only", "timing": None, "verdict": None}
    trial = examples.trial(
        baselines=(examples.baseline("a", "cuBLAS", 1.0, 1.0, **gone), examples.baseline("b", "cuBLASLt", 1.0, 1.0, **gone))
    )
    assert [line.text for line in baseline_lines(trial)] == ["**cuBLAS; cuBLASLt**: not compared (unsupported): runs on a GPU only"]


def test_a_baseline_that_compiled_says_for_how_long():
    trial = examples.trial(baselines=(examples.baseline("c", "torch.compile", 2000.0, 3200.0, compile_s=18.9),))
    assert "compiled in 19 s" in baseline_lines(trial)[0].text


def test_a_title_with_markup_is_text():
    trial = examples.trial(baselines=(examples.baseline("c", "*<i>*", 2000.0, 3200.0),))
    assert baseline_lines(trial)[0].text.startswith("**\\*\\<i\\>\\***")


def test_conditions_name_timer_l2_and_clocks():
    timing = examples.timing(
        80.0, timer="cupti", l2="cold", sm_clock_mhz=1980.0, power_w=612.0, throttled=True, throttle_reasons=("hw slowdown",)
    )
    assert conditions(timing) == "timer cupti, L2 cold, 1,980 MHz SM, 612 W, throttled (hw slowdown)"


def test_clocks_that_were_not_read_are_said_to_be_so():
    assert conditions(examples.timing(80.0)) == "timer perf_counter, L2 n/a, clocks not read"


def test_a_cold_l2_says_how_it_was_emptied_and_a_note_how_the_samples_came_about():
    timing = examples.timing(80.0, timer="cupti", l2="cold", flush="write", floor_us=0.576, note="measured in turn with 4 others, 2 rounds")
    said = conditions(timing)
    assert "L2 cold, flushed by writing" in said and "empty kernel 0.576 \u00b5s, measured in turn with 4 others" in said
    assert "flushed" not in conditions(examples.timing(80.0, l2="warm", flush="none"))


def test_launch_bound_and_l2_resident_times_carry_a_sentence():
    assert marks(examples.timing(1.0)) == []
    bound, resident = marks(examples.timing(1.0, launch_bound=True, l2_resident=True))
    assert bound.startswith("Launch-bound") and "from L2" in resident


def test_a_mangled_kernel_is_named_readably_and_in_full_on_hover():
    mangled = "memset + _ZN2at6native29vectorized_elementwise_kernelILi4ENS0_15CUDAFunctor_addIfEESt5arrayIPcLm3EEEEviT0_T1_"
    trial = examples.trial(baselines=(examples.baseline("e", "Eager", 2000.0, 3200.0, kernel_name=mangled),))
    line = baseline_lines(trial)[0]
    assert "CUDAFunctor" in line.text and "_ZN" not in line.text.replace("\\", "")
    assert "_ZN2at6native" in line.help.replace("\\", "")


def test_a_triton_baseline_says_which_config_was_picked():
    name = "gemm (block_M=128 num_warps=8: the fastest of 10 right configs of 10)"
    trial = examples.trial(baselines=(examples.baseline("triton", "Triton", 2000.0, 3200.0, kernel_name=name, compile_s=6.0),))
    said = baseline_lines(trial)[0].text.replace("\\", "")
    assert "tuned in 6.0 s, block_M=128 num_warps=8: the fastest of 10 right configs of 10, kernel gemm" in said


def test_the_fastest_baseline_stands_first_and_a_math_mode_of_all_is_said_once():
    slow, quick = examples.baseline("s", "Slow", 9000.0, 3200.0), examples.baseline("q", "Quick", 1000.0, 3200.0)
    trial = examples.trial(baselines=(slow, quick))
    assert [line.text[:7] for line in baseline_lines(trial)] == ["**Quick", "**Slow*"]
    assert shared_mode(trial) == "float32" and "float32" not in baseline_lines(trial)[0].text
    mixed = examples.trial(baselines=(slow, examples.baseline("q", "Quick", 1000.0, 3200.0, math_mode="TF32")))
    assert shared_mode(mixed) == "" and "TF32" in baseline_lines(mixed)[0].text
