"""Sweeps in the store: one row a requested config, with the columns that charts read, so that no
document is parsed for a heatmap."""

import json
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from tileviz.measured import Best, best_of
from tileviz.records import ACTIVE, DECIDED, EndState, SweepState, Trial
from tileviz.records_json import to_json
from tileviz.store.part import StorePart
from tileviz.store.rows import ACTIVE_WORDS, document
from tileviz.store.sweep_rows import (
    FLAGS,
    NOT_RUN,
    RESULTS,
    ROWS_AT_ONCE,
    SweepRow,
    rows_written,
    swept_trial_written,
)

PREPARING = "preparing"
"""State of a sweep whose rows are being written. It is there for others when it has another state,
or when its job is there: the row of the job is the last to be written."""

ABANDONED_S = 600.0
"""Age from which a sweep that is still PREPARING is the rest of a process that was killed: rows are
written within seconds."""

MOST_DEATHS = 25
"""Engines that may die one after the other, with no new trial in between, before a sweep is given
up: killing them is no crash loop."""

_PLAIN = ("ordinal", "same_as", *(name for name in RESULTS if name not in ("instructions", *FLAGS)))


@dataclass(frozen=True)
class SweepView:
    """A sweep as the store knows it."""

    id: str
    kernel: str
    target: str
    device: str | None
    request: dict[str, Any]
    """problems, values, strategy, effort, budget, seed, counted, ..."""
    state: SweepState
    reason: str = ""
    """Why it ended: the budget that was spent, or what failed."""
    job: str | None = None
    counts: dict[str, int] = field(default_factory=dict)
    """Rows by status; `not_run` for those that were not tried."""
    bests: dict[int, Best] = field(default_factory=dict)
    """The best config of each problem that has one, by the problem's place: see
    `measured.best_of`."""
    tied: dict[int, list[str]] = field(default_factory=dict)
    """Trial ids that the fastest one does not clearly beat when they are measured in turn, fastest
    first, by the problem's place."""
    notes: dict[str, Any] = field(default_factory=dict)
    """What else is to be said: `lane_busy`, the share of the time since the first compile in which
    the device measured; what failed after the search."""
    seconds: float = 0.0
    """Seconds of its main pass so far."""
    created: float = 0.0
    started: float | None = None
    ended: float | None = None
    recorded: bool = False
    """True when it comes with tileviz: it can be shown, not changed, and its device is a name."""

    @property
    def active(self) -> bool:
        return self.state in ACTIVE

    @property
    def best(self) -> dict[int, str]:
        """Trial ids of the best configs, by the problem's place; a row from a file may have
        none."""
        return {problem: found.trial for problem, found in self.bests.items() if found.trial}

    @property
    def requested(self) -> int:
        return sum(self.counts.values())


@dataclass(frozen=True)
class Pace:
    """How far a sweep is, over the configs that are compiled and measured: equal ones once, none
    that a rule forbids."""

    done: int
    total: int
    counts: dict[str, int] = field(default_factory=dict)
    """Configs by status, equal ones once; with those that a rule forbids."""


