"""Makes the recorded file of a store: its sweeps with every trial, the code of a few, device facts
and presets, small enough to ship.

What is left out: jobs, machine code, the code of all other configs, paths and ids of the machine it
was measured on. Long lists of samples become quantiles, from which median, p10 and p90 come out the
same. Devices go by their names.
"""

import dataclasses
import hashlib
import json
import lzma
import re
import sqlite3
import tempfile
from collections.abc import Collection
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from tileviz.errors import StoreError
from tileviz.measured import BaselineResult, Timing, quantile
from tileviz.records import Trial
from tileviz.records_json import to_json
from tileviz.store.artifacts import LINES, contents, without_texts
from tileviz.store.database import MIGRATIONS, run_script
from tileviz.store.rows import packed
from tileviz.store.store import Store

QUANTILES = 11
"""0, 10, ... 100 %: the 10th, 50th and 90th percentile of these are those of all samples."""

PAGE_BYTES = 8192
"""Of the file: documents of a kilobyte leave less of a page empty."""

PRIVATE_FACTS = ("uuid", "serial")

# /home/someone/venv/lib/tilelang/src/gemm.h   ->   gemm.h
_FOLDERS = re.compile(r"(?<![\w/.<])/(?:[\w.@+-]+/)+")


@dataclass(frozen=True)
class Recording:
    """What a recorded file is made of."""

    path: Path
    sweeps: int
    trials: int
    with_code: int
    presets: int
    bytes: int
    """Of the file."""
    parts: dict[str, int] = field(default_factory=dict)
    """Bytes of content by kind: trials, rows, code, ..."""


def record(
    source: Store,
    out: Path,
    sweeps: Collection[str],
    with_code: Collection[str],
    whole: Collection[str],
) -> Recording:
    """Writes the recorded file of these sweeps to `out`, in the place of one that is there.

    `with_code` are ids of the trials that keep their texts, `whole` of those that keep every
    sample. Raises StoreError.
    """
    writer = _Writer(source, {device.id: device.name for device in source.devices()})
    with tempfile.TemporaryDirectory(dir=out.parent, prefix=".recording-") as folder:
        made = Path(folder) / "all.db"
        connection = sqlite3.connect(made, isolation_level=None)
        try:
            connection.execute(f"PRAGMA page_size={PAGE_BYTES}")
            run_script(connection, MIGRATIONS)
            connection.execute("BEGIN")
            for sweep in sweeps:
                writer.sweep(connection, sweep, with_code, whole)
            writer.devices(connection)
            writer.presets(connection, sweeps)
            connection.execute("COMMIT")
            small = Path(folder) / "small.db"
            connection.execute("VACUUM INTO ?", (str(small),))
        except sqlite3.Error as error:
            raise StoreError(f"cannot write the recorded file at {out}: {error}") from error
        finally:
            connection.close()
        small.replace(out)
    return Recording(
        out, len(sweeps), writer.trials, writer.coded, writer.kept, out.stat().st_size, writer.parts
    )


def thinned(timing: Timing) -> Timing:
    """The timing with QUANTILES samples at most, in ascending order; its note says of how many."""
    if timing.n <= QUANTILES:
        return replace(timing, earlier_us=())
    few = tuple(
        round(quantile(timing.samples_us, place / (QUANTILES - 1)), 4) for place in range(QUANTILES)
    )
    note = "; ".join(
        filter(None, [timing.note, f"kept as {QUANTILES} quantiles of {timing.n:,} samples"])
    )
    return replace(timing, samples_us=few, earlier_us=(), note=note)


def without_folders(text: str) -> str:
    """A tool's text without the folders of the machine that it ran on."""
    return _FOLDERS.sub("", text)


