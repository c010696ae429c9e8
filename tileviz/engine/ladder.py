"""The architecture ladder: one config compiled for every CUDA architecture, a rung each."""

from dataclasses import dataclass
from typing import Any

from tileviz.engine import client, requests
from tileviz.engine.options import Where
from tileviz.engine.requests import Request
from tileviz.errors import BadRequest, Limitation
from tileviz.kernels import kernel as kernel_of
from tileviz.records import Artifact, Trial
from tileviz.store import Store

ARCHITECTURES = ("sm_75", "sm_80", "sm_86", "sm_89", "sm_90a", "sm_100a", "sm_120a")


@dataclass(frozen=True)
class Rung:
    """One config on one architecture: its artifact, or why there is none."""

    target: str
    request: Request | None
    artifact: Artifact | None = None
    own: bool = False
    """Whether the knobs are the kernel's own for this architecture, since the config is made for
    another."""
    reason: str = ""
    """Why it cannot be compiled, broke a rule or failed; empty while it is only not compiled
    yet."""

    @property
    def is_open(self) -> bool:
        """Whether compiling it would tell more."""
        return self.artifact is None and not self.reason


def rungs(
    store: Store, kernel: str, problem: dict[str, Any], config: dict[str, Any]
) -> tuple[Rung, ...]:
    """Every rung as the store knows it now. Values are taken over as they are, also where another
    architecture has other defaults; but a config with a choice that is made for other architectures
    gives way to the kernel's own."""
    return tuple(_rung(store, target, kernel, problem, config) for target in ARCHITECTURES)


def climb(store: Store, steps: tuple[Rung, ...]) -> list[str]:
    """Submits what is not compiled yet, and gives the jobs' ids."""
    return [
        client.submit(store, rung.request)
        for rung in steps
        if rung.is_open and rung.request is not None
    ]


def elsewhere(
    kernel: str, problem: dict[str, Any], config: dict[str, Any], target: str
) -> tuple[Request, bool]:
    """(what compiles a config on another architecture, whether its knobs are the kernel's own
    there). Raises BadRequest, Limitation."""
    knobs = kernel_of(kernel).knobs
    own = any(
        config.get(knob.name, knob.default) not in knob.offered(target)
        for knob in knobs
        if knob.only
    )
    given = {name: value for name, value in config.items() if "." in name} if own else config
    return requests.resolve(
        kernel, problem, given, kind="compile", where=Where(target, devices=[])
    ), own


def _rung(
    store: Store, target: str, kernel: str, problem: dict[str, Any], config: dict[str, Any]
) -> Rung:
    try:
        request, own = elsewhere(kernel, problem, config, target)
    except (BadRequest, Limitation) as error:
        return Rung(target, None, reason=error.message)
    if request.unsupported:
        return Rung(target, request, reason=request.unsupported)
    artifact = store.artifact(request.key, complete=True)
    if artifact is not None:
        return Rung(target, request, artifact, own)
    if request.broken:
        return Rung(target, request, None, own, "; ".join(request.broken))
    return Rung(target, request, None, own, _failure(store.latest(request.key)))


def _failure(trial: Trial | None) -> str:
    if trial is None or trial.status == "ok" or trial.status == "cancelled":
        return ""
    return f"{trial.status.replace('_', ' ')}: {trial.reason}"
