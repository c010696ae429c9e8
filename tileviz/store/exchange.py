"""Sweeps as files: JSON comes back to the same frame; CSV, and Kernel Tuner's T4, to the same heatmap. Rows in, text out, and back.

T4 is the results schema 1.0.0 of Kernel Tuner (kernel_tuner/schema/T4/1.0.0/results-schema.json). It knows fewer outcomes than we do
and no problems, so each result also carries our own status, reason and problem among its measurements.
"""

import csv
import io
import json
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from tileviz.errors import BadRequest
from tileviz.records import STATUSES
from tileviz.store.sweeps import NOT_RUN, RESULTS, SweepRow, SweepView

FORMATS = ("csv", "json", "t4")

INVALIDITY = {
    "ok": "correct", "pruned": "constraints", "unsupported": "constraints", "compile_failed": "compile", "launch_failed": "runtime",
    "runtime_failed": "runtime", "crashed": "runtime", "wrong_result": "correctness", "timeout": "timeout", "cancelled": "runtime",
}  # fmt: skip
"""T4's word for each status."""

STATUS_OF = {
    "correct": "ok", "constraints": "pruned", "compile": "compile_failed", "runtime": "runtime_failed", "correctness": "wrong_result",
    "timeout": "timeout",
}  # fmt: skip
"""Our status for T4's word, for files of others."""

NUMBERS = tuple(name for name in RESULTS if name not in ("status", "reason", "trial", "instructions"))
T4_VERSION = "1.0.0"


@dataclass(frozen=True)
class SweepFile:
    """What a file holds: what was asked for, as far as it says, and the rows."""

    request: dict[str, Any]
    """kernel, target, device, problems, and what else the format keeps."""
    rows: list[SweepRow]


def written(view: SweepView, frame: Sequence[dict[str, Any]], form: str) -> str:
    """The sweep in a format of FORMATS."""
    return {"csv": to_csv, "json": to_json_text, "t4": to_t4}[form](view, frame)


def read(text: str) -> SweepFile:
    """The sweep in a file's text, whichever of the formats it is. Raises BadRequest when it is none of them."""
    head = text.lstrip("\ufeff \r\n\t")
    try:
        if not head.startswith(("{", "[")):
            return from_csv(text)
        document = json.loads(head)
        return from_t4(document) if "results" in document else from_json(document)
    except (KeyError, ValueError, TypeError, AttributeError, IndexError) as error:
        why = f"{type(error).__name__}: {error}"
        raise BadRequest(f"this file holds no sweep that can be read ({why}); give a CSV, JSON or T4 export") from error


# JSON


def to_json_text(view: SweepView, frame: Sequence[dict[str, Any]]) -> str:
    """Everything: the request, and every column of every row."""
    head = {"format": "tileviz sweep", "version": 1, "sweep": view.id, "status": view.state, "reason": view.reason, "seconds": view.seconds}
    return json.dumps({**head, "request": view.request, "counts": view.counts, "rows": list(frame)}, indent=None)


def from_json(document: dict[str, Any]) -> SweepFile:
    return SweepFile(dict(document["request"]), [_row(row, row["problem_index"]) for row in document["rows"]])


# CSV


def to_csv(view: SweepView, frame: Sequence[dict[str, Any]]) -> str:
    """One line a row: kernel, target and device, the problem as problem.NAME, the config as knob.NAME, the counts as TEXT.CLASS."""
    lines = [_flat(view, row) for row in frame]
    names = list(dict.fromkeys(name for line in lines for name in line))
    out = io.StringIO()
    writer = csv.DictWriter(out, names, restval="", lineterminator="\n")
    writer.writeheader()
    writer.writerows(lines)
    return out.getvalue()


def from_csv(text: str) -> SweepFile:
    lines = list(csv.DictReader(io.StringIO(text.lstrip("\ufeff"))))
    problems: list[dict] = []
    rows = []
    for number, line in enumerate(lines):
        problem, config = _part(line, "problem."), _part(line, "knob.")
        if problem not in problems:
            problems.append(problem)
        values = {name: _value(line[name]) for name in NUMBERS if line.get(name, "") != ""}
        rest = {"status": line["status"], "reason": line.get("reason", ""), "trial": line.get("trial") or None, "config": config}
        counted = _counts(line)
        own = {"ordinal": int(line.get("ordinal") or number), "same_as": _value(line.get("same_as", "")), "instructions": counted or None}
        rows.append(_row({**values, **rest, **own}, problems.index(problem)))
    first = lines[0]
    return SweepFile({"kernel": first["kernel"], "target": first["target"], "device": first["device"] or None, "problems": problems}, rows)


