"""A sweep as CSV, a line a config: kernel, target, device, the problem as problem.NAME, the knobs
as knob.NAME, counts as TEXT.CLASS."""

import csv
import io
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import msgspec

from tileviz import texts
from tileviz.errors import BadRequest
from tileviz.records import canonical_json
from tileviz.store import schemas
from tileviz.store.csv_cells import has_decimal_comma, text_cell, text_of, value_cell, value_of
from tileviz.store.sweep_file import SweepFile, sweep_file
from tileviz.store.sweeps import RESULTS, SweepView

HEAD = ("kernel", "target", "device")
"""The same in every line."""

NEEDED = ("kernel", "target", "status")

COUNTED = texts.counted()
"""Texts whose instruction counts have columns."""

DELIMITERS = (",", ";", "\t")

_TEXTS = (*HEAD, "reason", "trial")
_NUMBERS = tuple(
    name for name in RESULTS if name not in ("status", "reason", "trial", "instructions")
)
_RESULTS = frozenset(schemas.Results.__struct_fields__)


def to_csv(view: SweepView, frame: Sequence[dict[str, Any]]) -> str:
    """The sweep as text. A text that a spreadsheet would take for a formula is kept as text;
    numbers stay numbers."""
    lines = [_flat(view, row) for row in frame]
    names = list(dict.fromkeys(name for line in lines for name in line))
    out = io.StringIO()
    plain = csv.DictWriter(out, names, restval="", lineterminator="\n")
    quoted = csv.DictWriter(out, names, restval="", lineterminator="\n", quoting=csv.QUOTE_ALL)
    plain.writeheader()
    for line in lines:
        # the csv module quotes no bare \r
        (quoted if any("\r" in str(cell) for cell in line.values()) else plain).writerow(line)
    return out.getvalue()


def _flat(view: SweepView, row: dict[str, Any]) -> dict[str, Any]:
    line = {
        "ordinal": row["ordinal"],
        **{name: text_cell(getattr(view, name) or "") for name in HEAD},
    }
    line |= {f"problem.{name}": value_cell(value) for name, value in row["problem"].items()}
    line |= {f"knob.{name}": value_cell(value) for name, value in row["config"].items()}
    line |= {name: text_cell(row[name] or "") for name in ("status", "reason")}
    line |= {"same_as": value_cell(row["same_as"]), "trial": text_cell(row["trial"] or "")}
    line |= {name: value_cell(row[name]) for name in _NUMBERS}
    for text, counts in (row["instructions"] or {}).items():
        line |= {f"{text}.{name}": count for name, count in counts.items()}
    return line


@dataclass(frozen=True)
class Line:
    """A line of the file under the names of the first."""

    number: int
    """From 1, of its first line where a cell holds line breaks."""
    cells: dict[str, str]
    """By name, without the empty ones."""
    columns: dict[str, int]
    """Number of each name's column, from 1."""

    def part(self, prefix: str) -> dict[str, Any]:
        """The values of the columns `prefix.NAME`."""
        names = self.named(prefix)
        for name in names:
            if has_decimal_comma(self.cells[name]):
                raise self.refused(name, "expected a number or text")
        return {
            name.removeprefix(prefix): self.checked(name, value_of(self.cells[name]), schemas.Value)
            for name in names
        }

    def named(self, prefix: str) -> list[str]:
        return [name for name in self.cells if name.startswith(prefix) and name != prefix]

    def checked(self, name: str, value: Any, type: Any, strict: bool = True) -> Any:
        try:
            return msgspec.convert(value, type, strict=strict)
        except msgspec.ValidationError as error:
            raise self.refused(name, schemas.parts_of(error)[0]) from error

    def place(self, name: str) -> str:
        return (
            f"line {self.number:,}, column {self.columns[name]} ({name})"
            if name in self.columns
            else f"line {self.number:,} ({name})"
        )

    def misfit(self, name: str, what: str) -> BadRequest:
        """The refusal for a cell that does not fit another one."""
        return schemas.no_sweep(f"{self.place(name)}: {what}")

    def refused(self, name: str, what: str) -> BadRequest:
        """The refusal for a cell, with what it holds."""
        cell = self.cells.get(name, "")
        held = f"; it holds '{cell[:60]}'" if cell else ""
        held += ", and a decimal has a point here" if has_decimal_comma(cell) else ""
        return self.misfit(name, f"{what}{held}")


