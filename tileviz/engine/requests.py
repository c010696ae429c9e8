"""A request: which kernel, problem, config, target and device; completed, checked, and ready to be
a job."""

import functools
import hashlib
import os
import time
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Literal

from tileviz import settings
from tileviz.bench import facts, memory
from tileviz.bench.baselines import expanded
from tileviz.compiler import machine_code, own_files, targets, toolchain
from tileviz.engine import presets as starts
from tileviz.engine.options import ANYWHERE, RUN_S, USUAL, Measuring, Where, check_word
from tileviz.engine.processes.lanes import LACK_OF_MEMORY
from tileviz.errors import BadValue
from tileviz.kernels import kernel as kernel_of
from tileviz.kernels.asked import AskedKernel
from tileviz.records import Config, Device, Problem, Target, TunedConfig, canonical_json
from tileviz.records_json import known_fields

Until = Literal["all", "source"]
"""How far a config is compiled: to all of its texts, or to the source alone."""


@dataclass(frozen=True)
class Request(Measuring):
    """Everything a job needs to know; JSON values only. What says how it is measured is in
    `options.Measuring`."""

    kind: str
    """`compile`: code only. `run`: compile, check, time, then baselines."""
    kernel: str
    problem: Problem
    config: Config
    target: str
    device: str | None = None
    """Where it runs; None for `compile`."""
    timeout_s: float = field(default=RUN_S, kw_only=True)
    until: Until = "all"
    """`source` stops after lowering."""
    save: str | None = None
    """An .npz file for inputs and output."""
    broken: tuple[str, ...] = field(default=())
    """Rules that the config breaks: the trial is `pruned` and nothing is compiled."""
    unsupported: str = ""
    """Why the target cannot express this at all: the trial is `unsupported`."""
    preset: str = ""
    """Where knobs that were not given come from, in words; empty for the kernel's plain defaults,
    or when all were given."""

    @property
    def runs_on(self) -> str:
        """The device. Raises BadValue for a request that is only compiled."""
        if self.device is None:
            raise BadValue(f"this request of kind '{self.kind}' names no device to run on")
        return self.device

    @property
    def key(self) -> str:
        return trial_key(self.kernel, self.problem, self.config, self.target)


def resolve(
    kernel: str,
    problem: dict[str, Any] | None = None,
    config: dict[str, Any] | None = None,
    *,
    kind: str = "run",
    where: Where = ANYWHERE,
    measuring: Measuring = USUAL,
    until: Until = "all",
    presets: Iterable[TunedConfig] = (),
) -> Request:
    """Completes a request from what a person gave. Knobs that were not given come from the nearest
    of the `presets`, or else are the kernel's defaults for the target and problem.

    Raises BadRequest (UnknownName, BadValue) in one sentence; a config that breaks a rule is not an
    error but a request with `broken`.
    """
    described = kernel_of(kernel)
    devices = local_devices() if where.devices is None else where.devices
    chosen, on = _place(kind, where.target, where.device, devices)
    full_problem = described.problem(problem, chosen.kind)
    here = on or next((d for d in devices if d.target == chosen.name), None)
    full_config, tuned = starts.start(
        described, full_problem, chosen, presets, device=here.name if here else "", given=config
    )
    measuring.check()
    for name in measuring.only_baselines:
        check_word("baseline", name, baseline_names(described, on))
    cannot, broken = _limits(described, full_problem, full_config, chosen, on)
    return Request(
        kind=kind,
        kernel=kernel,
        problem=full_problem,
        config=full_config,
        target=chosen.name,
        device=on.id if on else None,
        until=until,
        broken=broken,
        unsupported=cannot,
        preset=starts.source_words(tuned, described, full_problem)
        if tuned and not set(tuned.config) <= set(config or {})
        else "",
        **replace(
            measuring,
            timeout_s=measuring.timeout_s or RUN_S,
            only_baselines=tuple(measuring.only_baselines),
        ).measured_by(),
    )


def saving(request: Request, path: str | None) -> Request:
    """The request, which keeps inputs and output in an .npz file where one is named. Raises
    BadValue for one that cannot be written."""
    if path is None:
        return request
    file = Path(path).absolute()
    if not file.parent.is_dir():
        raise BadValue(f"there is no folder {file.parent} to save into")
    if Path(path).is_dir() or file.suffix != ".npz":
        raise BadValue(f"save is '{path}'; give a file name that ends in .npz")
    return replace(request, save=str(file))


def request_from_json(doc: dict[str, Any]) -> Request:
    """The Request that a job row holds; what another version wrote beside it is left out."""
    lists = {name: tuple(doc.get(name, ())) for name in ("broken", "only_baselines")}
    return Request(**known_fields(Request, {**doc, **lists}))


def trial_key(kernel: str, problem: Problem, config: Config, target: str) -> str:
    """Content hash of what decides an artifact: the kernel's files, problem, config in canonical
    form, target, the tools with their versions, the CUDA compiler that is asked for, and our own
    files that run while it is built."""
    described, on = kernel_of(kernel), targets.target(target)
    same = described.same_code(problem, config, on)
    parts = [
        kernel,
        described.source_hash,
        problem,
        same,
        target,
        versions_tag(on),
        own_files.made_by(),
    ]
    return hashlib.sha256(canonical_json(parts).encode()).hexdigest()[:32]


