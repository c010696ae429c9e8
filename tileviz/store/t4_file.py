"""A sweep as T4, the results schema 1.0.0 of Kernel Tuner
(kernel_tuner/schema/T4/1.0.0/results-schema.json).

It knows fewer outcomes than we do and no problems, so each result also carries our own status,
reason and problem among its measurements.
"""

import json
import re
from collections.abc import Sequence
from datetime import UTC, datetime
from statistics import median
from typing import Any

import msgspec

from tileviz.errors import BadRequest
from tileviz.records import STATUSES, Status
from tileviz.store import schemas
from tileviz.store.sweep_file import SweepFile, sweep_file
from tileviz.store.sweeps import NOT_RUN, SweepView

VERSION = "1.0.0"

INVALIDITY: dict[Status, schemas.Invalidity] = {
    "ok": "correct", "pruned": "constraints", "unsupported": "constraints",
    "compile_failed": "compile", "launch_failed": "runtime",
    "runtime_failed": "runtime", "crashed": "runtime", "wrong_result": "correctness",
    "timeout": "timeout", "cancelled": "runtime",
}  # fmt: skip
"""T4's word for each status."""

STATUS_OF: dict[schemas.Invalidity, Status] = {
    "correct": "ok", "constraints": "pruned", "compile": "compile_failed",
    "runtime": "runtime_failed", "correctness": "wrong_result",
    "timeout": "timeout",
}  # fmt: skip
"""Our status for T4's word, for files of others."""

MICROSECONDS = {
    **dict.fromkeys(("s", "sec", "second", "seconds"), 1e6), **dict.fromkeys(("ms", "millisecond",
    "milliseconds"), 1e3),
    **dict.fromkeys(("us", "\u00b5s", "\u03bcs", "usec", "microsecond", "microseconds"), 1.0),
    **dict.fromkeys(("ns", "nanosecond", "nanoseconds"), 1e-3),
}  # fmt: skip
"""In a unit of time."""

NO_UNIT = (
    "The file gives its times no unit; they were read as milliseconds, which Kernel Tuner means."
)

RATES = {
    "tflops": ("tflops", 1.0), "gflops": ("tflops", 1e-3), "mflops": ("tflops", 1e-6),
    "gbs": ("gbps", 1.0), "gbps": ("gbps", 1.0),
    "tbs": ("gbps", 1e3),
}  # fmt: skip
"""Column and factor of a rate, by its unit or its name in small letters: `GFLOP/s`, `GFLOPS`,
`GB/s`."""

NO_TIME = "no time told"
"""Reason of a config that ran right and of which the file tells no time."""

_OWN = {
    "status": schemas.Name, "reason": str, "ordinal": schemas.Count, "problem_index": schemas.Count,
    "same_as": schemas.Count,
}  # fmt: skip
"""Measurements that only our own files have."""


def to_t4(view: SweepView, frame: Sequence[dict[str, Any]]) -> str:
    """T4 results, times in milliseconds; configs that were not run are left out, since nothing came
    of them."""
    metadata = {
        "kernel": view.kernel,
        "target": view.target,
        "device": view.device,
        "problems": view.request["problems"],
        "sweep": view.id,
    }
    results = [_result(row, view.created) for row in frame if row["status"] != NOT_RUN]
    return json.dumps({"schema_version": VERSION, "results": results, "metadata": metadata})


def _result(row: dict[str, Any], otherwise: float) -> dict[str, Any]:
    """`otherwise` is the moment of a row without its own: one that a rule decided when the sweep
    was made."""
    timed = row["status"] == "ok" and row["median_us"] is not None
    ms = row["median_us"] / 1000 if timed else None
    measurements = [{"name": "time", "value": ms, "unit": "ms"}] if timed else []
    rates = (("tflops", "TFLOPS"), ("gbps", "GB/s"))
    measurements += [
        {"name": name, "value": row[name], "unit": unit}
        for name, unit in rates
        if row[name] is not None
    ]
    measurements += [
        {"name": name, "value": row[name], "unit": ""} for name in _OWN if row[name] is not None
    ]
    return {
        "timestamp": datetime.fromtimestamp(
            otherwise if row["ended"] is None else row["ended"], UTC
        ).isoformat(),
        "configuration": row["config"],
        "objectives": ["time"],
        "times": {
            "runtimes": [ms] if timed else [],
            "framework": 0.0,
            "search_algorithm": 0.0,
            **_steps(row),
        },
        "invalidity": INVALIDITY[row["status"]],
        "correctness": 1.0 if row["status"] == "ok" else 0.0,
        "measurements": measurements,
    }


def _steps(row: dict[str, Any]) -> dict[str, float]:
    """Milliseconds of the steps whose time is known: one that nobody told is left out, since 0
    would be a claim."""
    steps = (("compilation_time", row["compile_s"]), ("validation", row["measure_s"]))
    return {name: 1000 * seconds for name, seconds in steps if seconds is not None}


