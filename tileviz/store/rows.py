"""Writes a trial's row, for the parts of the store that do it within a transaction of their own."""

import json

from tileviz.records import Trial, to_json


def insert_trial(connection, trial: Trial) -> None:
    """Writes a trial, or its newer form, within a transaction that is open."""
    names = ("trial", "key", "kernel", "target", "device", "status", "artifact", "created")
    values = (*(getattr(trial, name) for name in names), json.dumps(to_json(trial)))
    connection.execute("INSERT OR REPLACE INTO trial VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)", values)
