"""What a compile's result means for its trial: that it may be launched, or why a launch could only fail."""

from dataclasses import replace

from tileviz.compiler import targets
from tileviz.compiler.resources import no_room
from tileviz.lens.stops import stops
from tileviz.records import Artifact, Trial


def with_code(trial: Trial, artifact: Artifact, seconds: dict[str, float]) -> Trial:
    """The trial with what its code takes and holds; its status is no longer ok where `outcome` finds that no launch can work."""
    status, reason = outcome(artifact)
    taken = {"artifact": artifact.key, "resources": artifact.resources, "instructions": artifact.instructions, "seconds": seconds}
    return replace(trial, **taken, status=status, reason=reason)


def outcome(artifact: Artifact) -> tuple[str, str]:
    """(status, reason): `launch_failed` where no block fits on an SM, `unsupported` where the code stops itself, else `ok`."""
    if reason := no_room(artifact.resources, targets.target(artifact.target)):
        return "launch_failed", reason
    if reason := stops(artifact.ptx or "", artifact.target):
        return "unsupported", reason
    return "ok", ""
