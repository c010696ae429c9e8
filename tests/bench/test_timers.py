"""The timing loop on scripted samples, and the timers that run here."""

import random
import time

import pytest

from tileviz.bench.pick_timer import pick_timer
from tileviz.bench.timers import CPU_PLAN, PerfCounter, Plan, ScriptedTimer, empty_kernel_us, time_callable
from tileviz.errors import ToolMissing, UnknownName

PLAN = Plan(warmup=5, max_seconds=100.0)


def noisy(spread, seed=0, centre=100.0):
    generator = random.Random(seed)
    while True:
        yield generator.gauss(centre, spread)


def test_steady_samples_stop_at_the_least_number_with_the_error_reached():
    timing = time_callable(None, ScriptedTimer(noisy(0.5)), PLAN)
    assert timing.n == 50 and timing.warmup == 5 and timing.timer == "scripted" and timing.l2 == "cold"
    assert timing.stop_reason.startswith("median known to 0.") and timing.stop_reason.endswith(", target 0.5 %")


def test_noisier_samples_go_on_until_the_median_is_sure():
    timing = time_callable(None, ScriptedTimer(noisy(2.5)), PLAN)
    assert 50 < timing.n < 500 and "target 0.5 %" in timing.stop_reason


def test_wild_samples_stop_at_the_cap_and_say_so():
    timing = time_callable(None, ScriptedTimer(noisy(30)), PLAN)
    assert timing.n == 500 and timing.stop_reason.startswith("cap of 500 samples, median known to")


def test_every_sample_is_kept_in_order_outliers_too():
    script = [100.0] * 20 + [1e6] + [100.0] * 29
    timing = time_callable(None, ScriptedTimer(script), PLAN)
    assert timing.samples_us == tuple(script) and timing.median_us == 100.0


def test_a_call_of_five_seconds_is_timed_three_times_not_fifty():
    timer = ScriptedTimer(noisy(0.5), seconds_each=5.0)
    timing = time_callable(None, timer, CPU_PLAN)
    assert timing.n == 3 and timing.warmup == 1 and timing.stop_reason == "cap of 2 s after 3 samples"
    assert timer.seconds == 20.0


def test_a_call_of_a_tenth_of_a_second_stops_near_the_cap_of_seconds():
    timer = ScriptedTimer(noisy(30), seconds_each=0.1)
    timing = time_callable(None, timer, CPU_PLAN)
    assert 15 <= timing.n <= 20 and timing.stop_reason.startswith("cap of 2 s after")


def test_warm_l2_is_recorded_and_another_mode_is_refused():
    assert time_callable(None, ScriptedTimer(noisy(0.1)), PLAN, l2="warm").l2 == "warm"
    with pytest.raises(UnknownName, match="no L2 mode 'hot'; known: cold, warm"):
        time_callable(None, ScriptedTimer(noisy(0.1)), PLAN, l2="hot")


def test_what_the_clocks_saw_is_part_of_the_timing():
    class Watch:
        entered = 0

        def __enter__(self):
            self.entered += 1
            return self

        def __exit__(self, *failure):
            return None

        def seen(self):
            return {"sm_clock_mhz": 1980.0, "throttled": True, "throttle_reasons": ("power brake",)}

    watch = Watch()
    timing = time_callable(None, ScriptedTimer(noisy(0.1)), PLAN, clocks=watch)
    assert watch.entered == 1 and timing.sm_clock_mhz == 1980.0 and timing.throttled and timing.throttle_reasons == ("power brake",)


def test_the_wall_clock_timer_reads_real_time():
    timing = time_callable(lambda: time.sleep(0.002), PerfCounter(), Plan(warmup=1, max_seconds=0.2, min_samples=10, max_samples=20))
    assert 2000 <= timing.median_us < 20_000 and timing.l2 == "n/a" and timing.timer == "perf_counter"


def test_an_error_of_the_callable_passes_through():
    with pytest.raises(ZeroDivisionError):
        time_callable(lambda: 1 / 0, PerfCounter())


def test_the_floor_is_measured_once_a_timer():
    timer = PerfCounter()
    floor = empty_kernel_us(timer)
    assert 0 < floor < 50 and empty_kernel_us(timer) == floor


def test_the_cpu_gets_the_wall_clock_and_unknown_timers_say_what_exists():
    assert pick_timer("cpu").name == "perf_counter" and pick_timer("cpu", "perf_counter").name == "perf_counter"
    with pytest.raises(UnknownName, match="no timer for cpu 'cupti'; known: perf_counter"):
        pick_timer("cpu", "cupti")
    with pytest.raises(UnknownName, match="known: cuda_events, cupti"):
        pick_timer("cuda:0", "stopwatch")


def test_a_timer_that_cannot_be_used_gives_its_reason(monkeypatch):
    class Broken(PerfCounter):
        def is_available(self):
            return "the clock stands still"

    monkeypatch.setattr("tileviz.bench.pick_timer.timers_of", lambda device_id, flush="read": (Broken(),))
    with pytest.raises(ToolMissing, match="perf_counter: the clock stands still"):
        pick_timer("cpu")