def from_csv(text: str) -> SweepFile:
    """The sweep in a CSV file with commas, semicolons or tabs. Raises BadRequest with line and
    column."""
    lines = list(_lines(text))
    if not lines:
        raise schemas.no_sweep("there is no line under the names of its columns")
    head = {name: text_of(lines[0].cells.get(name, "")) for name in HEAD}
    problems: list[dict[str, Any]] = []
    places: dict[str, int] = {}
    rows = []
    for number, line in enumerate(lines):
        _same_sweep(line, head)
        problem = line.part("problem.")
        place = places.setdefault(canonical_json(problem), len(problems))
        if place == len(problems):
            problems.append(problem)
        rows.append(_row(line, number, place))
    named = {
        name: lines[0].checked(
            name, head[name] or None, schemas.Name | None if name == "device" else schemas.Name
        )
        for name in HEAD
    }
    request = schemas.Request(**named, problems=problems)
    return sweep_file(request, rows, lambda number, field, what: lines[number].misfit(field, what))


def _lines(text: str) -> Iterator[Line]:
    """The lines that hold anything. A spreadsheet leaves empty ones at the end."""
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=_delimiter(text))
    names, columns, before = None, {}, 0
    try:
        for record in reader:
            number, before = before + 1, reader.line_num
            if names is None:
                names = record
                columns = {name: place for place, name in enumerate(names, start=1) if name}
                _once(names)
            elif any(record):
                if len(record) != len(names):
                    raise schemas.no_sweep(
                        f"line {number:,}: it has {len(record)} cells under {len(names)} columns"
                    )
                yield Line(
                    number,
                    {name: cell for name, cell in zip(names, record, strict=True) if name and cell},
                    columns,
                )
    except csv.Error as error:
        raise schemas.no_sweep(f"line {reader.line_num:,}: {error}") from error


def _delimiter(text: str) -> str:
    """What stands between cells: the one by which the first line has the names that are needed."""
    first = text.partition("\n")[0].rstrip("\r")
    missing = NEEDED
    for delimiter in DELIMITERS:
        names = {name.strip('"') for name in first.split(delimiter)}
        missing = min(missing, tuple(name for name in NEEDED if name not in names), key=len)
        if not missing:
            return delimiter
    raise schemas.no_sweep(f"it is no JSON, and its first line names no column {missing[0]}")


def _once(names: Sequence[str]) -> None:
    twice = next((name for name, count in Counter(filter(None, names)).items() if count > 1), None)
    if twice is not None:
        raise schemas.no_sweep(f"line 1: there are two columns {twice[:60]}")


def _same_sweep(line: Line, head: dict[str, str]) -> None:
    for name in HEAD:
        if text_of(line.cells.get(name, "")) != head[name]:
            raise line.refused(
                name, f"the first line has '{head[name]}', and a file is of one sweep"
            )


def _row(line: Line, number: int, problem: int) -> schemas.Row:
    told = {
        name: text_of(cell) if name in _TEXTS else cell
        for name, cell in line.cells.items()
        if name in _RESULTS
    }
    try:
        results = msgspec.convert(told, schemas.Results, strict=False)
    except msgspec.ValidationError as error:
        what, path = schemas.parts_of(error)
        raise line.refused(path.removeprefix("$."), what) from error
    counts: dict[str, dict[str, int]] = {}
    for text in COUNTED:
        for name in line.named(f"{text}."):
            counts.setdefault(text, {})[name.removeprefix(f"{text}.")] = line.checked(
                name, line.cells[name], schemas.Count, strict=False
            )
    own: dict[str, Any] = {
        "ordinal": number if results.ordinal is None else results.ordinal,
        "problem_index": problem,
        "config": line.part("knob."),
    }
    return schemas.Row(**{**msgspec.structs.asdict(results), **own}, instructions=counts or None)
