"""What pages, commands and the engine see of the store: records in, records out."""

import json
import logging
import os
import shutil
import time
import uuid
from collections.abc import Callable
from dataclasses import fields
from pathlib import Path
from typing import Any

from tileviz.errors import StoreError
from tileviz.records import Artifact, Device, EndState, JobView, Trial
from tileviz.records_json import artifact_from_json, device_from_json, to_json, trial_from_json
from tileviz.store.artifacts import ArtifactFiles, without_texts
from tileviz.store.database import Database
from tileviz.store.deletion import DeletionStore
from tileviz.store.home import tileviz_home
from tileviz.store.presets import PresetStore
from tileviz.store.rows import ACTIVE_WORDS, document, read_row, readable, trial_written, unread
from tileviz.store.sweeps import SweepStore

log = logging.getLogger("tileviz.store")

INDUCTOR = "inductor"
"""Folder of our home in which torch.compile and Triton keep what they compile."""


def new_id() -> str:
    """A random text id: recorded and imported stores lie beside each other."""
    return uuid.uuid4().hex[:12]


class Store(SweepStore, PresetStore, DeletionStore):
    """The store of one TILEVIZ_HOME. Cheap to make; every call opens its own connection. Raises
    StoreError."""

    def __init__(self, home: Path | str | None = None) -> None:
        self.home = Path(home) if home is not None else tileviz_home()
        self.home.mkdir(parents=True, exist_ok=True)
        self.database = Database(self.home)
        self.files = ArtifactFiles(self.home)

    @property
    def recorded(self) -> "Store | None":
        """The results that come with tileviz, where this store is read beside them."""
        return None

    # jobs

    def submit(
        self,
        kind: str,
        request: dict[str, Any],
        *,
        trial: Trial | None = None,
        job: str | None = None,
    ) -> str:
        """Queues a job, of this id where one is given, and gives its id. With a trial that is
        already decided (pruned by rule), the job is done at once."""
        job, now = job or new_id(), time.time()
        row = (job, kind, json.dumps(to_json(request)), now)
        if trial is None:
            self.database.write(
                "INSERT INTO job (id, kind, request, created) VALUES (?, ?, ?, ?)", row
            )
            return job
        done = (
            "INSERT INTO job (id, kind, request, created, state, trial, started,"
            " ended) VALUES (?, ?, ?, ?, 'done', ?, ?, ?)"
        )
        self.database.write_many([trial_written(trial), (done, (*row, trial.trial, now, now))])
        return job

    def job(self, job: str) -> JobView | None:
        with self.database.connect() as connection:
            row = connection.execute("SELECT * FROM job WHERE id=?", (job,)).fetchone()
            return (
                self._read("job", row, lambda row: _job_view(row, _position(connection, row)))
                if row
                else None
            )

    def jobs(
        self, *, active: bool = False, limit: int = 50, oldest_first: bool = False
    ) -> list[JobView]:
        """Jobs, newest first, or as they are served; active ones alone on demand."""
        order = "created, rowid" if oldest_first else "created DESC, rowid DESC"
        where = f"WHERE state IN {ACTIVE_WORDS}" if active else ""
        with self.database.connect() as connection:
            rows = connection.execute(
                f"SELECT * FROM job {where} ORDER BY {order} LIMIT ?", (limit,)
            ).fetchall()
            return readable(
                self.database.path,
                "job",
                rows,
                lambda row: _job_view(row, _position(connection, row)),
            )

    def cancel(self, job: str) -> None:
        """Asks for a stop: a queued job ends at once, a running one when the engine has killed its
        process."""
        self.database.write(
            "UPDATE job SET reason=iif(state='queued', 'cancelled before it started',"
            " reason), ended=iif(state='queued', ?, ended),"
            " state=iif(state='queued', 'cancelled', 'cancelling') WHERE id=? AND state"
            " IN ('queued', 'running')",
            (time.time(), job),
        )

    def asked_to_stop(self) -> list[str]:
        """Ids of running jobs that somebody has cancelled."""
        with self.database.connect() as connection:
            return [
                row["id"]
                for row in connection.execute("SELECT id FROM job WHERE state='cancelling'")
            ]

    def claim(self, job: str) -> bool:
        """Takes a queued job for running; False when it is no longer queued."""
        taken = (
            "UPDATE job SET state='running', started=?, attempts=attempts+1 WHERE"
            " id=? AND state='queued'"
        )
        return self.database.write(taken, (time.time(), job)) == 1

    def recover_jobs(self, most_attempts: int = 2, died_of: str = "") -> None:
        """Called by a new engine: jobs of a dead one are queued again; one that already died with
        two engines is given up. `died_of`: the last words of the dead one."""
        self.clear_abandoned()
        last = f" ({died_of})" if died_of else ""
        reason = f"the engine died twice while this ran{last}; see engine.log"
        with self.database.transaction() as connection:
            connection.execute(
                "UPDATE job SET state='cancelled', ended=? WHERE state='cancelling'", (time.time(),)
            )
            self.give_up_sweeps(connection)
            connection.execute(
                "UPDATE job SET state='failed', reason=?, ended=? WHERE state='running'"
                " AND kind<>'sweep' AND attempts>=?",
                (reason, time.time(), most_attempts),
            )
            connection.execute(
                "UPDATE job SET state='queued', phase='', phase_started=NULL, phases='{}'"
                " WHERE state='running'"
            )

    def start_phase(self, job: str, phase: str) -> None:
        """Ends the current phase with its seconds and starts the next."""
        now = time.time()
        phases = self._closed_phases(job, now)
        self.database.write(
            "UPDATE job SET phase=?, phase_started=?, phases=? WHERE id=?",
            (phase, now, phases, job),
        )

    def job_has(self, job: str, *, trial: str | None = None, artifact: str | None = None) -> None:
        """Points a job at its trial or artifact as soon as there is one."""
        self.database.write(
            "UPDATE job SET trial=coalesce(?, trial), artifact=coalesce(?, artifact) WHERE id=?",
            (trial, artifact, job),
        )

    def finish(self, job: str, state: EndState, reason: str = "") -> None:
        """Ends a job as `done`, `failed` or `cancelled`."""
        now = time.time()
        self.database.write(
            "UPDATE job SET state=?, reason=?, phase='', phase_started=NULL, phases=?,"
            " ended=? WHERE id=?",
            (state, reason, self._closed_phases(job, now), now, job),
        )

    def _closed_phases(self, job: str, now: float) -> str:
        """The seconds of a job's phases when the current one ends now, as they are stored. Only the
        engine writes them."""
        with self.database.connect() as connection:
            row = connection.execute(
                "SELECT phase, phase_started, phases FROM job WHERE id=?", (job,)
            ).fetchone()
        return json.dumps(_closed_phases(row, now) if row is not None else {})

    # trials

    def save_trial(self, trial: Trial) -> None:
        """Writes a trial, or its newer form (baselines arrive one by one)."""
        self.database.write(*trial_written(trial))

    def trial(self, trial: str) -> Trial | None:
        with self.database.connect() as connection:
            row = connection.execute("SELECT id, doc FROM trial WHERE id=?", (trial,)).fetchone()
        return self._read("trial", row, _trial) if row else None

    def trials(
        self, kernel: str | None = None, *, limit: int = 10, sweeps: bool = True
    ) -> list[Trial]:
        """Trials, newest first; without those of sweeps on demand."""
        where = ["kernel=?"] if kernel is not None else []
        where += [] if sweeps else ["NOT swept"]
        asked = (
            "SELECT id, doc FROM"
            f" trial{' WHERE ' if where else ''}{' AND '.join(where)} ORDER BY created"
            " DESC, rowid DESC LIMIT ?"
        )
        with self.database.connect() as connection:
            rows = connection.execute(
                asked, (*([kernel] if kernel is not None else []), limit)
            ).fetchall()
        return readable(self.database.path, "trial", rows, _trial)

    def latest(self, key: str, device: str | None = None) -> Trial | None:
        """The newest trial of this key, on this device where one is named. A cancelled one hides
        none that was finished before."""
        newest = (
            "SELECT id, doc FROM trial WHERE key=? AND (? IS NULL OR device IS ?)"
            " ORDER BY status='cancelled', created DESC, rowid DESC LIMIT 1"
        )
        with self.database.connect() as connection:
            row = connection.execute(newest, (key, device, device)).fetchone()
        return self._read("trial", row, _trial) if row else None

    # artifacts

    def save_artifact(self, artifact: Artifact, *, complete: bool = True) -> None:
        """Writes the files, then the row. An incomplete artifact has its source only and is never a
        cache hit."""
        self.files.write(artifact)
        doc = without_texts(to_json(artifact))
        self.database.write(
            "INSERT OR REPLACE INTO artifact VALUES (?, ?, ?, ?)",
            (artifact.key, time.time(), int(complete), json.dumps(doc)),
        )

    def artifact(self, key: str, *, complete: bool = False) -> Artifact | None:
        """The artifact with its texts; None when there is none, when its files are gone or damaged,
        or when it is not complete as asked."""
        with self.database.connect() as connection:
            row = connection.execute(
                "SELECT key AS id, doc, complete FROM artifact WHERE key=?", (key,)
            ).fetchone()
        if row is None or (complete and not row["complete"]):
            return None
        try:
            return self._read("artifact", row, self._whole_artifact)
        except (OSError, StoreError) as error:
            log.warning("it will be compiled again: %s", error)
            return None

    def _whole_artifact(self, row) -> Artifact | None:
        doc = json.loads(row["doc"])
        texts = self.files.read(row["id"], doc)
        return (
            artifact_from_json(doc, **texts, lines=self.files.lines(row["id"]))
            if "source" in texts
            else None
        )

    # devices and notices

    def save_device(self, device: Device) -> None:
        self.database.write(
            "INSERT OR REPLACE INTO device VALUES (?, ?, ?)",
            (device.id, time.time(), json.dumps(to_json(device))),
        )

    def devices(self) -> list[Device]:
        """Devices that the engine has seen, with the facts that only the device itself tells."""
        with self.database.connect() as connection:
            rows = connection.execute("SELECT id, doc FROM device ORDER BY id").fetchall()
        return readable(
            self.database.path, "device", rows, lambda row: device_from_json(json.loads(row["doc"]))
        )

    def notices(self) -> list[str]:
        """What the person should know of the store: a damaged file that was set aside, rows that
        could not be read."""
        with self.database.connect() as connection:
            kept = [
                row["text"]
                for row in connection.execute(
                    "SELECT text FROM notice ORDER BY created DESC LIMIT 3"
                )
            ]
        return kept + unread(self.database.path)

    def _read(self, kind: str, row, read: Callable) -> Any:
        return read_row(self.database.path, kind, row, read)

    # size

    def size_bytes(self) -> dict[str, int]:
        """Bytes on disk: results (the SQLite file), artifacts, the caches of TileLang, and of
        torch.compile and Triton, under our home."""
        sizes = {
            "results": 0,
            "artifacts": 0,
            "tilelang": 0,
            "inductor": _tree_size(self.home / INDUCTOR),
        }
        for path in self.home.glob("store.db*"):
            sizes["results"] += _size(path)
        sizes["artifacts"] = _tree_size(self.files.root)
        sizes["tilelang"] = sum(_tree_size(p) for p in self.home.glob("tilelang-*"))
        return sizes

    def clear_cache(self) -> None:
        """Deletes compiled code under our home: artifacts, and what TileLang, torch.compile and
        Triton keep there. Results and the user's own caches stay."""
        self.database.write("DELETE FROM artifact")
        self.files.clear()
        for path in (*self.home.glob("tilelang-*"), self.home / INDUCTOR):
            shutil.rmtree(path, ignore_errors=True)


