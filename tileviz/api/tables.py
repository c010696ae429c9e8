"""Records as a notebook shows them: rows become a data frame, or an HTML table in which every value
is escaped."""

import html
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Generic, TypeVar, overload

if TYPE_CHECKING:
    import pandas as pd

T = TypeVar("T")
Row = Mapping[str, Any]

MOST_ROWS = 20
"""Of a table in a notebook; a frame has them all."""

MOST_LETTERS = 120
"""Of a cell in a notebook."""


@dataclass(frozen=True)
class Listing(Sequence[T], Generic[T]):
    """Several records: a sequence, and a table."""

    title: str
    items: tuple[T, ...]
    row: Callable[[T], Row]
    """What a record has in each column."""

    @overload
    def __getitem__(self, index: int) -> T: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[T]: ...
    def __getitem__(self, index):
        return self.items[index]

    def __len__(self) -> int:
        return len(self.items)

    def __iter__(self) -> Iterator[T]:
        return iter(self.items)

    def frame(self) -> "pd.DataFrame":
        """A row for each record."""
        return frame_of(map(self.row, self.items))

    def __repr__(self) -> str:
        return f"{self.title}\n{self.frame().to_string(index=False)}" if self.items else f"{self.title}: none"

    def _repr_html_(self) -> str:
        return table(self.title, [self.row(item) for item in self.items])


def frame_of(rows) -> "pd.DataFrame":
    """A data frame of rows, whose columns are in the order of the first row."""
    import pandas as pd

    return pd.DataFrame(list(rows))


def table(title: str, rows: Sequence[Row], note: str = "") -> str:
    """An HTML table under a title, with a note below; the first MOST_ROWS rows."""
    shown = rows[:MOST_ROWS]
    names = list(dict.fromkeys(name for row in shown for name in row))
    head = "".join(f"<th>{html.escape(name)}</th>" for name in names)
    body = "".join(f"<tr>{''.join(_cell(row.get(name)) for name in names)}</tr>" for row in shown)
    left_out = f"{len(rows) - len(shown):,} more rows" if len(rows) > len(shown) else ""
    below = "; ".join(filter(None, (note, left_out)))
    return (
        f"<div><b>{html.escape(title)}</b>"
        + (f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>" if rows else "")
        + (f"<small>{html.escape(below)}</small>" if below else "")
        + "</div>"
    )


def _cell(value: Any) -> str:
    words = "" if value is None or value != value else f"{value:,.4g}" if isinstance(value, float) else str(value)
    short = words if len(words) <= MOST_LETTERS else f"{words[:MOST_LETTERS]}\u2026"
    side = "right" if isinstance(value, int | float) and not isinstance(value, bool) else "left"
    return f'<td style="text-align: {side}">{html.escape(short)}</td>'
