"""A trial before it is measured: blank, then with its code, which may be launched, or could only
fail."""

import time
from dataclasses import replace

from tileviz.compiler import targets
from tileviz.compiler.resources import no_room
from tileviz.engine.requests import Request
from tileviz.lens.stops import stops
from tileviz.records import Artifact, Status, Trial
from tileviz.store import new_id


def blank_trial(request: Request) -> Trial:
    """The trial of a request of which nothing is known yet."""
    return Trial(
        trial=new_id(),
        kernel=request.kernel,
        problem=request.problem,
        config=request.config,
        target=request.target,
        device=request.device,
        status="ok",
        key=request.key,
        inputs=request.inputs,
        seed=request.seed,
        created=time.time(),
    )


def with_code(trial: Trial, artifact: Artifact, seconds: dict[str, float]) -> Trial:
    """The trial with what its code takes and holds; its status is no longer ok where `outcome`
    finds that no launch can work."""
    status, reason = outcome(artifact)
    taken = {
        "artifact": artifact.key,
        "resources": artifact.resources,
        "instructions": artifact.instructions,
        "seconds": seconds,
    }
    return replace(trial, **taken, status=status, reason=reason)


def outcome(artifact: Artifact) -> tuple[Status, str]:
    """(status, reason): `launch_failed` where no block fits on an SM, `unsupported` where the code
    stops itself, else `ok`."""
    if reason := no_room(artifact.resources, targets.target(artifact.target)):
        return "launch_failed", reason
    if reason := stops(artifact.ptx or "", artifact.target):
        return "unsupported", reason
    return "ok", ""
