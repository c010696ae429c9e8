"""What a number is promised to hold, on a real GPU: against Nsight Compute, against itself, against the flush."""

import pytest

from benchmarks import accuracy, flush
from benchmarks.works import add, nothing, product
from tileviz.bench import ncu, turns
from tileviz.bench.clocks import ClockWatch
from tileviz.bench.pick_timer import pick_timer
from tileviz.bench.statistics import compare
from tileviz.bench.timers import time_callable
from tileviz.errors import RuntimeFailed, ToolMissing

pytestmark = pytest.mark.gpu

DEVICE = "cuda:0"


@pytest.fixture
def timer():
    try:
        return pick_timer(DEVICE, "cupti")
    except ToolMissing as missing:
        pytest.skip(missing.message)


def test_a_no_op_reads_under_two_microseconds(timer):
    assert 0 < time_callable(nothing().make(DEVICE), timer).median_us < 2


def test_a_memory_bound_kernel_of_4_million_elements_pays_for_a_write_flush():
    row = flush.measure(add(22), DEVICE, {mode: pick_timer(DEVICE, flush=mode) for mode in flush.MODES}, 40)
    assert row["write"] > 1.05 * row["read"]


def test_two_runs_agree_within_one_percent_as_a_ratio_and_three_absolutely(timer):
    ours, theirs = product(4096, 4096, 4096).make(DEVICE), product(4096, 4096, 4096, "bfloat16").make(DEVICE)

    def once():
        entrants = {
            name: turns.Entrant(run, time_callable(run, timer, clocks=ClockWatch(DEVICE))) for name, run in (("", ours), ("theirs", theirs))
        }
        found = turns.in_turn("", entrants, timer, turns.GPU_TURNS, watch=lambda: ClockWatch(DEVICE))
        return found[""].median_us, compare(found[""], found["theirs"]).ratio

    (us, ratio), (again_us, again_ratio) = once(), once()
    assert again_ratio == pytest.approx(ratio, rel=0.01)
    assert again_us == pytest.approx(us, rel=0.03)


@pytest.mark.slow
def test_twenty_kernels_agree_with_nsight_compute(tmp_path, timer):
    if ncu.is_available():
        pytest.skip(ncu.is_available())
    command = accuracy.target_command(DEVICE)
    try:
        profiled = accuracy.theirs(ncu.profile(command, ncu.metrics(only_duration=True), env=accuracy.environment()))
    except RuntimeFailed as failure:
        if failure.message == ncu.PERMISSION:
            pytest.skip(failure.message)
        raise
    rows = accuracy.compared(accuracy.ours(DEVICE, timer), profiled)
    assert len(rows) == 21 and all(row["within"] for row in rows), accuracy.table(rows, timer.name)
