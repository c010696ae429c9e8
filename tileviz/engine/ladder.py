"""The architecture ladder: one config compiled for every CUDA architecture, a rung each."""

from dataclasses import dataclass
from typing import Any

from tileviz.engine import client, requests
from tileviz.engine.requests import Request
from tileviz.errors import BadRequest, Limitation
from tileviz.records import Artifact, Trial
from tileviz.store import Store

ARCHITECTURES = ("sm_75", "sm_80", "sm_86", "sm_89", "sm_90a", "sm_100a", "sm_120a")


@dataclass(frozen=True)
class Rung:
    """One config on one architecture: its artifact, or why there is none."""

    target: str
    request: Request | None
    artifact: Artifact | None = None
    reason: str = ""
    """Why it cannot be compiled, broke a rule or failed; empty while it is only not compiled yet."""

    @property
    def is_open(self) -> bool:
        """Whether compiling it would tell more."""
        return self.artifact is None and not self.reason


def rungs(store: Store, kernel: str, problem: dict[str, Any], config: dict[str, Any]) -> tuple[Rung, ...]:
    """Every rung as the store knows it now. Values are taken over as they are, also where another architecture has other defaults."""
    return tuple(_rung(store, target, kernel, problem, config) for target in ARCHITECTURES)


def climb(store: Store, steps: tuple[Rung, ...]) -> list[str]:
    """Submits what is not compiled yet, and gives the jobs' ids."""
    return [client.submit(store, rung.request) for rung in steps if rung.is_open and rung.request is not None]


def _rung(store: Store, target: str, kernel: str, problem: dict[str, Any], config: dict[str, Any]) -> Rung:
    try:
        request = requests.resolve(kernel, problem, config, kind="compile", target=target, devices=[])
    except (BadRequest, Limitation) as error:
        return Rung(target, None, reason=error.message)
    if request.unsupported:
        return Rung(target, request, reason=request.unsupported)
    artifact = store.artifact(request.key, complete=True)
    if artifact is not None:
        return Rung(target, request, artifact)
    if request.broken:
        return Rung(target, request, reason="; ".join(request.broken))
    return Rung(target, request, reason=_failure(store.latest(request.key)))


def _failure(trial: Trial | None) -> str:
    if trial is None or trial.status == "ok" or trial.status == "cancelled":
        return ""
    return f"{trial.status.replace('_', ' ')}: {trial.reason}"
