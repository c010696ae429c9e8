"""Turns CUPTI activity records into one duration a launch. Numbers in, numbers out: no GPU is needed.

A kernel record carries the correlation id of the API call that launched it. An external record ties that id to the number of the
sample, which was pushed around the call of `run` alone: so a flush, launched outside of it, never counts, whatever its kernel is called.
Where external records are missing, the API call's start time tells which sample's window it lies in.
"""

import bisect
from dataclasses import dataclass, field

from tileviz.errors import RuntimeFailed


@dataclass(frozen=True)
class Work:
    """A kernel, copy or fill on the device; times in ns of CUPTI's clock."""

    start_ns: int
    end_ns: int
    correlation: int
    name: str


@dataclass
class Records:
    """What one capture collected."""

    work: list[Work] = field(default_factory=list)
    external: dict[int, int] = field(default_factory=dict)
    """{correlation id: sample number}"""
    calls: list[tuple[int, int]] = field(default_factory=list)
    """(start in ns, correlation id) of each API call"""
    windows: list[tuple[int, int]] = field(default_factory=list)
    """(begin, end) in ns around the call of run, a sample each"""


def work_of_samples(records: Records) -> list[list[Work]]:
    """The device work that each sample's call of run launched, in the order of its start."""
    owner = records.external or _owner_by_time(records)
    samples: list[list[Work]] = [[] for _ in records.windows]
    for work in sorted(records.work, key=lambda w: w.start_ns):
        sample = owner.get(work.correlation)
        if sample is not None and 0 <= sample < len(samples):
            samples[sample].append(work)
    return samples


def durations_us(records: Records) -> list[float]:
    """Microseconds of device time of each sample: the sum over everything that one call launched.

    Raises RuntimeFailed when a sample has no record, or fewer than the others: a partial sum would read as a fast kernel.
    """
    samples = work_of_samples(records)
    most = max((len(s) for s in samples), default=0)
    short = [i for i, s in enumerate(samples) if not s or len(s) < most]
    if short:
        raise RuntimeFailed(
            f"CUPTI recorded no or too little device work for {len(short)} of {len(samples)} launches, first {short[0]};"
            " use the timer cuda_events, and no other profiler at the same time"
        )
    return [sum(w.end_ns - w.start_ns for w in sample) / 1e3 for sample in samples]


def kernel_names(records: Records) -> list[str]:
    """Names of the device work of the first sample, in order of launch, each once."""
    samples = work_of_samples(records)
    return list(dict.fromkeys(w.name for w in samples[0])) if samples else []


def _owner_by_time(records: Records) -> dict[int, int]:
    begins = [begin for begin, _ in records.windows]
    owner = {}
    for start, correlation in records.calls:
        at = bisect.bisect_right(begins, start) - 1
        if at >= 0 and start <= records.windows[at][1]:
            owner[correlation] = at
    return owner
