"""A sweep as others take it: the command line's JSON document, exports, imports, and configs as
TileLang's autotune takes them."""

from pathlib import Path
from typing import Any

from tileviz.engine.jobs import race
from tileviz.errors import BadRequest, StoreError
from tileviz.measured import why_no_best
from tileviz.records_json import to_json
from tileviz.store import Store, exchange, new_id
from tileviz.store.incoming import content_of
from tileviz.store.sweeps import SweepView


def view_of(store: Store, sweep: str) -> SweepView:
    """The sweep. Raises BadRequest, with the newest ones, when there is none of this id, and
    StoreError for one that cannot be read."""
    view = there(store, sweep)
    why_not = (
        exchange.why_unreadable(view.request, store.sweep_columns(sweep))
        if view.request.get("imported")
        else ""
    )
    if why_not:  # an earlier version took files unchecked
        raise StoreError(
            f"sweep {sweep} cannot be shown: {why_not}; `python -m tileviz delete"
            f" {sweep}` deletes it"
        )
    return view


def there(store: Store, sweep: str) -> SweepView:
    """The sweep, whether it can be read or not. Raises BadRequest, with the newest ones, when there
    is none of this id."""
    view = store.sweep(sweep)
    if view is None:
        newest = ", ".join(found.id for found in store.sweeps(limit=5)) or "none yet"
        raise BadRequest(f"no sweep '{sweep}' under {store.home}; the newest: {newest}")
    return view


def document(store: Store, sweep: str) -> dict[str, Any]:
    """{sweep, status, counts, best, trials} and more; one row for each requested config, pruned and
    duplicate ones too.

    A row has the fields of a trial; `ordinal`, `same_as` and `problem_index` say where it belongs.
    `best` is the row of the best config of the first problem that has one, `best_of` one for each
    problem or null, `no_best` why there is none (see `measured.best_of`), `tied` the trials that it
    does not clearly beat, `rival` what came of a race against TileLang's AutoTuner (see
    `race.told`), or null.
    """
    view = view_of(store, sweep)
    frame = store.sweep_frame(sweep)
    trials = store.trials_of_sweep(sweep)
    there(store, sweep)  # not deleted meanwhile: what was read is whole
    rows = [_row(view, row, trials.get(row["trial"])) for row in frame]
    places = {row["ordinal"]: row for row in rows}
    best_of = {number: places[best.ordinal] for number, best in view.bests.items()}
    numbers = range(len(view.request["problems"]))
    unranked = [
        ""
        if number in best_of
        else why_no_best(row for row in frame if row["problem_index"] == number)
        for number in numbers
    ]
    return {
        "sweep": view.id,
        "status": view.state,
        "reason": view.reason,
        "kernel": view.kernel,
        "target": view.target,
        "device": view.device,
        "problems": view.request["problems"],
        "strategy": view.request.get("strategy"),
        "effort": view.request.get("effort"),
        "budget": view.request.get("budget"),
        "seed": view.request.get("seed"),
        "counted": view.request.get("counted"),
        "seconds": view.seconds,
        "notes": view.notes,
        "rival": [race.told(view.notes, number) for number in numbers],
        "counts": view.counts,
        "best": best_of.get(min(best_of)) if best_of else None,
        "best_of": [best_of.get(number) for number in numbers],
        "no_best": unranked,
        "tied": [view.tied.get(number, []) for number in numbers],
        "trials": rows,
    }


def export(store: Store, sweep: str, form: str, path: Path) -> int:
    """Writes a sweep to a file in a format of `exchange.FORMATS`; gives the number of rows. Raises
    BadRequest and StoreError."""
    text, rows = written(store, sweep, form)
    try:
        path.write_text(text, encoding="utf-8")
    except OSError as error:
        raise StoreError(f"cannot write {path}: {error.strerror}", str(error)) from error
    return rows


def written(store: Store, sweep: str, form: str) -> tuple[str, int]:
    """(the sweep in a format of `exchange.FORMATS`, its number of rows). Raises BadRequest and
    StoreError."""
    view = view_of(store, sweep)
    frame = store.sweep_frame(sweep)
    there(store, sweep)  # not deleted meanwhile: what was read is whole
    return exchange.written(view, frame, form), len(frame)


def bring_in(store: Store, path: Path) -> str:
    """Stores the sweep of an exported file and gives its new id. Raises BadRequest for a file that
    cannot be read as one."""
    return bring_in_content(store, content_of(path, (exchange.MOST_MB << 20) + 1), path.name)


def bring_in_content(store: Store, content: bytes, name: str) -> str:
    """Stores the sweep in an exported file called `name`, and gives its new id. Raises
    BadRequest."""
    found = exchange.read(content)
    sweep = new_id()
    reason = ". ".join((f"imported from {name}", *(note.rstrip(".") for note in found.notes)))
    store.create_sweep(
        sweep, {**found.request, "imported": name}, found.rows, state="done", reason=reason
    )
    if found.tied:
        store.note_sweep(sweep, tied=found.tied)
    return sweep


def autotune_list(configs: list[dict[str, Any]]) -> str:
    """Configs as Python for TileLang's `autotune(configs=...)`; pass configs go under
    `pass_configs`."""
    lines = []
    for config in configs:
        knobs = {name: value for name, value in config.items() if "." not in name}
        passes = {name: value for name, value in config.items() if "." in name}
        lines.append(f"    { ({**knobs, 'pass_configs': passes} if passes else knobs)!r},")
    return "\n".join(("configs = [", *lines, "]"))


def _row(view: SweepView, row: dict[str, Any], trial: dict[str, Any] | None) -> dict[str, Any]:
    if trial is not None and view.request.get("imported") and not _says(trial, view, row):
        trial = None  # the file was changed, or names a trial of another: its own numbers are shown
    full = {**_blank(view, row), **(trial or {})}
    own = ("config", "problem", "status", "reason", "ordinal", "same_as", "problem_index", "trial")
    flags = ("finalist", "short", "launch_bound", "implausible")
    return to_json({**full, **{name: row[name] for name in (*own, *flags)}})


def _says(trial: dict[str, Any], view: SweepView, row: dict[str, Any]) -> bool:
    """Whether a stored trial is of this kernel and has the time of this row."""
    return (
        trial["kernel"] == view.kernel
        and (trial.get("timing") or {}).get("median_us") == row["median_us"]
    )


def _blank(view: SweepView, row: dict[str, Any]) -> dict[str, Any]:
    """The fields of a trial, from the row's own columns: for configs that were not run, and for
    imported ones."""
    timed = row["median_us"] is not None
    return {
        "kernel": view.kernel,
        "target": view.target,
        "device": view.device,
        "resources": {
            "registers": row["registers"],
            "spill_bytes": row["spill_bytes"],
            "shared_bytes": {
                "static": row["shared_static_bytes"],
                "dynamic": row["shared_dynamic_bytes"],
            },
            "threads_launched": row["threads_launched"],
            "occupancy": row["occupancy"],
        },
        "instructions": row["instructions"] or {},
        "verdict": {"ok": row["status"] == "ok", "rel_error": row["rel_error"]}
        if row["rel_error"] is not None
        else None,
        "timing": {name: row[name] for name in ("median_us", "p10_us", "p90_us", "n")}
        if timed
        else None,
        "tflops": row["tflops"],
        "gbps": row["gbps"],
        "roofline": None,
        "baselines": [],
        "fingerprint": {},
        "artifact": None,
    }
