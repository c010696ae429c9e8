"""Presets in the store: the best config of a sweep for one problem, one for each kernel, target, device and problem."""

import json

from tileviz.records import TunedConfig, canonical_json
from tileviz.records_json import to_json, tuned_from_json
from tileviz.store.rows import readable


class PresetStore:
    """The part of `Store` that knows presets; uses its `database`."""

    def save_tuned(self, tuned: TunedConfig) -> None:
        """Writes a preset in the place of an earlier one for the same kernel, target, device and problem."""
        values = (tuned.id, tuned.kernel, tuned.target, tuned.device, canonical_json(tuned.problem), tuned.created)
        with self.database.transaction() as connection:
            connection.execute("INSERT OR REPLACE INTO preset VALUES (?, ?, ?, ?, ?, ?, ?)", (*values, json.dumps(to_json(tuned))))

    def tuned(self, kernel: str | None = None) -> list[TunedConfig]:
        """Presets, newest first."""
        asked = "SELECT id, doc FROM preset WHERE ? IS NULL OR kernel=? ORDER BY created DESC, id"
        with self.database.connect() as connection:
            rows = connection.execute(asked, (kernel, kernel)).fetchall()
        return readable(self.database.path, "preset", rows, lambda row: tuned_from_json(json.loads(row["doc"])))

    def forget_tuned(self, tuned: str) -> bool:
        """Deletes a preset; False when there is none of this id."""
        with self.database.connect() as connection:
            return connection.execute("DELETE FROM preset WHERE id=?", (tuned,)).rowcount == 1
