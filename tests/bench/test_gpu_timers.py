"""The timers for CUDA devices: reasons where there is none, and, on a GPU, the claims of the flush and of both timers."""

import sys

import pytest
import torch

from tileviz.bench import gpu_timers
from tileviz.bench.flush import Flush
from tileviz.bench.gpu_timers import CudaEvents, Cupti
from tileviz.bench.timers import GPU_PLAN, empty_kernel_us, time_callable
from tileviz.errors import UnknownName

without_a_gpu = pytest.mark.skipif(torch.cuda.is_available(), reason="this machine has a CUDA device")


@without_a_gpu
@pytest.mark.parametrize("timer", [Cupti(), CudaEvents()], ids=lambda t: t.name)
def test_without_a_gpu_the_reason_is_given(timer):
    assert timer.is_available() == "no CUDA device that PyTorch can use"


def test_a_missing_cupti_says_what_to_install(monkeypatch):
    monkeypatch.setattr(gpu_timers.importlib.util, "find_spec", lambda name: None)
    gpu_timers._cupti_problem.cache_clear()
    assert "pip install -r requirements-gpu.txt" in gpu_timers._cupti_problem("cuda:0")
    gpu_timers._cupti_problem.cache_clear()


def test_a_cupti_that_does_not_start_names_the_library_path(monkeypatch):
    monkeypatch.setattr(gpu_timers.importlib.util, "find_spec", lambda name: True if name == "cupti" else None)
    monkeypatch.setattr(gpu_timers, "_cupti", lambda: (_ for _ in ()).throw(ImportError("libcupti.so.13: cannot open")))
    monkeypatch.setattr(gpu_timers, "libcupti_paths", lambda: ["/opt/nvidia/cu13/lib/libcupti.so.13"])
    gpu_timers._cupti_problem.cache_clear()
    problem = gpu_timers._cupti_problem("cuda:0")
    gpu_timers._cupti_problem.cache_clear()
    assert "libcupti.so.13: cannot open" in problem and "LD_LIBRARY_PATH=/opt/nvidia/cu13/lib" in problem


def test_an_unknown_flush_says_what_exists():
    with pytest.raises(UnknownName, match="no flush 'wipe'; known: none, read, write"):
        Flush("cuda:0", "wipe")


def test_importing_the_timers_imports_no_torch():
    import subprocess

    code = "import sys, tileviz.bench.gpu_timers, tileviz.bench.baselines, tileviz.bench.verify; assert 'torch' not in sys.modules"
    assert subprocess.run([sys.executable, "-c", code]).returncode == 0


def usable(timer):
    reason = timer.is_available()
    if reason:
        pytest.skip(reason)
    return timer


def adding(elements):
    a, b = (torch.randn(elements, device="cuda") for _ in range(2))
    c = torch.empty_like(a)
    return lambda: torch.add(a, b, out=c)


@pytest.mark.gpu
def test_a_kernel_that_does_nothing_reads_under_two_microseconds():
    assert empty_kernel_us(usable(Cupti())) < 2.0


@pytest.mark.gpu
@pytest.mark.parametrize("make", [Cupti, CudaEvents])
def test_a_big_sum_runs_at_a_rate_that_memory_can_have(make):
    timing = time_callable(adding(1 << 26), usable(make()))
    tbps = 3 * 4 * (1 << 26) / timing.median_us / 1e6
    assert 0.2 < tbps < 9 and timing.n >= 50 and timing.p90_us < 1.5 * timing.p10_us


@pytest.mark.gpu
def test_reading_before_the_launch_costs_the_kernel_less_than_writing():
    run = adding(1 << 22)
    read = time_callable(run, usable(Cupti(flush="read")), GPU_PLAN).median_us
    write = time_callable(run, usable(Cupti(flush="write")), GPU_PLAN).median_us
    assert write > 1.05 * read


@pytest.mark.gpu
def test_a_cold_l2_is_slower_than_a_warm_one_where_the_data_fits():
    run, timer = adding(1 << 19), usable(Cupti())
    assert time_callable(run, timer, l2="cold").median_us > 1.2 * time_callable(run, timer, l2="warm").median_us


@pytest.mark.gpu
def test_everything_that_one_call_launches_is_counted_and_named():
    run, timer = adding(1 << 24), usable(Cupti())
    one = time_callable(run, timer).median_us
    two = time_callable(lambda: (run(), run()), timer).median_us
    assert 1.7 < two / one < 2.3
    assert len(timer.kernel_names(run)) == 1


@pytest.mark.gpu
def test_the_two_timers_agree_on_a_long_kernel():
    run = adding(1 << 27)
    cupti, events = time_callable(run, usable(Cupti())).median_us, time_callable(run, usable(CudaEvents())).median_us
    assert abs(events - cupti) < 0.03 * cupti + 6
