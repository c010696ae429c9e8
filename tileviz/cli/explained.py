"""What a terminal says of a trial beyond its numbers, as the page does: conventions, what is slow
or surprising, and the code's checks."""

from dataclasses import dataclass

from tileviz import kernels
from tileviz.compiler import targets
from tileviz.engine.code_checks import checked
from tileviz.lens.checks import Check
from tileviz.records import Artifact, Cost, Trial
from tileviz.records_json import to_json


@dataclass(frozen=True)
class Explained:
    cost: Cost | None = None
    conventions: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    """What the rules call allowed but slow or surprising: `A: async copy: none, row stride 2,002 B
    is not a multiple of 16; ...`."""
    checks: tuple[Check, ...] = ()

    @property
    def rows(self) -> tuple[tuple[str, str], ...]:
        """A label and a sentence for each line."""
        return tuple(
            [("convention", words) for words in self.conventions]
            + [("note", words) for words in self.notes]
        )

    @property
    def document(self) -> dict:
        """For the JSON document."""
        return {
            "conventions": list(self.conventions),
            "notes": list(self.notes),
            "checks": to_json(self.checks),
        }


def explained(trial: Trial, artifact: Artifact | None) -> Explained:
    """Nothing where the kernel is not here, or has the problem no longer."""
    try:
        kernel, target = kernels.kernel(trial.kernel), targets.target(trial.target)
        notes = kernel.rules(trial.problem, trial.config, target).notes
        checks = (
            checked(artifact, trial.problem, trial.config, kernel) if artifact is not None else ()
        )
        return Explained(
            kernel.cost(trial.problem), kernel.conventions(trial.problem), notes, checks
        )
    except kernels.FOREIGN:
        return Explained()


def check_lines(checks: tuple[Check, ...]) -> list[str]:
    """`  checks`, and a line for each: `! TMA or cp.async  not detected: no async copy: ...`, what
    is bad marked."""
    if not checks:
        return []
    width = max(len(check.title) for check in checks)
    return ["  checks"] + [
        f"    {'!' if check.tone == 'bad' else ' '} {check.title:<{width}} "
        f" {check.words}: {check.reason}"
        for check in checks
    ]
