"""`load`: a stored trial or sweep by its id."""

from tileviz.api.results import Compiled, Result, of
from tileviz.api.sweeping import Sweep
from tileviz.errors import BadRequest
from tileviz.store import Store, StoreWithRecorded


def load(id: str) -> Result | Compiled | Sweep:
    """The result of this id, as `run`, `compile` and `sweep` print it, also of one that comes with
    tileviz. Raises BadRequest."""
    store = StoreWithRecorded()
    if store.sweep(id) is not None:
        return Sweep(id, store)
    return _trial(store, id)


def trial_of(found: Result | Compiled | str) -> Result | Compiled:
    """A result as it is, or the stored one of an id. Raises BadRequest."""
    return _trial(StoreWithRecorded(), found) if isinstance(found, str) else found


def _trial(store: Store, id: str) -> Result | Compiled:
    trial = store.trial(id)
    if trial is None:
        recent = ", ".join(t.trial for t in store.trials(limit=5)) or "none yet"
        raise BadRequest(f"no result '{id}' under {store.home}; the newest: {recent}")
    return of(trial, store)
