"""The verifier and the checker with all that decides the tolerance in keywords, as tests vary one thing at a time."""

from tileviz.bench import checker
from tileviz.bench import verify as verifier
from tileviz.bench.tolerance import Arithmetic


def verify(output, reference, **how):
    """The verdict of `bench.verify.verify`; `how` are the fields of an Arithmetic."""
    return verifier.verify(output, reference, Arithmetic(**how))


def Checker(reference, **how) -> checker.Checker:
    """A Checker for such an output."""
    return checker.Checker(reference, Arithmetic(**how))