TAG_S = 5.0
"""A page asks for keys many times in a run; what is installed is looked at again after this
long."""


def versions_tag(target: Target) -> str:
    """The tools that code for a target is made with, looked up once in TAG_S seconds and for each
    setting of where tools are found."""
    places = tuple(os.environ.get(name) for name in ("CXX", "PATH", "CUDA_HOME", "CUDA_PATH"))
    tag, cuda = _versions_tag((*places, settings.cuda_compiler()), int(time.monotonic() / TAG_S))
    return f"{tag}-{cuda}" if target.is_cuda else tag


@functools.lru_cache(maxsize=8)
def _versions_tag(_setting: tuple[str | None, ...], _when: int) -> tuple[str, str]:
    return toolchain.cache_tag(), machine_code.asked_for()


def local_devices() -> list[Device]:
    """GPUs first, then the CPU. One that nothing can be compiled for is `unusable`, with the
    reason."""
    return [
        replace(device, unusable=targets.why_unusable(device.target))
        for device in facts.local_devices()
    ]


def baseline_names(described: AskedKernel, device: Device | None) -> tuple[str, ...]:
    """Names of what a kernel is compared with on a device."""
    return tuple(
        baseline.name for baseline in expanded(described.baselines, device.id if device else "cpu")
    )


def with_learned(devices: Iterable[Device], stored: Iterable[Device]) -> list[Device]:
    """The devices, with what an engine has learned of each: facts that only the device itself
    tells."""
    learned = {(device.id, device.name): device for device in stored}
    return [
        replace(learned.get((device.id, device.name), device), unusable=device.unusable)
        for device in devices
    ]


def usable(devices: Iterable[Device]) -> list[Device]:
    """Those that kernels run on."""
    return [device for device in devices if not device.unusable]


def default_device(devices: list[Device]) -> Device:
    """The first that kernels run on: there is always the CPU."""
    return usable(devices)[0]


def memory_need(described, problem: Problem) -> float:
    """About how many bytes a run takes: inputs and output, and their wider copies for the
    reference."""
    return 3 * described.cost(problem).bytes


def death_words(how: str, kernel: str, problem: Problem) -> str:
    """How a measuring process died; with what the problem needs, where it may have been for lack of
    memory."""
    need = memory_need(kernel_of(kernel), problem)
    return (
        f"{how} (the problem needs about {need / 1e9:,.1f} GB with its reference)"
        if LACK_OF_MEMORY in how
        else how
    )


def memory_rule(described, problem: Problem, device: Device) -> str | None:
    """A problem whose inputs, output and reference have no room in the device's memory as it is
    now, in one sentence."""
    built_in, free = device.facts.get("memory_bytes"), memory.free_bytes(device.id)
    need = memory_need(described, problem)
    needs = f"this problem needs about {need / 1e9:,.1f} GB with its reference"
    if built_in and need > built_in:
        return f"{needs}; {device.name} has {built_in / 1e9:,.1f} GB: use smaller sizes"
    if free is not None and need > free:
        return (
            f"{needs}; {free / 1e9:,.1f} GB are free on {device.name}: use smaller"
            " sizes, or end what holds the rest"
        )
    return None


def _place(
    kind: str, target: str | None, device: str | None, devices: list[Device]
) -> tuple[Target, Device | None]:
    if kind == "compile" and device is None:
        return targets.target(target or default_device(devices).target), None
    if device is not None:
        found = next((d for d in devices if d.id == device), None)
        if found is None:
            raise BadValue(
                f"no device '{device}' here; there is {', '.join(d.id for d in usable(devices))}"
            )
        if found.unusable:
            raise BadValue(
                f"{found.id}, {found.name}, cannot be used: {found.unusable}; there is"
                f" {', '.join(d.id for d in usable(devices))}"
            )
        if target is not None and targets.target(target).name != found.target:
            raise BadValue(
                f"{found.id} runs {found.target}, not {targets.target(target).name};"
                " leave out one of target and device"
            )
        return targets.target(found.target), found
    if target is None:
        found = default_device(devices)
        return targets.target(found.target), found
    wanted = targets.target(target)
    found = next((d for d in usable(devices) if d.target == wanted.name), None)
    if found is None:
        raise BadValue(
            f"no device here runs {wanted.name}; its code can be compiled and read: use"
            " compile, or leave out the target"
        )
    return wanted, found


def _limits(
    described, problem: Problem, config: Config, target: Target, device: Device | None
) -> tuple[str, tuple[str, ...]]:
    """(why the target cannot express this at all or "", the rules that the config breaks)."""
    cannot = described.unsupported(problem, target) or ""
    broken = [] if cannot else list(described.rules(problem, config, target).broken)
    if device is not None and not cannot:
        too_big = memory_rule(described, problem, device)
        broken += [too_big] if too_big else []
    return cannot, tuple(broken)