class _Writer:
    """Copies what a recorded file holds, and counts it."""

    def __init__(self, source: Store, names: dict[str, str]) -> None:
        self.source, self.names = source, names
        self.trials = self.coded = self.kept = 0
        self.parts: dict[str, int] = {}
        self.hashes: set[str] = set()

    def sweep(
        self, connection, sweep: str, with_code: Collection[str], whole: Collection[str]
    ) -> None:
        with self.source.database.connect() as reading:
            head = dict(reading.execute("SELECT * FROM sweep WHERE id=?", (sweep,)).fetchone())
            rows = [
                dict(row)
                for row in reading.execute(
                    "SELECT * FROM sweep_trial WHERE sweep=? ORDER BY ordinal", (sweep,)
                )
            ]
        request = json.loads(head["request"])
        device = self.names.get(head["device"], head["device"])
        self._insert(
            connection,
            "sweep",
            {
                **head,
                "job": None,
                "device": device,
                "request": json.dumps({**request, "device": device}),
            },
        )
        for row in rows:
            counted = json.loads(row["instructions"]) if row["instructions"] else None
            few = json.dumps(_few(counted), separators=(",", ":")) if counted else None
            self._insert(
                connection,
                "sweep_trial",
                {**row, "instructions": few, "reason": without_folders(row["reason"])},
            )
        for trial in sorted({row["trial"] for row in rows if row["trial"]}):
            found = self.source.trial(trial)
            if found is not None:
                self._trial(connection, found, trial in with_code, trial in whole)

    def _trial(self, connection, trial: Trial, with_code: bool, whole: bool) -> None:
        coded = with_code and trial.artifact is not None and self._code(connection, trial.artifact)
        slim = replace(
            trial,
            device=self.names.get(trial.device or "", trial.device),
            artifact=trial.artifact if coded else None,
            detail=without_folders(trial.detail)[:4000],
            reason=without_folders(trial.reason),
            # its row has them, too
            instructions=_without_zeros(trial.instructions) if coded else {},
            timing=trial.timing if whole or trial.timing is None else thinned(trial.timing),
            baselines=tuple(_slim_baseline(baseline) for baseline in trial.baselines),
        )
        names = ("key", "kernel", "target", "device", "status", "artifact", "created")
        values = {"id": trial.trial, "swept": 1, **{name: getattr(slim, name) for name in names}}
        self._insert(connection, "trial", {**values, "doc": packed(_lean(slim))})
        self.trials += 1
        self.coded += coded

    def _code(self, connection, key: str) -> bool:
        """Copies an artifact's texts; False where the source no longer has them."""
        artifact = self.source.artifact(key)
        if artifact is None:
            return False
        files = contents(artifact)
        if artifact.lines:
            files[LINES] = json.dumps(artifact.lines, separators=(",", ":"))
        doc = without_texts(to_json(artifact))
        self._insert(
            connection,
            "artifact",
            {"key": key, "created": 0.0, "complete": 1, "doc": json.dumps(doc)},
            "OR REPLACE",
        )
        for name, text in files.items():
            values = {"artifact": key, "name": name, "hash": self._pack(connection, text)}
            self._insert(connection, "artifact_file", values, "OR REPLACE")
        return True

    def _pack(self, connection, text: str) -> str:
        content = without_folders(text).encode()
        name = hashlib.sha256(content).hexdigest()[:32]
        if name not in self.hashes:
            self.hashes.add(name)
            self._insert(
                connection, "packed", {"hash": name, "content": lzma.compress(content, preset=6)}
            )
        return name

    def devices(self, connection) -> None:
        """The devices of the sweeps, each under its name; of several cards of one name the one of
        which most is known."""
        used = {row[0] for row in connection.execute("SELECT device FROM sweep")}
        known = sorted(self.source.devices(), key=lambda device: len(device.facts))
        for name, device in {
            device.name: device for device in known if device.name in used
        }.items():
            facts = {
                fact: value for fact, value in device.facts.items() if fact not in PRIVATE_FACTS
            }
            doc = json.dumps(to_json(replace(device, id=name, facts=facts)))
            self._insert(connection, "device", {"id": name, "updated": 0.0, "doc": doc})

    def presets(self, connection, sweeps: Collection[str]) -> None:
        with self.source.database.connect() as reading:
            rows = [dict(row) for row in reading.execute("SELECT * FROM preset")]
        for row in rows:
            if json.loads(row["doc"])["sweep"] in sweeps:
                self._insert(connection, "preset", row)
                self.kept += 1

    def _insert(self, connection, table: str, values: dict[str, Any], how: str = "") -> None:
        columns, marks = ", ".join(values), ", ".join("?" * len(values))
        connection.execute(
            f"INSERT {how} INTO {table} ({columns}) VALUES ({marks})", tuple(values.values())
        )
        self.parts[table] = self.parts.get(table, 0) + sum(
            len(v) for v in values.values() if isinstance(v, (str, bytes))
        )


def _slim_baseline(baseline: BaselineResult) -> BaselineResult:
    detail, reason = without_folders(baseline.detail)[:2000], without_folders(baseline.reason)
    return replace(
        baseline,
        detail=detail,
        reason=reason,
        timing=thinned(baseline.timing) if baseline.timing else None,
    )


def _few(counts: dict[str, dict[str, int]]) -> dict[str, dict[str, int]]:
    """Counts of the machine's own instructions where there are any: most of a row is counts."""
    return _without_zeros({"sass": counts["sass"]} if counts.get("sass") else counts)


def _without_zeros(counts: dict[str, dict[str, int]]) -> dict[str, dict[str, int]]:
    return {
        text: {name: count for name, count in found.items() if count}
        for text, found in counts.items()
    }


def _lean(record: Any) -> Any:
    """The JSON value of a record without the fields that hold their defaults; a timing keeps the
    numbers that `to_json` adds."""
    if isinstance(record, (list, tuple)):
        return [_lean(value) for value in record]
    if isinstance(record, dict):
        return {name: _lean(value) for name, value in record.items()}
    if not dataclasses.is_dataclass(record):
        return to_json(record)
    told = {
        f.name: _lean(getattr(record, f.name))
        for f in dataclasses.fields(record)
        if not _is_default(record, f)
    }
    added = ("median_us", "p10_us", "p90_us", "n") if isinstance(record, Timing) else ()
    return {**{name: to_json(getattr(record, name)) for name in added}, **told}


def _is_default(record: Any, f: dataclasses.Field) -> bool:
    value = getattr(record, f.name)
    return value == f.default or (
        f.default_factory is not dataclasses.MISSING and value == f.default_factory()
    )
