"""Readings of the clocks, thinned: no dip and no reason is lost."""

from tileviz.bench.clock_series import thinned
from tileviz.bench.clocks import Reading, names_of, summary
from tileviz.measured import Timing

CAP, HEAT = 0x4, 0x40


def reading(mhz, reasons=0):
    return Reading(mhz, 2619.0, 600.0, 60.0, reasons)


def test_few_readings_are_kept_as_they_are():
    found = thinned([reading(1980.0), reading(1755.0), reading(1980.0)], names_of)
    assert found == {"sm_clocks_mhz": (1980.0, 1755.0, 1980.0), "clock_limits": ()}


def test_of_many_each_share_gives_its_lowest_clock():
    readings = [reading(1980.0)] * 1000
    readings[777] = reading(1200.0, HEAT)
    found = thinned(readings, names_of)
    assert len(found["sm_clocks_mhz"]) == 60 and sorted(found["sm_clocks_mhz"])[:2] == [1200.0, 1980.0]
    assert found["clock_limits"] == ((46, 46, "thermal slowdown by hardware"),)


def test_alike_reasons_in_a_row_are_one_run():
    masks = [0, CAP, CAP, 0, CAP, CAP | HEAT]
    found = thinned([reading(1900.0, mask) for mask in masks], names_of)
    assert found["clock_limits"] == ((1, 2, "power cap"), (4, 4, "power cap"), (5, 5, "power cap, thermal slowdown by hardware"))


def test_an_idle_gpu_is_no_reason_and_a_card_that_says_nothing_gives_nothing():
    assert thinned([reading(1980.0, 0x1)], names_of)["clock_limits"] == ()
    assert thinned([reading(None), reading(None, None)], names_of) == {"sm_clocks_mhz": (), "clock_limits": ()}
    assert thinned([], names_of) == {"sm_clocks_mhz": (), "clock_limits": ()}


def test_a_timing_takes_them_as_they_are():
    timing = Timing((1.0,), "cupti", "cold", **summary([reading(1980.0), reading(1800.0, CAP)]))
    assert timing.sm_clocks_mhz == (1980.0, 1800.0) and timing.clock_limits == ((1, 1, "power cap"),)
