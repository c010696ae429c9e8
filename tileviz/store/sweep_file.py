"""What every format of a sweep's file comes to: what was asked for and the rows, checked against
one another."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import msgspec

from tileviz.errors import BadRequest
from tileviz.store import schemas
from tileviz.store.store import new_id
from tileviz.store.sweeps import RESULTS, SweepRow

_COLUMNS = tuple(name for name in RESULTS if name not in ("status", "reason", "trial"))


@dataclass(frozen=True)
class SweepFile:
    """What a file holds: what was asked for, as far as it says, and the rows."""

    request: dict[str, Any]
    """kernel, target, device, problems, and what else the format keeps."""
    rows: list[SweepRow]
    notes: tuple[str, ...] = ()
    """How it was read where the file left that open, a sentence each."""
    tied: dict[int, list[str]] = field(default_factory=dict)
    """Trials that tied for the best of a problem, the best first, where the file tells."""


Misfit = Callable[[int, str, str], BadRequest]
"""The refusal for a field of a row, with where that stands in its file: by the row's place among
the rows, the field's name, and what is wrong with it."""


def sweep_file(
    request: schemas.Request, rows: Sequence[schemas.Row], misfit: Misfit, notes: Sequence[str] = ()
) -> SweepFile:
    """Rows that fit each other. Raises BadRequest where they do not: a config twice, a problem or a
    config that is not there."""
    by_ordinal: dict[int, schemas.Row] = {}
    for number, row in enumerate(rows):
        if by_ordinal.setdefault(row.ordinal, row) is not row:
            raise misfit(number, "ordinal", f"config {row.ordinal} is there twice")
        if row.problem_index >= len(request.problems):
            found = len(request.problems)
            raise misfit(
                number,
                "problem_index",
                f"there is no problem {row.problem_index} of {found}, counted from 0",
            )
    leaders = [_leader(by_ordinal, row) for row in rows]
    for number, leader in enumerate(leaders):
        if leader is None:
            raise misfit(
                number,
                "same_as",
                f"there is no other config {rows[number].same_as} that is compiled itself",
            )
    found = [leader for leader in leaders if leader is not None]
    names = {
        leader.ordinal: leader.trial or new_id()
        for leader in found
        if leader.trial or _is_measured(leader)
    }
    made = [
        _row(row, row.trial or names.get(leader.ordinal))
        for row, leader in zip(rows, found, strict=True)
    ]
    return SweepFile(msgspec.to_builtins(request), made, tuple(notes))


def _leader(by_ordinal: dict[int, schemas.Row], row: schemas.Row) -> schemas.Row | None:
    """The config whose code this one has, itself where that is its own; None where `same_as` leads
    to none."""
    passed, at = set(), row
    while at is not None and at.same_as is not None:
        if at.ordinal in passed:
            return None
        passed.add(at.ordinal)
        at = by_ordinal.get(at.same_as)
    return at


def _is_measured(row: schemas.Row) -> bool:
    return row.status == "ok" and not (
        row.median_us is None and row.tflops is None and row.gbps is None
    )


def _row(row: schemas.Row, trial: str | None) -> SweepRow:
    """A measured config of a file without ids gets one, so that the best of a sweep can be named as
    it is for our own."""
    results = {name: getattr(row, name) for name in _COLUMNS}
    known = {
        name: int(value) if isinstance(value, bool) else value
        for name, value in results.items()
        if value is not None
    }
    if trial is not None:
        known["trial"] = trial
    return SweepRow(
        row.ordinal, row.problem_index, row.config, row.status, row.reason, row.same_as, known
    )
