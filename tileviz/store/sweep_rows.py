"""The rows of a sweep as they are written: new ones with what is known of a config, and filled ones
with what came of it."""

import json
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from tileviz.records import Status, Trial, canonical_json
from tileviz.records_json import to_json
from tileviz.store.rows import trial_written

RowStatus = Literal[Status, "not_run"]
"""What became of a config of a sweep."""

NOT_RUN: Literal["not_run"] = "not_run"
"""Status of a row whose config was not tried (yet): not a trial's status."""

ROWS_AT_ONCE = 100
"""Rows of a new sweep in one statement, which holds the write lock for some milliseconds."""

RESULTS = (
    "status", "reason", "trial", "median_us", "p10_us", "p90_us", "n", "tflops", "gbps", "roofline",
    "rel_error", "registers",
    "spill_bytes", "shared_static_bytes", "shared_dynamic_bytes", "threads_launched",
    "blocks_per_sm", "occupancy", "stack_bytes",
    "instructions", "implausible", "launch_bound", "short", "finalist", "compile_s", "measure_s",
    "ended",
)  # fmt: skip
"""Columns of a row that its result fills."""

FLAGS = ("implausible", "launch_bound", "short", "finalist")


@dataclass(frozen=True)
class SweepRow:
    """One requested config as it goes into a new sweep."""

    ordinal: int
    problem: int
    config: dict[str, Any]
    status: RowStatus = NOT_RUN
    reason: str = ""
    same_as: int | None = None
    results: dict[str, Any] = field(default_factory=dict)
    """Columns of RESULTS that are known already (an import)."""


# a finalist is measured again at the end: `ended` stays the moment of its first result
_FILL = ", ".join(
    "ended=coalesce(ended, ?)" if name == "ended" else f"{name}=?" for name in RESULTS
)
_FILL_ROWS = (
    f"UPDATE sweep_trial SET {_FILL} WHERE sweep=? AND ordinal IN (SELECT value FROM json_each(?))"
)


def swept_trial_written(
    sweep: str, ordinals: Sequence[int], trial: Trial, columns: dict[str, Any]
) -> list[tuple[str, tuple]]:
    """The statements that write a trial, its own row, and those of the configs that share it."""
    own, *others = ordinals
    values = {**row_values(trial), **columns}
    written = [
        trial_written(trial, swept=True),
        (_FILL_ROWS, (*(values[name] for name in RESULTS), sweep, json.dumps([own]))),
    ]
    if others:
        values["reason"] = f"same code as config {own}" + (
            f": {trial.reason}" if trial.reason else ""
        )
        written.append(
            (_FILL_ROWS, (*(values[name] for name in RESULTS), sweep, json.dumps(others)))
        )
    return written


def row_values(trial: Trial) -> dict[str, Any]:
    """The RESULTS columns of a trial."""
    timing, found, compiled = trial.timing, trial.resources, ("lower", "compile", "disassemble")
    measured = ("inputs and reference", "load", "check", "time")
    return {
        "status": trial.status,
        "reason": trial.reason,
        "trial": trial.trial,
        "median_us": timing.median_us if timing and timing.samples_us else None,
        "p10_us": timing.p10_us if timing and timing.samples_us else None,
        "p90_us": timing.p90_us if timing and timing.samples_us else None,
        "n": timing.n if timing else None,
        "tflops": trial.tflops,
        "gbps": trial.gbps,
        "roofline": trial.roofline.fraction if trial.roofline else None,
        "rel_error": to_json(trial.verdict.rel_error) if trial.verdict else None,
        "registers": found.registers,
        "spill_bytes": found.spill_bytes,
        "shared_static_bytes": found.shared_bytes.static,
        "shared_dynamic_bytes": found.shared_bytes.dynamic,
        "threads_launched": found.threads_launched,
        "blocks_per_sm": found.blocks_per_sm,
        "occupancy": found.occupancy,
        "stack_bytes": found.stack_bytes,
        "instructions": json.dumps(trial.instructions) if trial.instructions else None,
        "implausible": int(bool(timing and timing.implausible)),
        "launch_bound": int(bool(timing and timing.launch_bound)),
        "short": 0,
        "finalist": 0,
        "compile_s": _seconds(trial, compiled),
        "measure_s": _seconds(trial, measured),
        "ended": time.time(),
    }


def _seconds(trial: Trial, phases: Sequence[str]) -> float | None:
    spent = [trial.seconds[phase] for phase in phases if phase in trial.seconds]
    return round(sum(spent), 4) if spent else None


def rows_written(sweep: str, rows: Sequence[SweepRow]) -> list[tuple[str, list]]:
    """The statements that insert the rows of a new sweep, with the columns of RESULTS that any of
    them fills."""
    filled = (
        "status",
        "reason",
        *sorted({name for row in rows for name in row.results} - {"status", "reason"}),
    )
    names = ("sweep", "ordinal", "problem", "config", "config_key", "same_as", *filled)
    marks = f"({', '.join('?' * len(names))})"
    written = []
    for start in range(0, len(rows), ROWS_AT_ONCE):
        part = [_new_row(sweep, row, filled) for row in rows[start : start + ROWS_AT_ONCE]]
        statement = (
            f"INSERT INTO sweep_trial ({', '.join(names)}) VALUES {', '.join([marks] * len(part))}"
        )
        written.append((statement, [value for values in part for value in values]))
    return written


def _new_row(sweep: str, row: SweepRow, filled: Sequence[str]) -> tuple:
    results = {**dict.fromkeys(FLAGS, 0), "status": row.status, "reason": row.reason, **row.results}
    if isinstance(results.get("instructions"), dict):
        results["instructions"] = json.dumps(results["instructions"])
    config = json.dumps(row.config)
    return (
        sweep,
        row.ordinal,
        row.problem,
        config,
        canonical_json(row.config),
        row.same_as,
        *(results.get(name) for name in filled),
    )