class SweepStore(StorePart):
    """The part of `Store` that knows sweeps; uses its `database`."""

    def create_sweep(
        self,
        sweep: str,
        request: dict[str, Any],
        rows: Iterable[SweepRow],
        *,
        state: SweepState = "queued",
        reason: str = "",
        job: str | None = None,
    ) -> None:
        """Writes a new sweep with all its rows. `request` has kernel, target and device beside what
        else describes it.

        With the id of a `job` it is there for others from the moment in which that job is
        submitted. The rows are made before anything is written, and go in a part at a time, so that
        others write in between; of a process that is killed meanwhile nothing is ever shown.
        """
        of = (
            request["kernel"],
            request["target"],
            request.get("device"),
            json.dumps(to_json(request)),
        )
        head = (sweep, *of, PREPARING, reason, time.time(), job)
        columns = "id, kernel, target, device, request, state, reason, created, job"
        written = [
            (f"INSERT INTO sweep ({columns}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)", head),
            *rows_written(sweep, list(rows)),
        ]
        if job is None:
            written.append(("UPDATE sweep SET state=? WHERE id=?", (state, sweep)))
        self.clear_abandoned()
        self.database.write_many(written)

    def clear_abandoned(self) -> None:
        """Deletes what is left of sweeps whose process was killed while it wrote their rows."""
        old = (
            "SELECT sweep.id FROM sweep LEFT JOIN job ON job.id=sweep.job WHERE NOT"
            f" {_WHOLE} AND sweep.created<?"
        )
        with self.database.connect() as connection:
            found = [row["id"] for row in connection.execute(old, (time.time() - ABANDONED_S,))]
        for sweep in found:
            self.delete_rows(sweep)
            self.database.write("DELETE FROM sweep WHERE id=? AND state=?", (sweep, PREPARING))

    def delete_rows(self, sweep: str) -> None:
        """Deletes the rows of a sweep, not their trials, a part at a time."""
        some = "SELECT ordinal FROM sweep_trial WHERE sweep=? LIMIT ?"
        while self.database.write(
            f"DELETE FROM sweep_trial WHERE sweep=? AND ordinal IN ({some})",
            (sweep, sweep, ROWS_AT_ONCE),
        ):
            pass

    def queue_sweep(
        self,
        sweep: str,
        job: str,
        asked: dict[str, Any],
        *,
        before: str | None,
        changed: dict[str, Any] | None = None,
    ) -> bool:
        """Queues a job of a sweep that is just written or has ended, and takes back why it ended;
        with `changed` its request is that from now on. All of it in one step, or nothing: False
        where another job of the sweep was queued since its job was `before`."""
        row = (job, "sweep", json.dumps(to_json(asked)), time.time())
        request = json.dumps(to_json(changed)) if changed is not None else None
        with self.database.transaction() as connection:
            claimed = connection.execute(
                "UPDATE sweep SET state='queued', reason='', ended=NULL, job=?,"
                " request=coalesce(?, request)"
                " WHERE id=? AND job IS ? AND (state NOT IN ('queued', 'running')"
                f" OR NOT EXISTS (SELECT 1 FROM job WHERE id=? AND state IN {ACTIVE_WORDS}))",
                (job, request, sweep, before, before),
            )
            if claimed.rowcount:
                connection.execute(
                    "INSERT INTO job (id, kind, request, created) VALUES (?, ?, ?, ?)", row
                )
        return bool(claimed.rowcount)

    def start_sweep(self, sweep: str, *, job: str | None = None) -> None:
        """Marks a sweep as running, and takes back why it ended before."""
        self.database.write(
            "UPDATE sweep SET state='running', reason='', ended=NULL, job=coalesce(?,"
            " job), started=coalesce(started, ?) WHERE id=?",
            (job, time.time(), sweep),
        )

    def finish_sweep(
        self, sweep: str, state: EndState, reason: str = "", *, seconds: float | None = None
    ) -> None:
        self.database.write(
            "UPDATE sweep SET state=?, reason=?, ended=?, seconds=coalesce(?, seconds) WHERE id=?",
            (state, reason, time.time(), seconds, sweep),
        )

    def note_sweep(
        self,
        sweep: str,
        *,
        tied: dict[int, list[str]] | None = None,
        notes: dict[str, Any] | None = None,
    ) -> None:
        """Adds ties and notes to what is there; ties that are None are taken away."""
        with self.database.connect() as connection:  # only the engine writes notes
            row = connection.execute(
                "SELECT tied, notes FROM sweep WHERE id=?", (sweep,)
            ).fetchone()
        if row is not None:
            merged = {**json.loads(row["tied"]), **{str(k): v for k, v in (tied or {}).items()}}
            merged = {problem: trials for problem, trials in merged.items() if trials is not None}
            said = {**json.loads(row["notes"]), **(notes or {})}
            self.database.write(
                "UPDATE sweep SET tied=?, notes=? WHERE id=?",
                (json.dumps(merged), json.dumps(said), sweep),
            )

    def save_sweep_trials(
        self,
        sweep: str,
        done: Sequence[tuple[Sequence[int], Trial]],
        *,
        seconds: float | None = None,
        columns: dict[str, Any] | None = None,
    ) -> None:
        """Writes trials and their rows: each trial with the ordinals of the configs it stands for
        (equal ones share it).

        The first ordinal is the trial's own config; the others keep their config and name the first
        in their reason. Also tells the job queue that this sweep makes progress, so that engines
        that died before do not count against it.
        """
        written = [
            statement
            for ordinals, trial in done
            for statement in swept_trial_written(sweep, ordinals, trial, columns or {})
        ]
        written.append(
            (
                "UPDATE job SET attempts=0 WHERE id=(SELECT job FROM sweep WHERE id=?)"
                " AND state='running'",
                (sweep,),
            )
        )
        if seconds is not None:
            written.append(("UPDATE sweep SET seconds=? WHERE id=?", (seconds, sweep)))
        # a trial before its row: one whose row was not written is tried again
        self.database.write_many(written)

    def link_sweep_rows(self, sweep: str, ordinals: Sequence[int], same_as: int) -> None:
        """Marks configs whose generated source turned out to be that of another one."""
        linked = (
            "UPDATE sweep_trial SET same_as=? WHERE sweep=? AND ordinal IN (SELECT"
            " value FROM json_each(?))"
        )
        self.database.write(linked, (same_as, sweep, json.dumps(list(ordinals))))

    def give_up_sweeps(self, connection, most_attempts: int = MOST_DEATHS) -> None:
        """Ends the jobs of sweeps with which engine after engine died, with not one new trial in
        between."""
        reason = (
            f"the engine died {most_attempts} times in a row without a new trial; see engine.log"
        )
        connection.execute(
            "UPDATE job SET state='failed', reason=?, ended=? WHERE state='running' AND"
            " kind='sweep' AND attempts>=?",
            (reason, time.time(), most_attempts),
        )

    def sweep(self, sweep: str) -> SweepView | None:
        with self.database.connect() as connection:
            row = connection.execute(f"{_HEADS} AND sweep.id=?", (sweep,)).fetchone()
            return _view(connection, row) if row else None

    def sweeps(
        self, kernel: str | None = None, *, active: bool = False, limit: int = 50
    ) -> list[SweepView]:
        """Sweeps, newest first."""
        where = "AND (? IS NULL OR kernel=?)" + (
            f" AND sweep.state IN ('{PREPARING}', 'queued', 'running')" if active else ""
        )
        with self.database.connect() as connection:
            rows = connection.execute(
                f"{_HEADS} {where} ORDER BY sweep.created DESC LIMIT ?", (kernel, kernel, limit)
            ).fetchall()
            views = [_view(connection, row) for row in rows]
        return [view for view in views if view.active or not active]

    def sweep_pace(self, sweep: str) -> Pace:
        """How far it is: for a view that asks every second."""
        asked = (
            "SELECT status, count(*) AS n FROM sweep_trial WHERE sweep=? AND same_as"
            " IS NULL GROUP BY status"
        )
        with self.database.connect() as connection:
            counts = {row["status"]: row["n"] for row in connection.execute(asked, (sweep,))}
        total = sum(n for status, n in counts.items() if status not in DECIDED)
        return Pace(total - counts.get(NOT_RUN, 0), total, counts)

    def sweep_frame(
        self, sweep: str, *, instructions: bool = True, statuses: Sequence[str] = ()
    ) -> list[dict[str, Any]]:
        """One plain dict a requested config, in order: ordinal, problem and its problem_index,
        config, status, reason, same_as, trial, times, rates, resources, flags, and `instructions`
        {"sass": {class: n}} where asked for."""
        where = f" AND status IN ({', '.join('?' * len(statuses))})" if statuses else ""
        counts = "instructions" if instructions else "NULL"
        wanted = ", ".join(("problem", "config", f"{counts} AS counted", *_PLAIN, *FLAGS))
        with self.database.connect() as connection:
            head = connection.execute("SELECT request FROM sweep WHERE id=?", (sweep,)).fetchone()
            if head is None:
                return []
            asked = f"SELECT {wanted} FROM sweep_trial WHERE sweep=?{where} ORDER BY ordinal"
            rows = connection.execute(asked, (sweep, *statuses)).fetchall()
        problems = json.loads(head["request"])["problems"]
        configs = json.loads("[" + ",".join(row["config"] for row in rows) + "]")
        counted = json.loads("[" + ",".join(row["counted"] or "null" for row in rows) + "]")
        return [
            _frame_row(row, problems, config, found)
            for row, config, found in zip(rows, configs, counted, strict=True)
        ]

    def sweep_columns(self, sweep: str) -> dict[str, list]:
        """What `sweep_frame` gives, as a list for each column, in the order of the configs;
        `config` and `instructions` are the JSON texts as they are stored, and the problem is its
        `problem_index` alone. For charts: a third of the time and of the memory. Empty for a sweep
        that is not here."""
        names = ("problem_index", "config", "instructions", *_PLAIN, *FLAGS)
        asked = (
            f"SELECT problem, {', '.join(names[1:])} FROM sweep_trial WHERE sweep=?"
            " ORDER BY ordinal"
        )
        with self.database.connect() as connection:
            cursor = connection.cursor()
            cursor.row_factory = None
            rows = cursor.execute(asked, (sweep,)).fetchall()
        return dict(zip(names, map(list, zip(*rows, strict=True)), strict=True)) if rows else {}

    def trials_of_sweep(self, sweep: str) -> dict[str, dict[str, Any]]:
        """The JSON document of every trial of a sweep, by its id: for exports; a chart reads
        `sweep_columns`."""
        with self.database.connect() as connection:
            rows = connection.execute(
                "SELECT id, doc FROM trial WHERE id IN (SELECT trial FROM sweep_trial"
                " WHERE sweep=? AND trial IS NOT NULL)",
                (sweep,),
            ).fetchall()
        return {row["id"]: document(row["doc"]) for row in rows}


