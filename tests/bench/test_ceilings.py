"""Ceilings measured on this machine, and the roofline with both kinds."""

import time

import pytest

from tileviz.bench import ceilings
from tileviz.bench.ceilings import Ceilings, ceilings_from_json, measure
from tileviz.bench.peaks import peaks_of
from tileviz.bench.roofline import roofline
from tileviz.measured import Timing
from tileviz.records import Cost
from tileviz.records_json import to_json

H200 = peaks_of("NVIDIA H200")
SEEN = Ceilings(
    4.28, 4 << 30, {"float16": 710.0, "float32": 52.0}, {"float16": 4096, "float32": 4096}, "cupti", 1_790_000_000.0, {"driver": "580"}
)


def cold(us):
    return Timing((us,), "cupti", "cold")


def test_the_cpu_is_measured_for_real(monkeypatch):
    monkeypatch.setattr(ceilings, "CPU_COPY_BYTES", 1 << 20)
    monkeypatch.setattr(ceilings, "CPU_SIZES", (64, 128))
    found = measure("cpu", fingerprint={"device": "a CPU"})
    assert 1e-4 < found.copy_tbps < 10 and found.copy_bytes == 1 << 20
    assert set(found.tflops) == {"float32"} and 1e-4 < found.tflops["float32"] < 10 and found.sizes["float32"] in (64, 128)
    assert found.timer == "perf_counter" and abs(found.created - time.time()) < 60 and found.fingerprint == {"device": "a CPU"}


def test_a_record_survives_json_and_half_a_record_is_none():
    assert ceilings_from_json(to_json(SEEN)) == SEEN
    assert ceilings_from_json({**to_json(SEEN), "newer": 1}) == SEEN
    assert ceilings_from_json(None) is None and ceilings_from_json({}) is None


def test_the_roofline_has_both_ceilings():
    point = roofline(Cost(1 << 28, 3 * 4 * (1 << 28)), cold(738), H200, "float32", SEEN)
    assert point.bound == "memory"
    assert point.fraction == pytest.approx(0.909, abs=0.001) and point.fraction_measured == pytest.approx(1.02, abs=0.001)
    assert point.ceiling_measured.startswith("4.28 TB/s, copy of 4 GiB measured on 20")
    point = roofline(Cost(2 * 4096**3, 3 * 2 * 4096**2), cold(202.4), H200, "float16 in, float32 accumulate", SEEN)
    assert (
        point.bound == "compute"
        and point.fraction == pytest.approx(0.686, abs=0.001)
        and point.fraction_measured == pytest.approx(0.956, abs=0.001)
    )
    assert "710 TFLOPS float16, product of 4,096^3 measured on" in point.ceiling_measured


def test_a_device_outside_the_table_has_its_measured_ceiling_alone():
    point = roofline(Cost(2 * 4096**3, 3 * 2 * 4096**2), cold(202.4), None, "float16", SEEN)
    assert point.bound == "compute" and point.fraction is None and point.fraction_measured == pytest.approx(0.956, abs=0.001)
    assert point.ceiling == "no datasheet peak is known for this device"


def test_a_mode_that_was_not_measured_has_no_share():
    point = roofline(Cost(2 * 4096**3, 3 * 4 * 4096**2), cold(500), H200, "TF32", SEEN)
    assert (
        point.fraction is not None and point.fraction_measured is None and point.ceiling_measured == "no matrix rate was measured for TF32"
    )


def test_data_that_stays_in_a_cache_is_not_set_against_memory():
    cost = Cost(1 << 20, 3 * 4 * (1 << 20))
    warm = roofline(cost, Timing((2.3,), "cupti", "warm"), H200, "float32", SEEN)
    assert warm.fraction_measured is None and warm.ceiling_measured.endswith("this data stays in a cache, which is faster")
    on_cpu = roofline(cost, Timing((100.0,), "perf_counter", "n/a"), None, "float32", Ceilings(0.04, 64 << 20, {}, {}))
    assert on_cpu.fraction_measured is None


@pytest.mark.gpu
def test_a_gpu_reaches_most_of_its_datasheet_and_never_more():
    import torch

    found = measure("cuda:0")
    peaks = peaks_of(torch.cuda.get_device_name(0))
    assert found.copy_tbps > 0.1 and {"float16", "float32"} <= set(found.tflops)
    if peaks is None:
        pytest.skip("this GPU is not in the table of datasheet peaks")
    assert 0.6 * peaks.tbps < found.copy_tbps <= peaks.tbps
    for mode, rate in found.tflops.items():
        assert 0.2 * peaks.tflops[mode] < rate <= 1.1 * peaks.tflops[mode], mode
