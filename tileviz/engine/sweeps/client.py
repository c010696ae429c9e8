"""Hands sweeps to the engine: submit, resume, cancel, wait. Pages and commands use this."""

import time
from collections.abc import Callable
from dataclasses import asdict

from tileviz.engine import client
from tileviz.engine.jobs import race
from tileviz.engine.sweeps.request import SweepRequest
from tileviz.engine.sweeps.space import Point, Space
from tileviz.errors import BadRequest, StoreError
from tileviz.store import Store, new_id
from tileviz.store.sweeps import NOT_RUN, SweepRow, SweepView


def submit(store: Store, request: SweepRequest, space: Space) -> str:
    """Writes the sweep with a row for each requested config, queues its job, and gives the sweep's
    id."""
    # before a row is written: where no engine can serve, nothing is stored
    client.renew_engine(store)
    sweep, job = new_id(), new_id()
    store.create_sweep(sweep, asdict(request), (_row(point) for point in space.points()), job=job)
    store.queue_sweep(sweep, job, _job_of(sweep, request.kernel, request.device), before=job)
    client.start_for(store)
    return sweep


def resume(
    store: Store,
    sweep: str,
    budget: dict | None = None,
    say: Callable[[str], None] = lambda _words: None,
) -> str:
    """Queues a sweep again; what has a result is skipped. `budget` replaces parts of its budget
    (`trials`, `seconds`, `patience`); without it, one whose budget was spent runs all the rest.
    Gives the job: the one that is at it where it waits or runs already, or is resumed elsewhere at
    the same moment, which `say` is told in a sentence. Raises BadRequest for one that is not there
    or came from a file."""
    view = store.sweep(sweep)
    if view is None:
        newest = ", ".join(found.id for found in store.sweeps(limit=5)) or "none yet"
        raise BadRequest(f"no sweep '{sweep}' under {store.home}; the newest: {newest}")
    if view.recorded:
        raise BadRequest(f"sweep {sweep} comes with tileviz; it can be shown, not resumed")
    if view.request.get("imported"):
        raise BadRequest(f"sweep {sweep} came from a file; it can be shown, not resumed")
    if view.active and view.job is not None:
        return _go_along(store, view, budget, say)
    if not budget and view.state == "done":
        budget = {"trials": None, "seconds": None, "patience": None}
    changed = {**view.request, "budget": {**view.request["budget"], **budget}} if budget else None
    client.renew_engine(store)
    job = new_id()
    if not store.queue_sweep(
        sweep, job, _job_of(sweep, view.kernel, view.device), before=view.job, changed=changed
    ):
        return _go_along(store, store.sweep(sweep) or view, budget, say)
    client.start_for(store)
    return job


def _go_along(
    store: Store, view: SweepView, budget: dict | None, say: Callable[[str], None]
) -> str:
    """With the job that is at this sweep already."""
    say(
        f"sweep {view.id} was asked for already and is"
        f" {view.state}{'; its budget stays as it is' if budget else ''}"
    )
    client.ensure_engine(store.home)
    return view.job or ""


def cancel(store: Store, sweep: str) -> None:
    """Asks for a stop, of a race after it, too. What was measured stays, and `resume` goes on from
    there."""
    view = store.sweep(sweep)
    if view is not None and view.job is not None:
        client.cancel(store, view.job)
    for job in race.jobs_of(store, sweep):
        client.cancel(store, job)


def wait(
    store: Store,
    sweep: str,
    *,
    on_change: Callable[[SweepView], None] | None = None,
    each: Callable[[], None] | None = None,
    timeout: float | None = None,
) -> SweepView:
    """Waits for the sweep to end; calls `on_change` whenever counts or state are new, and `each` at
    every look. Starts an engine when none is alive.

    Raises StoreError when it is gone, and TimeoutError after `timeout` seconds.
    """
    end = None if timeout is None else time.monotonic() + timeout
    seen = None
    while True:
        view = store.sweep(sweep)
        if view is None:
            raise StoreError(f"sweep {sweep} is not in the store")
        now = (view.state, tuple(view.counts.items()))
        if on_change is not None and now != seen:
            on_change(view)
        seen = now
        if each is not None:
            each()
        if not view.active:
            return view
        if view.job is not None:
            client.watch(store, view.job)
        if end is not None and time.monotonic() > end:
            raise TimeoutError(f"sweep {sweep} is still {view.state} after {timeout:g} s")
        time.sleep(0.1)


def _job_of(sweep: str, kernel: str, device: str | None) -> dict:
    """The request of a sweep's job."""
    return client.here({"kind": "sweep", "sweep": sweep, "kernel": kernel, "device": device})


def _row(point: Point) -> SweepRow:
    return SweepRow(
        point.ordinal,
        point.problem,
        point.config,
        point.status or NOT_RUN,
        point.reason,
        point.same_as,
    )