_WHOLE = f"(sweep.state<>'{PREPARING}' OR job.id IS NOT NULL)"

_HEADS = (
    "SELECT sweep.*, job.state AS job_state, job.reason AS job_reason FROM sweep"
    f" LEFT JOIN job ON job.id = sweep.job WHERE {_WHOLE}"
)


def _frame_row(row, problems: list, config: dict, counted: dict | None) -> dict[str, Any]:
    out = {
        "problem": problems[row["problem"]],
        "problem_index": row["problem"],
        "config": config,
        "instructions": counted,
    }
    out |= {name: row[name] for name in _PLAIN}
    return out | {name: bool(row[name]) for name in FLAGS}


def _view(connection, row) -> SweepView:
    counts = connection.execute(
        "SELECT status, count(*) AS n FROM sweep_trial WHERE sweep=? GROUP BY status", (row["id"],)
    ).fetchall()
    names = ("id", "kernel", "target", "device", "job", "seconds", "created", "started", "ended")
    state, reason = "queued" if row["state"] == PREPARING else row["state"], row["reason"]
    if state in ("queued", "running") and row["job_state"] in ("cancelled", "failed"):
        # its job ended without an engine that could say so here
        state, reason = row["job_state"], row["job_reason"]
    tied = {int(problem): trials for problem, trials in json.loads(row["tied"]).items()}
    request = json.loads(row["request"])
    turns = {} if state in ("queued", "running") else tied
    bests = {
        number: _best(connection, row["id"], number, turns.get(number, ()))
        for number in range(_problems(request))
    }
    return SweepView(
        state=state,
        reason=reason,
        **{name: row[name] for name in names},
        request=request,
        counts={found["status"]: found["n"] for found in counts},
        bests={number: best for number, best in bests.items() if best is not None},
        tied=tied,
        notes=json.loads(row["notes"]),
    )


_CANDIDATES = (
    "SELECT ordinal, trial, median_us, status, same_as, implausible, launch_bound FROM sweep_trial"
)

# in the order of the index sweep_trial_fate, so that the first row that may be ranked is the
# fastest
_FASTEST = (
    f"{_CANDIDATES} WHERE sweep=? AND status='ok' AND problem=? AND same_as IS NULL AND"
    " implausible=0 AND median_us>0 AND NOT launch_bound"
    " ORDER BY median_us, ordinal LIMIT 1"
)
_IN_TURN = f"{_CANDIDATES} WHERE trial IN (SELECT value FROM json_each(?)) AND +sweep=?"


def _problems(request: dict[str, Any]) -> int:
    """How many problems a sweep has; 0 where its request is none: an earlier version took files
    unchecked."""
    found = request.get("problems")
    return len(found) if isinstance(found, list) else 0


def _best(connection, sweep: str, problem: int, turns: Sequence[str]) -> Best | None:
    rows = connection.execute(_FASTEST, (sweep, problem)).fetchall()
    rows += connection.execute(_IN_TURN, (json.dumps(turns), sweep)).fetchall() if turns else []
    found = best_of(rows, turns)
    return None if found is None else Best(found["ordinal"], found["trial"], found["median_us"])
