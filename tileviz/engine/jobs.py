"""The units of work: frozen, picklable, and callable in a test, in a child of the engine, or anywhere else.

A job is called with `report(kind, value)` for what exists before it ends, and returns its result.
"""

import time
from dataclasses import dataclass, replace

from tileviz import lens
from tileviz.compiler import machine_code, pipeline, targets
from tileviz.engine.device_lock import device_lock
from tileviz.engine.reports import Report, quiet
from tileviz.engine.requests import Request
from tileviz.kernels import code as code_of
from tileviz.kernels.card import pass_configs
from tileviz.records import Artifact, Device, Trial
from tileviz.store import Store


@dataclass(frozen=True)
class CompileJob:
    """Tile program to artifact: source, PTX, cubin, SASS, resources, counts."""

    request: Request
    executable: bool = False
    """Also leave what the measure lane loads: needs a C++ compiler."""

    def __call__(self, report: Report = quiet) -> Artifact:
        request, described = self.request, code_of(self.request.kernel)
        target = targets.target(request.target)

        def on_source(artifact: Artifact) -> None:
            report("source", finished(artifact))

        def finished(artifact: Artifact) -> Artifact:
            return replace(counted(artifact), program=artifact.program or described.source)

        artifact = pipeline.compile_program(
            lambda: described.build(request.problem, request.config, target),
            target,
            described.pass_configs(request.config),
            key=request.key,
            until=request.until,
            executable=self.executable,
            report=lambda phase: report("phase", phase),
            on_source=on_source,
        )
        return finished(artifact)


@dataclass(frozen=True)
class MeasureJob:
    """Checks and times a compiled trial, then its baselines, one by one; the trial is reported after each."""

    request: Request
    trial: Trial
    measure: bool = True
    """False when the trial itself is measured and only baselines are left (the child died in one)."""
    skip: tuple[str, ...] = ()
    """Baselines that have a result already."""

    def __call__(self, report: Report = quiet) -> Trial:
        from tileviz.engine.measure import Measurement

        with device_lock(self.request.device, report):
            return Measurement(self.request, self.trial, report).run(measure=self.measure, skip=self.skip)


@dataclass(frozen=True)
class FactsJob:
    """What only the device itself tells: SMs, L2, shared memory. Runs in the measure lane."""

    device: Device

    def __call__(self, report: Report = quiet) -> Device:
        from tileviz.bench import facts

        return replace(self.device, facts={**self.device.facts, **facts.torch_facts(int(self.device.id.partition(":")[2]))})


@dataclass(frozen=True)
class HeaderJob:
    """Makes NVRTC's precompiled header of one architecture; every later child of the same nursery uses it."""

    target: str

    def __call__(self, report: Report = quiet) -> bool:
        from tileviz.compiler import runtime

        return runtime.prepare(self.target)


@dataclass(frozen=True)
class Sleep:
    """For tests: takes its time."""

    seconds: float

    def __call__(self, report: Report = quiet) -> str:
        report("phase", "sleep")
        time.sleep(self.seconds)
        return "slept"


@dataclass(frozen=True)
class Crash:
    """For tests: dies of a signal, as a segmentation fault would."""

    signal: int = 11

    def __call__(self, report: Report = quiet) -> None:
        import os

        report("phase", "crash")
        os.kill(os.getpid(), self.signal)
        time.sleep(5)


def stored_code(store: Store, request: Request) -> Artifact | None:
    """The request's code where it is stored, whole, and by the compiler that is asked for now."""
    found = store.artifact(request.key, complete=True)
    if found is None or not machine_code.is_as_asked(found.compiler, pass_configs(request.config)):
        return None
    return found


def counted(artifact: Artifact) -> Artifact:
    """The artifact with static instruction counts of every text it has."""
    texts = {"source": (artifact.source, artifact.source_language), "ptx": (artifact.ptx, "ptx"), "sass": (artifact.sass, "sass")}
    return replace(artifact, instructions={name: lens.counts(text, language) for name, (text, language) in texts.items() if text})