def _closed_phases(row, now: float) -> dict[str, float]:
    phases = json.loads(row["phases"])
    if row["phase"] and row["phase_started"]:
        phases[row["phase"]] = round(phases.get(row["phase"], 0.0) + now - row["phase_started"], 3)
    return phases


def _trial(row) -> Trial:
    return trial_from_json(document(row["doc"]))


def _job_view(row, position: int | None) -> JobView:
    values = {f.name: row[f.name] for f in fields(JobView) if f.name in row.keys()}
    values.update(
        request=dict(json.loads(row["request"])),
        phases=json.loads(row["phases"]),
        queue_position=position,
    )
    return JobView(**values)


def _position(connection, row) -> int | None:
    """How many jobs are before a queued one; None when it is not queued."""
    if row is None or row["state"] != "queued":
        return None
    ahead = connection.execute(
        f"SELECT count(*) FROM job WHERE state IN {ACTIVE_WORDS} AND created<?", (row["created"],)
    )
    return ahead.fetchone()[0]


def _tree_size(root: Path) -> int:
    return sum(_size(Path(folder, name)) for folder, _, names in os.walk(root) for name in names)


def _size(path: Path) -> int:
    """Bytes of a file; 0 when it was deleted since it was listed, as compilers and SQLite do with
    theirs."""
    try:
        return path.stat().st_size
    except OSError:
        return 0
