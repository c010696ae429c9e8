"""A trial as text."""

from dataclasses import replace

from tileviz.cli import tables
from tileviz.measured import BaselineResult, Comparison, Determinism, Roofline, Timing, Verdict
from tileviz.records import Resources, SharedBytes, Trial

TRIAL = Trial(
    trial="abc123",
    kernel="gemm",
    problem={"M": 512, "dtype": "float32", "causal": False, "scale": None},
    config={"block_M": 64, "enable_swizzle": True},
    target="cpu",
    device="cpu",
    status="ok",
    verdict=Verdict(ok=True, rel_error=3.14159e-7, max_abs_error=2e-5, wrong_fraction=0.0),
    timing=Timing(samples_us=(11000.0, 11500.0, 12000.0), timer="perf_counter", l2="n/a"),
    tflops=0.0234,
    gbps=1234.5,
    roofline=Roofline("memory", 0.771, "4.80 TB/s, datasheet"),
    artifact="k1",
)


def test_sizes_and_knobs_are_spelled_as_they_are_typed():
    text = tables.trial_text(TRIAL)
    assert "M=512 dtype=float32 causal=false" in text
    assert "block_M=64 enable_swizzle=true" in text
    assert "scale" not in text


def test_a_right_result_shows_its_errors_and_its_time_with_spread():
    text = tables.trial_text(TRIAL)
    assert "right: relative error 3.14e-07" in text
    assert "median 11.5 ms, p10 11.1 ms, p90 11.9 ms of 3 (perf_counter)" in text


def test_rates_have_a_unit_that_suits_them():
    assert tables.rate_text(TRIAL) == "23.4 GFLOPS, 1.23 TB/s, 77.1 % of the memory ceiling (4.80 TB/s, datasheet)"


def test_a_wrong_result_says_where_and_never_rounds_to_zero_percent():
    verdict = Verdict(ok=False, rel_error=0.5, max_abs_error=3.0, wrong_fraction=0.00000012, worst_index=(3, 4))
    text = tables.trial_text(replace(TRIAL, status="wrong_result", reason="8 of 104 columns never written (96-103)", verdict=verdict))
    assert "WRONG RESULT: 8 of 104 columns never written (96-103)" in text
    assert "WRONG: 1.2e-05 % of the elements, worst at [3, 4]" in text


def test_a_result_that_wavers_says_how_much_of_it():
    wavers = replace(TRIAL.verdict, determinism=Determinism(10, 1234))
    assert "repeats    1,234 elements differ between 10 launches" in tables.trial_text(replace(TRIAL, verdict=wavers))
    assert "1 element differs between 5" in tables.determinism_text(replace(wavers, determinism=Determinism(5, 1)))
    assert "repeats" not in tables.trial_text(TRIAL), "a trial of an earlier version was not launched again"


def test_a_failed_trial_has_its_reason_and_no_empty_lines():
    failed = Trial("x", "gemm", {"M": 1}, {"block_M": 64}, "sm_90a", None, "pruned", reason="too much shared memory")
    text = tables.trial_text(failed)
    assert "pruned: too much shared memory" in text
    assert "sm_90a, compiled only" in text
    assert all(line.strip() for line in text.splitlines())
    assert "verdict" not in text and "time " not in text


def test_an_implausible_or_throttled_or_tiny_time_is_marked():
    timing = replace(TRIAL.timing, implausible="faster than the memory allows", launch_bound=True, throttled=True)
    text = tables.timing_text(timing)
    assert "faster than the memory allows" in text and "launch-bound" in text and "throttled" in text


def test_resources_name_what_the_target_has():
    found = Resources(
        registers=168,
        spill_bytes=0,
        shared_bytes=SharedBytes(1024, 98304),
        threads_launched=384,
        occupancy=0.1875,
        occupancy_limiter="registers",
    )
    text = tables.resources_text(replace(TRIAL, resources=found))
    assert text == "168 registers a thread, 0 B spilled, shared memory 99,328 B, 384 threads a block, occupancy 19 % (limited by registers)"


def test_a_baseline_says_how_much_faster_ours_is_or_why_it_has_no_time():
    ran = BaselineResult(
        "eager",
        "PyTorch eager",
        "ok",
        timing=Timing((23000.0,), "perf_counter", "n/a"),
        comparison=Comparison("faster", 2.0, 1.9, 2.1),
        speedup=2.0,
        verdict=Verdict(ok=True, rel_error=4.5e-7, max_abs_error=1e-5, wrong_fraction=0.0),
    )
    missing = BaselineResult("cudnn", "SDPA cuDNN", "unsupported", reason="needs a GPU")
    lines = tables.baseline_lines(replace(TRIAL, baselines=(ran, missing)))
    assert "23.0 ms, ours is 2.00 times as fast as it (1.90 to 2.10), relative error 4.50e-07" in lines[1]
    assert "unsupported: needs a GPU" in lines[2]


def test_the_precision_of_the_products_is_said():
    assert "  math       TF32\n" in tables.trial_text(TRIAL, math_mode="TF32")
    assert "math" not in tables.trial_text(TRIAL)
