"""The one store: an SQLite file (WAL) for jobs, trials and devices, and a folder of artifact texts
by content hash."""

from tileviz.store.home import tileviz_home
from tileviz.store.recorded import StoreWithRecorded
from tileviz.store.store import Store, new_id
from tileviz.store.watch import Watch

__all__ = ["Store", "StoreWithRecorded", "Watch", "new_id", "tileviz_home"]
