"""`cancel`: stops sweeps and runs that go on after their command has gone; without an id, lists
what waits or runs."""

import json

from tileviz import formats
from tileviz.engine import client
from tileviz.engine.sweeps import client as sweeps
from tileviz.errors import BadRequest
from tileviz.records import JobView
from tileviz.store import Store

WAIT_S = 15.0
"""Seconds to wait until the engine has killed what was running."""


def cancel(asked) -> int:
    """Cancels each id; the exit status is 1 where one has not ended in time."""
    store = Store()
    if not asked.ids:
        return _list(store, asked.json)
    for found in asked.ids:
        _check(store, found)
    states = {found: _stopped(store, found) for found in asked.ids}
    if asked.json:
        print(json.dumps({"cancelled": states}))
    else:
        print("\n".join(f"{found} is {state}" for found, state in states.items()))
    return 0 if "cancelling" not in states.values() else 1


def how_to(found: str) -> str:
    """The command, as a sentence says it."""
    return f"`python -m tileviz cancel {found}`"


def _list(store: Store, as_json: bool) -> int:
    jobs = [job for job in store.jobs(active=True, limit=200, oldest_first=True)]
    if as_json:
        print(
            json.dumps(
                {
                    "active": [
                        {
                            "id": _id_of(job),
                            "kind": job.kind,
                            "state": job.state,
                            "phase": job.phase,
                        }
                        for job in jobs
                    ]
                }
            )
        )
    else:
        print("\n".join(map(_line, jobs)) if jobs else "nothing waits or runs")
    return 0


def _line(job: JobView) -> str:
    request = job.request
    what = " ".join(str(word) for word in (job.kind, request.get("kernel", "")) if word)
    problem = request.get("problem")
    said = f"{what} {formats.assignments(problem)}" if isinstance(problem, dict) else what
    return f"{_id_of(job)}  {said}: {job.phase or job.state}"


def _id_of(job: JobView) -> str:
    """What a person knows of it: a sweep's own id, else the job's."""
    return str(job.request.get("sweep")) if job.kind == "sweep" else job.id


def _check(store: Store, found: str) -> None:
    """Raises BadRequest for what neither waits nor runs."""
    view = store.sweep(found) or store.job(found)
    if view is None:
        raise BadRequest(
            f"no sweep or run '{found}' under {store.home}; `python -m tileviz cancel`"
            " lists what waits or runs"
        )
    if not view.active:
        raise BadRequest(
            f"{found} is {view.state} already; `python -m tileviz cancel` lists what waits or runs"
        )


def _stopped(store: Store, found: str) -> str:
    """Its state once it has ended, or `cancelling`."""
    try:
        if store.sweep(found) is not None:
            sweeps.cancel(store, found)
            return sweeps.wait(store, found, timeout=WAIT_S).state
        client.cancel(store, found)
        return client.wait(store, found, timeout=WAIT_S).state
    except TimeoutError:
        return "cancelling"
