"""What the file of a sweep may hold, as types. msgspec reads and checks it; what does not fit is
refused by its field.

msgspec and not pydantic, by measure on a file of 10,000 rows (7.4 MB): it is imported with these
types in 19 ms against 75, reads the file in 25 to 40 ms against 80 to 95, names the same place in
an error, and reads into dataclasses, which our records are.
"""

import re
from bisect import bisect_left
from typing import Annotated, Any, Literal, get_args

import msgspec
from msgspec import Meta, Struct

from tileviz.errors import BadRequest
from tileviz.store import json_place
from tileviz.store.sweep_rows import RowStatus

MOST = 2**63 - 1
"""The largest whole number that the store holds."""

YEAR_9999 = 253_402_300_799.0

Name = Annotated[str, Meta(min_length=1, max_length=200)]
Whole = Annotated[int, Meta(ge=-MOST, le=MOST)]
Count = Annotated[int, Meta(ge=0, le=MOST)]
Amount = Annotated[float, Meta(ge=0, le=1e30)]
Time = Annotated[float, Meta(gt=0, le=1e30)]
"""A time that something took: never 0."""
Moment = Annotated[float, Meta(ge=0, le=YEAR_9999)]
"""Unix time."""
Number = Annotated[float, Meta(ge=-1e300, le=1e300)]
"""Neither infinite nor NaN."""
Value = bool | Whole | Number | str | None
"""Of a problem's field or of a knob."""
Values = dict[Name, Value]
Counts = dict[str, dict[str, Count]]
Problems = Annotated[list[Values], Meta(min_length=1)]

Invalidity = Literal["timeout", "compile", "runtime", "correctness", "constraints", "correct"]
"""T4's words for what became of a config."""

WORDS: dict[str, tuple[str, ...]] = {
    "status": get_args(RowStatus),
    "invalidity": get_args(Invalidity),
}
"""Fields that take one of some words."""


class Outcome(Struct, kw_only=True):
    """What became of a config."""

    status: RowStatus
    reason: str = ""
    trial: Name | None = None
    same_as: Count | None = None
    median_us: Time | None = None
    p10_us: Time | None = None
    p90_us: Time | None = None
    n: Count | None = None
    tflops: Amount | None = None
    gbps: Amount | None = None
    roofline: Amount | None = None
    rel_error: Amount | None = None
    registers: Count | None = None
    spill_bytes: Count | None = None
    shared_static_bytes: Count | None = None
    shared_dynamic_bytes: Count | None = None
    threads_launched: Count | None = None
    blocks_per_sm: Count | None = None
    occupancy: Amount | None = None
    stack_bytes: Count | None = None
    implausible: bool = False
    launch_bound: bool = False
    short: bool = False
    finalist: bool = False
    compile_s: Amount | None = None
    measure_s: Amount | None = None
    ended: Moment | None = None


class Results(Outcome, kw_only=True):
    """The columns that every format has."""

    ordinal: Count | None = None


class Row(Outcome, kw_only=True):
    """A row of our own JSON."""

    ordinal: Count
    problem_index: Count
    config: Values
    instructions: Counts | None = None


class Budget(Struct):
    trials: Count | None = None
    seconds: Amount | None = None
    patience: Count | None = None


class Request(Struct, kw_only=True, omit_defaults=True):
    """What a sweep was asked for, as far as a page reads it. What else a file says of it is left
    out."""

    kernel: Name
    target: Name
    problems: Problems
    device: Name | None = None
    values: dict[str, list[Value]] = {}
    strategy: str | None = None
    effort: str | None = None
    budget: Budget | None = None
    seed: Whole | None = None
    inputs: str | None = None
    l2: str | None = None
    flush: str | None = None
    baselines: bool | None = None
    only_baselines: list[str] = []
    finalists: Whole | None = None
    timeout_s: Amount | None = None
    counted: dict[str, Any] | None = None
    kind: str | None = None


class Sweep(Struct):
    """Our own JSON."""

    request: Request
    rows: Annotated[list[Row], Meta(min_length=1)]
    tied: dict[Count, list[Name]] = {}
    """Trials that were measured in turn and tied for the best, by problem, the best first."""


class Measurement(Struct):
    """Of T4. Kernel Tuner gives an error's name in the place of a number."""

    name: str
    value: bool | Whole | float | str | list[Any] | None = None
    unit: str = ""


class Times(Struct):
    """Of T4, in milliseconds. Kernel Tuner says `compilation` where its schema says
    `compilation_time`."""

    compilation_time: Amount | None = None
    compilation: Amount | None = None
    runtimes: list[Amount] = []
    validation: Amount | None = None


