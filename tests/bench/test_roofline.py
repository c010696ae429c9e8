"""Rates and ceilings, with the test values of the notes."""

import math

import pytest

from tileviz.bench.peaks import PEAKS, peaks_of
from tileviz.bench.roofline import implausible, l2_resident, launch_bound, marked, rates, roofline, why_over
from tileviz.measured import Roofline, Timing
from tileviz.records import Cost


def timing(us, l2="cold"):
    return Timing((us,), "cupti", l2)


def gemm(M, N, K, size=2):
    return Cost(2 * M * N * K, (M * K + K * N + M * N) * size)


H200 = peaks_of("NVIDIA H200")


def test_a_gemm_of_8192_by_8192_by_256_in_89_us_is_386_tflops():
    tflops, gbps = rates(gemm(8192, 8192, 256), timing(89.056))
    assert tflops == pytest.approx(385.8, abs=0.05) and gbps == pytest.approx(1601, abs=1)


def test_mla_decode_gives_the_published_rates():
    tflops, gbps = rates(Cost(41.03e9, 205e6), timing(145))
    assert tflops == pytest.approx(283, abs=0.5) and gbps == pytest.approx(1414, abs=1)
    assert rates(Cost(41.03e9, 205e6), timing(100_160))[0] == pytest.approx(0.41, abs=0.001)


def test_softmax_has_bytes_and_no_flops():
    tflops, gbps = rates(Cost(0, 2 * 8192 * 32768 * 2), timing(358))
    assert tflops is None and gbps == pytest.approx(3000, rel=0.01)


def test_missing_samples_give_no_rate():
    assert rates(gemm(8, 8, 8), Timing((), "cupti", "cold")) == (None, None)


def test_the_ceiling_is_the_one_that_needs_more_time():
    point = roofline(gemm(8192, 8192, 8192), timing(1700), H200, "float16")
    assert point.bound == "compute" and point.fraction == pytest.approx(1111.3 / 1700, rel=1e-3)
    assert point.ceiling == "989.4 TFLOPS float16, NVIDIA H200 datasheet"
    point = roofline(Cost(1 << 28, 3 * 2 * (1 << 28)), timing(371), H200, "float16 in, float32 accumulate")
    assert point.bound == "memory" and 0.9 < point.fraction < 0.91 and point.ceiling.startswith("4.8 TB/s")


def test_without_peaks_the_bound_is_guessed_and_no_share_is_given():
    assert roofline(gemm(512, 512, 512, 4), timing(9e3), None).bound == "compute"
    point = roofline(Cost(1e6, 12e6), timing(100), None)
    assert point.bound == "memory" and point.fraction is None and point.ceiling


def test_faster_than_the_memory_is_implausible_with_a_cold_l2_only():
    cost = Cost(1 << 24, 3 * 4 * (1 << 24))
    assert "bytes alone need 41.94 us at 4.8 TB/s" in implausible(cost, timing(30), H200)
    assert implausible(cost, timing(43.9), H200) == ""
    assert implausible(cost, timing(30, "warm"), H200) == "" and l2_resident(cost, timing(30, "warm"), H200)
    assert "no time" in implausible(cost, timing(0.0), None)


def test_faster_than_the_arithmetic_is_implausible_by_the_math_mode():
    cost = gemm(4096, 4096, 4096, 4)
    assert implausible(cost, timing(400), H200, "TF32") == ""
    assert "FLOPs alone" in implausible(cost, timing(400), H200, "float32")
    assert implausible(cost, timing(100), None, "float32") == ""


def test_within_twice_an_empty_kernel_is_launch_bound():
    assert launch_bound(timing(1.9), 1.0) and not launch_bound(timing(2.1), 1.0) and not launch_bound(timing(1.0), None)
    both = marked(timing(1.5), Cost(1, 1e9), H200, "float32", 1.0)
    assert both.launch_bound and both.implausible and both.samples_us == (1.5,)


def test_every_entry_of_the_table_is_sane_and_names_its_source():
    for name, peaks in PEAKS.items():
        assert peaks.source.startswith("NVIDIA "), name
        assert 0.2 < peaks.tbps < 10 and peaks.tflops["float32"] > 5, name
        assert peaks.tflops["float16"] > peaks.tflops["float32"], name
        if "TF32" in peaks.tflops:
            assert math.isclose(peaks.tflops["float16"] / peaks.tflops["TF32"], 2, rel_tol=0.03), name
            assert peaks.tflops["bfloat16"] == peaks.tflops["float16"], name


@pytest.mark.parametrize(
    ("name", "half"),
    [
        ("NVIDIA H100 80GB HBM3", 989.4), ("NVIDIA H100 PCIe", 756), ("NVIDIA H200", 989.4), ("NVIDIA A100-SXM4-80GB", 312),
        ("NVIDIA GeForce RTX 4090", 165.2), ("Tesla T4", 65), ("NVIDIA L4", 121), ("NVIDIA B200", 2250),
    ],
)  # fmt: skip
def test_names_as_drivers_report_them_are_found(name, half):
    assert peaks_of(name).tflops["float16"] == half


def test_a_device_that_is_not_in_the_table_has_no_peaks():
    assert peaks_of("NVIDIA GeForce RTX 4090 Laptop GPU") is None
    assert peaks_of("NVIDIA A100-SXM4-40GB MIG 1g.5gb") is None and peaks_of("AMD EPYC") is None


@pytest.mark.parametrize(
    ("bound", "fraction", "measured", "words"),
    [
        ("memory", 0.93, 1.04, "faster than the copy, as many reads as writes,"),
        ("compute", 0.79, 1.01, "faster than the matrix product"),
        ("compute", 1.08, 1.3, "its rate is for the boost clock"),
        ("memory", 1.2, None, "came from a cache"),
        ("memory", 1.0, 0.99, ""),
        ("compute", None, None, ""),
    ],
)
def test_a_share_over_a_hundred_percent_is_explained_and_no_other(bound, fraction, measured, words):
    said = why_over(Roofline(bound, fraction, "", measured, ""))
    assert words in said and bool(said) == bool(words) and said.endswith("." if words else "")
