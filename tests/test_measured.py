"""The rule of the fastest baseline, which charts, presets and benchmark tables share."""

from dataclasses import replace

import pytest

from tileviz.measured import BaselineResult, Comparison, Timing, Verdict, fastest_baseline

RIGHT = Verdict(True, 1e-7, 1e-6, 0.0)


def baseline(name: str, us: float, **more) -> BaselineResult:
    """One that is right and compared with ours at 10 us."""
    ratio = us / 10
    values = {"verdict": RIGHT, "timing": Timing((us,) * 9, "cupti", "cold"), "comparison": Comparison("faster", ratio, ratio, ratio)}
    return BaselineResult(name, name.title(), "ok", **{**values, "speedup": ratio, **more})


SLOW = baseline("slow", 40.0)

UNFIT = {
    "failed": {"status": "runtime_failed", "reason": "out of memory"},
    "wrong": {"verdict": replace(RIGHT, ok=False)},
    "not timed": {"timing": None},
    "without a sample": {"timing": Timing((), "cupti", "cold")},
    "implausible": {"timing": Timing((1.0,), "cupti", "cold", implausible="faster than the memory allows")},
    "not compared with ours": {"comparison": None, "speedup": None},
}


def test_the_quickest_is_the_fastest_wherever_it_stands():
    quick = baseline("quick", 20.0)
    assert fastest_baseline((SLOW, quick)) == fastest_baseline([quick, SLOW]) == quick


@pytest.mark.parametrize("why", UNFIT)
def test_one_that_cannot_stand_beside_ours_is_never_the_fastest(why):
    unfit = replace(baseline("unfit", 5.0), **UNFIT[why])
    assert fastest_baseline((unfit, SLOW)) == SLOW
    assert fastest_baseline((unfit,)) is None


def test_one_whose_check_was_not_kept_counts_as_right():
    unchecked = baseline("unchecked", 20.0, verdict=None)
    assert fastest_baseline((SLOW, unchecked)) == unchecked


def test_without_baselines_there_is_no_fastest():
    assert fastest_baseline(()) is None