class Result(Struct, kw_only=True):
    """Of T4."""

    configuration: Values
    invalidity: Invalidity
    times: Times = msgspec.field(default_factory=Times)
    timestamp: str | None = None
    objectives: list[Any] | None = None
    measurements: list[Measurement] | None = None


class About(Struct):
    """What our own T4 says beside its results."""

    kernel: Name = "unknown"
    target: Name = "unknown"
    device: Name | None = None
    problems: Problems | None = None


class T4(Struct):
    results: Annotated[list[Result], Meta(min_length=1)]
    metadata: About | None = None


ITS_NAME = "its name: "
"""Before what is wrong with the name of an entry and not with its value."""

_TYPES = {
    "float": "a number", "int": "a whole number", "str": "text", "bool": "true or false",
    "object": "an object", "array": "a list",
    "null": "null",
}  # fmt: skip


def decoded(content: bytes, type: Any) -> Any:
    """JSON as a type. Raises BadRequest, with the line and column where it is no JSON, or the field
    that does not fit."""
    try:
        return msgspec.json.decode(content, type=type)
    except msgspec.ValidationError as error:
        what, path = parts_of(error)
        raise misfit(content, path, what, type) from error
    except msgspec.DecodeError as error:
        raise no_sweep(_malformed(content, str(error))) from error
    except RecursionError as error:
        raise no_sweep("its brackets lie too deep in one another") from error


def misfit(content: bytes, path: str, what: str, type: Any = None) -> BadRequest:
    """The refusal of a JSON text with a value that does not fit: its line, column and path, and
    what is wrong.

    Of a name that is there twice it is the first value that does not fit `type`; without a `type`
    the last, which is the one that is read.
    """
    found, missing = json_place.spots(content, path), ""
    while not found:
        path, dot, name = path.rpartition(".")
        found, missing = json_place.spots(content, path), f"{dot}{name}{missing}"
    at = (
        bisect_left(found, True, key=lambda spot: _is_wrong(content[: spot.end], type))
        if type and len(found) > 1
        else -1
    )
    spot = found[min(at, len(found) - 1)]
    start = spot.name_at if what.startswith(ITS_NAME) else spot.start
    return no_sweep(f"{json_place.line_and_column(content, start)}, {spot.path}{missing}: {what}")


def _is_wrong(start: bytes, type: Any) -> bool:
    """Whether a JSON text does not fit so far: msgspec checks as it reads."""
    try:
        msgspec.json.decode(start, type=type)
    except msgspec.ValidationError:
        return True
    except msgspec.DecodeError:
        pass
    return False


def no_sweep(why: str) -> BadRequest:
    """The refusal of a file."""
    return BadRequest(
        f"this file holds no sweep that can be read: {why}; give a CSV, JSON or T4 export"
    )


def parts_of(error: msgspec.ValidationError) -> tuple[str, str]:
    """What is wrong, in plain words, and the path of the field as msgspec spells it:
    `$.rows[17].median_us`."""
    said, _, path = str(error).partition(" - at `")
    path = path.removesuffix("`") or "$"
    if path.startswith("key` in `"):
        said, path = (
            f"{ITS_NAME}{said[:1].lower()}{said[1:]}",
            f"{path.removeprefix('key` in `')}[...]",
        )
    words = WORDS.get(path.rpartition(".")[2])
    if said.startswith("Invalid enum value") and words:
        return f"{said.removeprefix('Invalid enum value ')} is none of {', '.join(words)}", path
    missing = re.fullmatch(r"Object missing required field `(\w+)`", said)
    if missing:
        return "it is missing", f"{path}.{missing[1]}"
    return re.sub(r"`([^`]*)`", lambda found: _plain(found[1]), said[:1].lower() + said[1:]), path


def _plain(types: str) -> str:
    """`int | str | null` as `a whole number or text`."""
    names = [
        _TYPES.get(name, name) for name in types.split(" | ") if name != "null" or types == "null"
    ]
    return " or ".join(filter(None, (", ".join(names[:-1]), names[-1])))


def _malformed(content: bytes, said: str) -> str:
    """Where a JSON text breaks off or has something else."""
    found = re.search(r"\(byte (\d+)\)", said)
    at = int(found[1]) if found else len(content)
    constant = re.match(rb"-?(NaN|Infinity|nan|inf)", content[at : at + 9])
    if constant:
        what = f"{constant[0].decode()} is no number of JSON"
    else:
        what = (
            "it ends too early"
            if "truncated" in said
            else re.sub(r"^JSON is malformed: | \(byte \d+\)", "", said)
        )
    return f"{json_place.line_and_column(content, at)}: {what}"
