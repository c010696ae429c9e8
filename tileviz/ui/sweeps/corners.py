"""Corners of a space: knob values with which every config breaks a rule, and the rule."""

import itertools
from collections.abc import Sequence
from dataclasses import dataclass

import pandas as pd

from tileviz.engine.sweeps.space import rule_kind
from tileviz.ui.sweeps.table import PRUNED, SweepTable

MOST_KINDS = 3
"""Rules that are told of; more are counted."""


@dataclass(frozen=True)
class Corner:
    """Every config with these values broke a rule, or is nothing for the target."""

    values: dict[str, str]
    configs: int
    reason: str
    """Of its first config."""


def corners(table: SweepTable, rows: pd.DataFrame, names: Sequence[str]) -> list[Corner]:
    """The corners over these knobs, among these rows of the table."""
    keys = [table.knobs.loc[rows.index, name] for name in names]
    found = []
    for _, group in rows.groupby(keys, sort=False):
        if (group["kind"] == PRUNED).all():
            values = {name: table.knobs.at[group.index[0], name] for name in names}
            found.append(Corner(values, len(group), group["reason"].iloc[0] or "no reason was given"))
    return found


def least_corners(table: SweepTable, problem: int) -> list[Corner]:
    """Values that no config may have, then pairs of values that lie in none of these."""
    rows = table.of_problem(problem)
    alone = [corner for name in table.varying for corner in corners(table, rows, [name])]
    taken = {item for corner in alone for item in corner.values.items()}
    pairs = [corner for pair in itertools.combinations(table.varying, 2) for corner in corners(table, rows, pair)]
    return alone + [corner for corner in pairs if not taken & set(corner.values.items())]


def corner_words(found: Sequence[Corner], what: str = "cell") -> str:
    """`1 cell is pruned whole, 12 of 12 configs: shared memory 262,144 B is over ...`; empty where none is. Reasons that differ in their
    numbers alone are one, told by the first."""
    kinds: dict[str, list[Corner]] = {}
    for corner in found:
        kinds.setdefault(rule_kind(corner.reason), []).append(corner)
    most = sorted(kinds.values(), key=lambda group: -sum(c.configs for c in group))
    words = [_kind_words(group, what) for group in most[:MOST_KINDS]]
    words += [f"{len(most) - MOST_KINDS} more rules prune others"] if len(most) > MOST_KINDS else []
    return "; ".join(words)


def _kind_words(group: list[Corner], what: str) -> str:
    configs = sum(corner.configs for corner in group)
    many = f"{len(group):,} {what}s are" if len(group) > 1 else f"1 {what} is"
    named = " ".join(f"{name}={value}" for name, value in group[0].values.items())
    where = f" (the first is {named})" if len(group) > 1 else f" ({named})"
    return f"{many} pruned whole{where}, {configs:,} of {configs:,} configs: {group[0].reason.rstrip('.')}"
