"""The checks of the Code page for an artifact: what its code has and has not, each with the
reason."""

from tileviz.compiler import targets
from tileviz.kernels.asked import AskedKernel
from tileviz.lens.checks import Check, Code, checks
from tileviz.records import Artifact, Config, Problem


def code_of(artifact: Artifact, problem: Problem, config: Config, kernel: AskedKernel) -> Code:
    """What the checks read."""
    return Code(
        artifact.target,
        targets.target(artifact.target).capability or (0, 0),
        artifact.source,
        artifact.ptx,
        artifact.sass,
        artifact.missing,
        artifact.tensors,
        problem,
        config,
        artifact.program or kernel.source,
        artifact.resources.spill_bytes,
        artifact.resources.threads_launched,
        artifact.resources.serialized,
    )


def checked(
    artifact: Artifact, problem: Problem, config: Config, kernel: AskedKernel
) -> tuple[Check, ...]:
    """Every check, what is bad first."""
    return in_order(checks(code_of(artifact, problem, config, kernel)))


def in_order(found: tuple[Check, ...]) -> tuple[Check, ...]:
    return tuple(sorted(found, key=lambda check: check.tone != "bad"))
