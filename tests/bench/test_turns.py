"""Measuring in turn, on scripted clocks: drift cancels, throttled visits are measured again, every sample is kept."""

from dataclasses import replace

import pytest

from tileviz.bench.clocks import Reading
from tileviz.bench.timers import Timer
from tileviz.bench.turns import AGAIN, ENOUGH, Entrant, TurnPlan, in_turn, steady
from tileviz.measured import Timing

OURS = ""
PLAN = TurnPlan(seconds=1.0)


class Drifting(Timer):
    """A device that slows down as it runs: each call of run gives its microseconds at full clock."""

    name = "scripted"
    has_l2 = True

    def __init__(self, slower_each_second=0.0):
        self.seconds, self.slower, self.order = 0.0, slower_each_second, []

    def now(self):
        return self.seconds

    def settle(self, run, count):
        self._spend(run() * count)

    def sample(self, run, count, l2="cold"):
        out = []
        for _ in range(count):
            out.append(run() * (1 + self.slower * self.seconds))
            self._spend(out[-1])
        self.order.append(run())
        return out

    def _spend(self, us):
        self.seconds += us / 1e6


class Watch:
    """Reads the clocks of a script, a visit each."""

    def __init__(self, reading):
        self.readings = [reading]

    def __enter__(self):
        return self

    def __exit__(self, *failure):
        return None


def first(us, n=50):
    return Timing((us,) * n, "scripted", "cold", stop_reason="median known to 0.10 %, target 0.5 %", flush="read")


def entrant(us):
    return Entrant(lambda: us, first(us))


def reading(mhz=1980.0, reasons=0):
    return Reading(mhz, 3201.0, 500.0, 60.0, reasons)


def test_a_drifting_clock_meets_all_alike():
    timer = Drifting(slower_each_second=0.2)
    alone = sum(timer.sample(lambda: 200.0, 2000)) / 2000, sum(timer.sample(lambda: 200.0, 2000)) / 2000
    assert alone[1] / alone[0] > 1.05
    found = in_turn(OURS, {OURS: entrant(200.0), "eager": entrant(200.0)}, Drifting(slower_each_second=0.2), PLAN)
    assert found["eager"].median_us / found[OURS].median_us == pytest.approx(1, abs=0.005)


def test_turns_alternate_and_begin_with_another_each_round():
    timer = Drifting(slower_each_second=5.0)
    in_turn(OURS, {OURS: entrant(100.0), "a": entrant(110.0), "b": entrant(120.0)}, timer, replace(PLAN, rounds=3))
    assert timer.order == [100.0, 110.0, 120.0, 110.0, 120.0, 100.0, 120.0, 100.0, 110.0]


def test_with_enough_samples_in_turn_they_alone_are_the_timing_and_the_first_ones_are_kept():
    found = in_turn(OURS, {OURS: entrant(100.0), "eager": entrant(150.0)}, Drifting(), PLAN)
    ours = found[OURS]
    assert ours.n >= ENOUGH and ours.earlier_us == (100.0,) * 50
    assert ours.note.startswith("measured in turn with 1 other, 4 rounds") and ours.stop_reason.startswith(
        "every median in turn known to 0.5 %"
    )
    assert (ours.timer, ours.l2, ours.flush) == ("scripted", "cold", "read")


def test_with_few_samples_in_turn_they_join_the_first_ones():
    slow = replace(first(60_000.0, n=20))
    found = in_turn(OURS, {OURS: Entrant(lambda: 60_000.0, slow), "eager": entrant(70_000.0)}, Drifting(), PLAN)
    assert 20 < found[OURS].n < 40 and found[OURS].earlier_us == () and found[OURS].stop_reason == slow.stop_reason


def test_the_budget_ends_the_turns():
    timer = Drifting(slower_each_second=1.0)
    found = in_turn(OURS, {OURS: entrant(2000.0), "a": entrant(2100.0), "b": entrant(2200.0)}, timer, PLAN)
    assert timer.seconds < 1.2 and found[OURS].stop_reason.startswith("cap of 1 s in turn, median known to")


def test_what_is_far_slower_sits_out_and_alone_there_are_no_turns():
    found = in_turn(OURS, {OURS: entrant(100.0), "near": entrant(200.0), "far": entrant(400.0)}, Drifting(), PLAN)
    assert set(found) == {OURS, "near"}
    assert in_turn(OURS, {OURS: entrant(100.0), "far": entrant(400.0)}, Drifting(), PLAN) == {}
    assert in_turn(OURS, {"eager": entrant(100.0)}, Drifting(), PLAN) == {}


def test_a_round_of_seconds_is_not_begun():
    timer = Drifting()
    assert in_turn(OURS, {OURS: entrant(3e6), "eager": entrant(3e6)}, timer, PLAN) == {} and timer.seconds == 0


@pytest.mark.parametrize(
    ("odd", "why"),
    [(reading(reasons=0x40), "thermal slowdown by hardware"), (reading(mhz=1500.0), "SM clock 1,500 MHz")],
)
def test_a_throttled_or_slow_visit_is_measured_again_and_noted(odd, why):
    script = [reading()] * 4 + [odd] + [reading()] * 40
    readings, paused = iter(script), []
    found = in_turn(
        OURS, {OURS: entrant(100.0), "eager": entrant(150.0)}, Drifting(), PLAN, watch=lambda: Watch(next(readings)), pause=paused.append
    )
    odd_one = next(t for t in found.values() if "again" in t.note)
    assert odd_one.note.endswith(f"once again, {why}") and len(paused) == 1
    assert odd_one.sm_clock_mhz == 1980.0 and odd_one.throttled is False
    assert len(odd_one.earlier_us) > 50


def test_a_card_that_stays_throttled_is_measured_again_three_times_and_no_more():
    paused = []
    watch = lambda: Watch(reading(reasons=0x8))
    found = in_turn(OURS, {OURS: entrant(100.0), "eager": entrant(150.0)}, Drifting(), PLAN, watch=watch, pause=paused.append)
    assert len(paused) == 2 * AGAIN and found[OURS].throttled and "3 times again, hardware slowdown" in found[OURS].note


def test_a_power_cap_is_recorded_and_never_measured_again():
    found = in_turn(OURS, {OURS: entrant(100.0), "eager": entrant(150.0)}, Drifting(), PLAN, watch=lambda: Watch(reading(reasons=0x4)))
    assert found[OURS].throttle_reasons == ("power cap",) and not found[OURS].throttled and "again" not in found[OURS].note


def test_a_first_timing_under_a_slowdown_is_taken_again_and_its_samples_are_kept():
    hot = replace(first(130.0), throttled=True, throttle_reasons=("thermal slowdown by hardware",))
    script, paused = iter([hot, hot, first(100.0)]), []
    timing = steady(lambda: next(script), pause=paused.append)
    assert timing.median_us == 100.0 and timing.earlier_us == (130.0,) * 100 and len(paused) == 2
    assert timing.note == "measured again 2 times: thermal slowdown by hardware"
    stubborn = steady(lambda: hot, pause=paused.append)
    assert stubborn.note.endswith("; still so") and stubborn.note.startswith("measured again 3 times")
    assert steady(lambda: first(100.0)).note == ""
