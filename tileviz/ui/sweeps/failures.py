"""The configs that gave no time, by kind and reason."""

import pandas as pd

from tileviz.engine.sweeps.space import rule_kind
from tileviz.formats import percent
from tileviz.ui.parts.headline import SENTENCES
from tileviz.ui.sweeps.table import MEASURED, NOT_RUN, UNTOLD, SweepTable

COLUMNS = ["status", "configs", "share", "reason", "example", "ordinal"]


def failure_frame(table: SweepTable, problem: int) -> pd.DataFrame:
    """A row for each kind of failure, the most frequent first. Reasons that differ in their numbers alone are one kind; `example` is the
    first one's own words, `ordinal` its config. Configs that share another's code count, too."""
    rows = table.of_problem(problem)
    rest = rows[~rows["kind"].isin([MEASURED, NOT_RUN, UNTOLD])]
    kinds = rest["reason"].fillna("").map(_kind)
    out = []
    for (status, kind), group in rest.groupby([rest["status"], kinds], sort=False):
        first = group.iloc[0]
        out.append([status, len(group), len(group) / max(1, len(rows)), kind, first["reason"] or "", int(first["ordinal"])])
    return pd.DataFrame(out, columns=COLUMNS).sort_values("configs", ascending=False, kind="stable").reset_index(drop=True)


def failure_table(frame: pd.DataFrame) -> pd.DataFrame:
    """The same as text cells."""
    rows = [
        {
            "what": row["status"].replace("_", " "),
            "configs": f"{row['configs']:,}",
            "share": percent(row["share"]),
            "for example": row["example"] or SENTENCES.get(row["status"], ""),
            "config": f"{row['ordinal']}",
        }
        for row in frame.to_dict("records")
    ]
    return pd.DataFrame(rows, columns=["what", "configs", "share", "for example", "config"])


def _kind(reason: str) -> str:
    """A follower's reason names the config that it shares code with; that is no kind of its own."""
    head, colon, rest = reason.partition(": ")
    return rule_kind(rest if colon and head.startswith("same code as config") else reason)