def from_t4(content: bytes) -> SweepFile:
    """The sweep in a T4 file, ours or another tuner's. Raises BadRequest with line, column and path
    of what does not fit."""
    document = schemas.decoded(content, schemas.T4)
    about = document.metadata or schemas.About()
    request = schemas.Request(
        kernel=about.kernel,
        target=about.target,
        device=about.device,
        problems=about.problems or [{}],
    )
    try:
        rows = [_row(number, result) for number, result in enumerate(document.results)]
    except _Misfit as error:
        raise schemas.misfit(content, error.path, error.what) from error
    unitless = any(
        m.name == "time" and not m.unit.strip()
        for result in document.results
        for m in result.measurements or ()
    )

    def misfit(number: int, field: str, what: str) -> BadRequest:
        return schemas.misfit(
            content, _path_of(number, document.results[number], field), f"{field}: {what}"
        )

    return sweep_file(request, rows, misfit, [NO_UNIT] if unitless else [])


class _Misfit(Exception):
    """A measurement that does not fit: its path and what is wrong."""

    def __init__(self, path: str, what: str):
        self.path, self.what = path, what


def _path_of(number: int, result: schemas.Result, field: str) -> str:
    """Where a field of ours stands: among the measurements, or nowhere in the result."""
    places = [place for place, m in enumerate(result.measurements or ()) if m.name == field]
    return f"{_place(number)}.measurements[{places[-1]}].value" if places else _place(number)


def _place(number: int) -> str:
    return f"$.results[{number}]"


def _row(number: int, result: schemas.Result) -> schemas.Row:
    told = {m.name: (place, m) for place, m in enumerate(result.measurements or ())}
    own = {name: _own(number, *told[name], type) for name, type in _OWN.items() if name in told}
    status = own.pop("status", None)
    status = status if status in STATUSES else STATUS_OF[result.invalidity]
    measured = _measured(number, result, told) if status == "ok" else {}
    times = result.times
    values: dict[str, Any] = {
        "ordinal": number,
        "problem_index": 0,
        "reason": "" if measured or status != "ok" else NO_TIME,
        **own,
    }
    return schemas.Row(
        **values,
        status=status,
        config=result.configuration,
        **measured,
        compile_s=_seconds(times.compilation_time or times.compilation),
        measure_s=_seconds(times.validation),
        ended=_moment(result.timestamp),
    )


def _own(number: int, place: int, found: schemas.Measurement, type: Any) -> Any:
    """A field of ours. Its numbers are whole, and a float in T4's type."""
    whole = isinstance(found.value, float) and found.value.is_integer()
    return _checked(number, place, int(found.value) if whole else found.value, type)


def _measured(
    number: int, result: schemas.Result, told: dict[str, tuple[int, schemas.Measurement]]
) -> dict[str, float]:
    """The time: as it is named, or else the median of the single runs; and the rates."""
    columns = {}
    for place, found in told.values():
        rate = next(
            (RATES[word] for word in map(_bare, (found.unit, found.name)) if word in RATES), None
        )
        if rate is not None:
            columns[rate[0]] = rate[1] * _checked(number, place, found.value, schemas.Amount)
    if "time" in told:
        place, found = told["time"]
        unit = found.unit.strip().lower() or "ms"
        if unit not in MICROSECONDS:
            raise _Misfit(
                f"{_place(number)}.measurements[{place}].unit",
                f"'{found.unit}' is none of s, ms, us, ns",
            )
        columns["median_us"] = MICROSECONDS[unit] * _checked(
            number, place, found.value, schemas.Time
        )
    elif any(result.times.runtimes):
        columns["median_us"] = MICROSECONDS["ms"] * median(result.times.runtimes)
    return columns


def _checked(number: int, place: int, value: Any, type: Any) -> Any:
    """The value of a measurement as a type."""
    try:
        return msgspec.convert(value, type)
    except msgspec.ValidationError as error:
        raise _Misfit(
            f"{_place(number)}.measurements[{place}].value", schemas.parts_of(error)[0]
        ) from error


def _bare(words: str) -> str:
    """`GFLOP/s` as `gflops`."""
    return re.sub(r"[^a-z]", "", words.lower())


def _moment(timestamp: str | None) -> float | None:
    """Unix time of what T4 leaves free; None where it is not ISO 8601."""
    try:
        when = datetime.fromisoformat(timestamp) if timestamp else None
        return (when if when.tzinfo else when.replace(tzinfo=UTC)).timestamp() if when else None
    except (ValueError, OverflowError):
        return None


def _seconds(ms: float | None) -> float | None:
    """T4 has 0 where nothing was compiled or checked."""
    return ms / 1000 if ms else None
