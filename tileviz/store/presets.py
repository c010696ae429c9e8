"""Presets in the store: the best config of a sweep for one problem, one for each kernel, target,
device and problem."""

import json
from dataclasses import replace

from tileviz.measured import fastest_baseline
from tileviz.records import TunedConfig, canonical_json
from tileviz.records_json import to_json, tuned_from_json
from tileviz.store.part import StorePart
from tileviz.store.rows import readable


class PresetStore(StorePart):
    """The part of `Store` that knows presets; uses its `database`."""

    def save_tuned(self, tuned: TunedConfig) -> None:
        """Writes a preset in the place of an earlier one for the same kernel, target, device and
        problem."""
        values = (
            tuned.id,
            tuned.kernel,
            tuned.target,
            tuned.device,
            canonical_json(tuned.problem),
            tuned.created,
        )
        self.database.write(
            "INSERT OR REPLACE INTO preset VALUES (?, ?, ?, ?, ?, ?, ?)",
            (*values, json.dumps(to_json(tuned))),
        )

    def tuned(self, kernel: str | None = None) -> list[TunedConfig]:
        """Presets, newest first."""
        asked = "SELECT id, doc FROM preset WHERE ? IS NULL OR kernel=? ORDER BY created DESC, id"
        with self.database.connect() as connection:
            rows = connection.execute(asked, (kernel, kernel)).fetchall()
        return readable(
            self.database.path,
            "preset",
            rows,
            lambda row: self._compared(tuned_from_json(json.loads(row["doc"]))),
        )

    def _compared(self, tuned: TunedConfig) -> TunedConfig:
        """A preset of an earlier version was kept without its comparison: its trial has it."""
        trial = (
            self.trial(tuned.trial)
            if tuned.speedup is not None and tuned.comparison is None
            else None
        )
        best = fastest_baseline(trial.baselines) if trial is not None else None
        return replace(tuned, comparison=best.comparison) if best is not None else tuned

    def forget_tuned(self, tuned: str) -> bool:
        """Deletes a preset; False when there is none of this id."""
        return self.database.write("DELETE FROM preset WHERE id=?", (tuned,)) == 1
