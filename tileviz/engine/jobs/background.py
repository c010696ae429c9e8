"""What the engine asks of its children for itself: facts of a device, and the precompiled header of
an architecture."""

from dataclasses import dataclass, replace

from tileviz.engine.processes.reports import Report, quiet
from tileviz.records import Device


@dataclass(frozen=True)
class FactsJob:
    """What only the device itself tells: SMs, L2, shared memory. Runs in the measure lane."""

    device: Device

    def __call__(self, report: Report = quiet) -> Device:
        from tileviz.bench import facts

        return replace(
            self.device,
            facts={**self.device.facts, **facts.torch_facts(int(self.device.id.partition(":")[2]))},
        )


@dataclass(frozen=True)
class HeaderJob:
    """Makes NVRTC's precompiled header of one architecture; every later child of the same fork
    server uses it."""

    target: str

    def __call__(self, report: Report = quiet) -> bool:
        from tileviz.compiler import runtime

        return runtime.prepare(self.target)
