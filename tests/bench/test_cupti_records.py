"""Activity records become one duration a launch, without the flush; the collector is tried on records of a made-up library."""

import enum
from types import SimpleNamespace

import pytest

from tileviz.bench import gpu_timers
from tileviz.bench.cupti_records import Records, Work, durations_us, kernel_names
from tileviz.errors import RuntimeFailed


def launches(count=3, kernels=2):
    """A flush of the same name as the kernel, then `kernels` kernels of the launch, for each sample."""
    records = Records()
    clock = 1_000
    for sample in range(count):
        flush, base = 1000 + sample, 10 * sample
        records.calls.append((clock - 100, flush))
        records.work.append(Work(clock, clock + 50_000, flush, "reduce_kernel"))
        clock += 60_000
        records.windows.append((clock, clock + 30))
        for k in range(kernels):
            records.calls.append((clock + 10 + k, base + k))
            records.external[base + k] = sample
            records.work.append(Work(clock + 100 + 2000 * k, clock + 1100 + 2000 * k, base + k, "reduce_kernel"))
        clock += 10_000
    return records


def test_a_sample_is_the_sum_of_what_its_call_launched_and_the_flush_is_left_out():
    assert durations_us(launches(3, kernels=2)) == [2.0, 2.0, 2.0]


def test_without_external_records_the_time_of_the_api_call_tells():
    records = launches(3, kernels=2)
    records.external.clear()
    assert durations_us(records) == [2.0, 2.0, 2.0]


def test_order_of_delivery_does_not_matter():
    records = launches(4)
    records.work.reverse()
    records.calls.reverse()
    assert durations_us(records) == [2.0] * 4


def test_a_launch_without_a_record_is_an_error_and_not_a_fast_kernel():
    records = launches(3)
    records.work = [w for w in records.work if w.correlation not in (10, 11)]
    with pytest.raises(RuntimeFailed, match="1 of 3 launches, first 1"):
        durations_us(records)


def test_a_launch_with_half_its_kernels_is_an_error_too():
    records = launches(3)
    records.work = [w for w in records.work if w.correlation != 21]
    with pytest.raises(RuntimeFailed, match="first 2"):
        durations_us(records)


def test_kernel_names_come_in_order_each_once():
    records = launches(1, kernels=1)
    records.external[7] = records.external[8] = 0
    records.work += [Work(500_000, 500_100, 7, "epilogue"), Work(600_000, 600_100, 8, "epilogue")]
    assert kernel_names(records) == ["reduce_kernel", "epilogue"]


class Kind(enum.IntEnum):
    MEMCPY, MEMSET, DRIVER, RUNTIME, CONCURRENT_KERNEL, EXTERNAL_CORRELATION = range(1, 7)


class MadeUpCupti:
    """Behaves as cupti-python does: records are delivered at the flush, and only of the kinds that are on."""

    ActivityKind = Kind
    ExternalCorrelationKind = SimpleNamespace(CUSTOM0=2, CUSTOM2=4)

    def __init__(self):
        self.clock, self.correlation, self.pushed, self.on, self.kept = 0, 0, [], set(), []

    def activity_register_callbacks(self, requested, completed):
        assert requested()[0] > 1 << 20
        self.completed = completed

    def activity_enable(self, kind):
        self.on.add(kind)

    def activity_disable(self, kind):
        self.on.discard(kind)

    def activity_push_external_correlation_id(self, kind, number):
        self.pushed.append((kind, number))

    def activity_pop_external_correlation_id(self, kind):
        return self.pushed.pop()[1]

    def get_timestamp(self):
        self.clock += 10
        return self.clock

    def activity_flush_all(self, forced):
        self.completed([r for r in self.kept if r.kind in self.on])
        self.kept = []

    def launch(self, ns, name):
        self.correlation += 1
        self.clock += 10
        for kind, number in self.pushed:
            self.kept.append(
                SimpleNamespace(kind=Kind.EXTERNAL_CORRELATION, external_kind=kind, external_id=number, correlation_id=self.correlation)
            )
        self.kept.append(SimpleNamespace(kind=Kind.RUNTIME, start=self.clock, end=self.clock + 5, correlation_id=self.correlation))
        self.kept.append(
            SimpleNamespace(kind=Kind.CONCURRENT_KERNEL, start=self.clock, end=self.clock + ns, correlation_id=self.correlation, name=name)
        )


@pytest.fixture
def recorded(monkeypatch):
    """(the made-up CUPTI, a timer on it, a run whose launches take 1 us, 2 us, 3 us, ...)"""
    import contextlib

    import torch

    cupti = MadeUpCupti()
    monkeypatch.setattr(gpu_timers, "_cupti", lambda: cupti)
    monkeypatch.setattr(gpu_timers._Capture, "_only", None)
    monkeypatch.setattr(torch.cuda, "synchronize", lambda: None)
    monkeypatch.setattr(torch.cuda, "device", lambda device: contextlib.nullcontext())
    timer = gpu_timers.Cupti("cuda:0")
    durations = iter(range(1000, 200_000, 1000))
    timer.flush = lambda: cupti.launch(77_000, "same_name")
    return cupti, timer, lambda: cupti.launch(next(durations), "same_name")


def test_a_session_records_all_the_time_and_keeps_the_samples_apart(recorded):
    cupti, timer, run = recorded
    with timer.session():
        on = set(cupti.on)
        assert timer.sample(run, 2) == [1.0, 2.0] and cupti.on == on != set()
        timer.settle(run, 1)
        with timer.session():
            assert timer.sample(run, 2) == [4.0, 5.0]
        assert timer.sample(run, 1, "warm") == [6.0] and cupti.on == on
    assert not cupti.on and timer.sample(run, 1) == [7.0] and not cupti.on


def test_the_collector_gives_each_launch_its_own_work(recorded):
    cupti, timer, run = recorded
    assert timer.sample(run, 3) == [1.0, 2.0, 3.0]
    assert timer.sample(run, 2, "warm") == [4.0, 5.0]
    assert timer.sample(run, 130) == [float(v) for v in range(6, 136)]
    assert not cupti.on and not cupti.pushed
    assert timer.kernel_names(run) == ["same_name"]
