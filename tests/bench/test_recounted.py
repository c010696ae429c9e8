"""Rates by another count of FLOPs, and what binds where only rates are known."""

from dataclasses import replace

import pytest

from tileviz.bench.roofline import bound_by_rates, recounted
from tileviz.measured import Roofline
from tileviz.records import Cost, Trial

COST = Cost(flops=100.0, bytes=10.0, exact_flops=110.0, exact_formula="pairs")
TRIAL = Trial("t", "k", {}, {}, "sm_90a", "cuda:0", "ok", tflops=500.0, gbps=50.0, roofline=Roofline("compute", 0.5, "989 TFLOPS", None))


def test_the_exact_count_scales_tflops_and_shares_of_arithmetic():
    found = recounted(TRIAL, COST, "exact")
    assert found.tflops == pytest.approx(550) and found.roofline.fraction == pytest.approx(0.55)
    assert found.gbps == 50.0 and found.roofline.fraction_measured is None


def test_the_stored_count_changes_nothing():
    assert recounted(TRIAL, COST, "halved") is TRIAL


def test_a_share_of_the_memory_ceiling_stays():
    memory = replace(TRIAL, roofline=Roofline("memory", 0.5))
    assert recounted(memory, COST, "exact").roofline == memory.roofline


def test_work_with_one_count_stays_as_it_is():
    assert recounted(TRIAL, Cost(flops=100.0, bytes=10.0), "exact") is TRIAL
    assert recounted(replace(TRIAL, tflops=None), COST, "exact").tflops is None


@pytest.mark.parametrize(
    ("tflops", "gbps", "bound"), [(0.37, 4430.0, "memory"), (640.0, 940.0, "compute"), (None, 9.0, "memory"), (2.0, None, "compute")]
)
def test_what_binds_follows_from_flops_a_byte(tflops, gbps, bound):
    assert bound_by_rates(tflops, gbps) == bound