def _flat(view: SweepView, row: dict[str, Any]) -> dict[str, Any]:
    line = {"ordinal": row["ordinal"], "kernel": view.kernel, "target": view.target, "device": view.device}
    line |= {f"problem.{name}": _word(value) for name, value in row["problem"].items()}
    line |= {f"knob.{name}": _word(value) for name, value in row["config"].items()}
    line |= {name: _word(row[name]) for name in ("status", "reason", "same_as", "trial", *NUMBERS)}
    for text, counts in (row["instructions"] or {}).items():
        line |= {f"{text}.{name}": count for name, count in counts.items()}
    return line


def _word(value) -> str:
    if value is None or isinstance(value, str):
        return value or ""
    return json.dumps(value)


def _value(word: str):
    """A cell as a value: numbers, true and false; an empty one is None; the rest is text."""
    if word == "":
        return None
    try:
        return json.loads(word)
    except ValueError:
        return word


def _part(line: dict[str, str], prefix: str) -> dict[str, Any]:
    return {name.removeprefix(prefix): _value(word) for name, word in line.items() if name.startswith(prefix) and word != ""}


def _counts(line: dict[str, str]) -> dict[str, dict[str, int]]:
    out: dict[str, dict[str, int]] = {}
    for name, word in line.items():
        text, dot, kind = name.partition(".")
        if dot and text in ("source", "ptx", "sass") and word != "":
            out.setdefault(text, {})[kind] = int(word)
    return out


# T4


def to_t4(view: SweepView, frame: Sequence[dict[str, Any]]) -> str:
    """T4 results, times in milliseconds; configs that were not run are left out, since nothing came of them."""
    metadata = {"kernel": view.kernel, "target": view.target, "device": view.device, "problems": view.request["problems"], "sweep": view.id}
    results = [_t4_result(row) for row in frame if row["status"] != NOT_RUN]
    return json.dumps({"schema_version": T4_VERSION, "results": results, "metadata": metadata})


def from_t4(document: dict[str, Any]) -> SweepFile:
    about = document.get("metadata") or {}
    rows = []
    for number, result in enumerate(document["results"]):
        told = {m["name"]: m.get("value") for m in result.get("measurements") or ()}
        status = told.get("status")
        values = {
            "status": status if status in STATUSES else STATUS_OF[result["invalidity"]],
            "reason": str(told.get("reason") or ""),
            "ordinal": int(told.get("ordinal", number)),
            "same_as": told.get("same_as"),
            "config": result["configuration"],
            "tflops": told.get("tflops"),
        }
        time_ms = told.get("time")
        if isinstance(time_ms, (int, float)) and values["status"] == "ok":
            values["median_us"] = time_ms * 1000
        rows.append(_row(values, int(told.get("problem_index", 0))))
    problems = about.get("problems") or [{}]
    head = {"kernel": about.get("kernel", "unknown"), "target": about.get("target", "unknown"), "device": about.get("device")}
    return SweepFile({**head, "problems": problems}, rows)


def _t4_result(row: dict[str, Any]) -> dict[str, Any]:
    ended = datetime.fromtimestamp(row["ended"] or 0, UTC).isoformat()
    timed = row["status"] == "ok" and row["median_us"] is not None
    ms = row["median_us"] / 1000 if timed else None
    measurements = [{"name": "time", "value": ms, "unit": "ms"}] if timed else []
    measurements += [{"name": name, "value": row[name], "unit": unit} for name, unit in (("tflops", "TFLOPS"),) if row[name] is not None]
    own = {name: row[name] for name in ("status", "reason", "ordinal", "problem_index", "same_as")}
    measurements += [{"name": name, "value": value, "unit": ""} for name, value in own.items() if value is not None]
    return {
        "timestamp": ended,
        "configuration": row["config"],
        "objectives": ["time"],
        "times": {
            "compilation_time": 1000 * (row["compile_s"] or 0.0),
            "runtimes": [ms] if timed else [],
            "framework": 0.0,
            "search_algorithm": 0.0,
            "validation": 1000 * (row["measure_s"] or 0.0),
        },
        "invalidity": INVALIDITY[row["status"]],
        "correctness": 1.0 if row["status"] == "ok" else 0.0,
        "measurements": measurements,
    }


def _row(values: dict[str, Any], problem: int) -> SweepRow:
    """A row from a file. Raises ValueError for a status that is none."""
    status = values["status"]
    if status not in (*STATUSES, NOT_RUN):
        raise ValueError(f"no status '{status}'")
    results = {name: values[name] for name in RESULTS if values.get(name) is not None and name not in ("status", "reason")}
    flags = {name: int(value) for name, value in results.items() if isinstance(value, bool)}
    return SweepRow(
        ordinal=int(values["ordinal"]),
        problem=problem,
        config=dict(values["config"]),
        status=status,
        reason=values.get("reason") or "",
        same_as=values.get("same_as"),
        results={**results, **flags},
    )
