"""Names the fault of a wrong output from where its wrong elements lie: columns never written, one tile wrong, all zeros, NaN, ..."""

import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import torch


@dataclass
class Slab:
    """Masks (rows, columns) and sums of one slab of rows, still on the device."""

    wrong: "torch.Tensor"
    unwritten: "torch.Tensor"
    not_a_number: "torch.Tensor"
    infinite: "torch.Tensor"
    zero: "torch.Tensor"
    ratio: "torch.Tensor"
    """Error over its bound; infinity for the wrong kind of number."""
    error: "torch.Tensor"
    square: "torch.Tensor"
    zero_fails: "torch.Tensor"
    nonzero: "torch.Tensor"


@dataclass
class Found:
    """What one pass over an output saw: counts by row and column for each fault."""

    shape: tuple[int, int]
    rows: dict = field(default_factory=dict)
    """{"wrong": [counts of each slab's rows], "unwritten": ...}, joined by `finish`."""
    columns: dict = field(default_factory=dict)
    parts: list = field(default_factory=list)
    wrong_count: int = 0
    unwritten_count: int = 0
    nan_count: int = 0
    inf_count: int = 0
    zero_count: int = 0
    zero_fails: int = 0
    nonzero: int = 0
    max_abs_error: float = 0.0
    rel_error: float = 0.0
    worst: int = 0
    """Flat index of the element that is furthest over its bound."""
    worst_ratio: float = 0.0

    @classmethod
    def start(cls, matrix) -> "Found":
        return cls(shape=tuple(matrix.shape))

    def add(self, first_row: int, slab: Slab) -> None:
        import torch

        for name in ("wrong", "unwritten", "not_a_number"):
            mask = getattr(slab, name)
            self.rows.setdefault(name, []).append(mask.sum(1))
            self.columns[name] = self.columns.get(name, 0) + mask.sum(0)
        worst = slab.ratio.reshape(-1).argmax()
        sums = (slab.infinite, slab.zero)
        self.parts.append(
            torch.stack(
                [
                    *(mask.sum().double() for mask in sums),
                    slab.zero_fails.double(),
                    slab.nonzero.double(),
                    slab.error.max(),
                    slab.error.square().sum(),
                    slab.square,
                    slab.ratio.reshape(-1)[worst],
                    worst.double() + first_row * self.shape[1],
                ]
            )
        )

    def finish(self) -> "Found":
        """Brings the counts to the host."""
        import torch

        parts = torch.stack(self.parts).cpu()
        sums = parts.sum(0).tolist()
        self.inf_count, self.zero_count, self.zero_fails, self.nonzero = (int(v) for v in sums[:4])
        self.max_abs_error = parts[:, 4].max().item()
        self.rel_error = math.sqrt(sums[5] / sums[6]) if sums[6] else math.sqrt(sums[5])
        at = int(parts[:, 7].argmax())
        self.worst_ratio, self.worst = parts[at, 7].item(), int(parts[at, 8].item())
        self.rows = {name: torch.cat(counts).cpu() for name, counts in self.rows.items()}
        self.columns = {name: counts.cpu() for name, counts in self.columns.items()}
        self.wrong_count = int(self.rows["wrong"].sum())
        self.unwritten_count = int(self.rows["unwritten"].sum())
        self.nan_count = int(self.rows["not_a_number"].sum())
        return self


def reason(found: Found, matrix, truth, shape: tuple[int, ...]) -> str:
    """One sentence that names the fault, or nothing when no element is wrong and none is unwritten."""
    if not found.wrong_count and not found.unwritten_count:
        return ""
    total = found.shape[0] * found.shape[1]
    if found.unwritten_count:
        return _unwritten(found, shape, total)
    if found.zero_count == found.wrong_count and found.zero_count >= found.zero_fails and found.nonzero:
        return "all zeros: nothing was computed, or nothing was stored"
    at = _at(found.worst, shape)
    if found.nan_count:
        return f"NaN in {found.nan_count:,} {_elements(found.nan_count)}, first at {_at(_first_nan(found, matrix, truth), shape)}"
    if found.inf_count:
        return f"infinity in {found.inf_count:,} {_elements(found.inf_count)}, for example at {at}"
    where = _box(found, "wrong")
    if where:
        return where
    return _inaccurate(found, matrix, truth, at, total)


def index_of(flat: int, shape: tuple[int, ...]) -> tuple[int, ...]:
    """The index of a flat position in row-major order."""
    out = []
    for size in reversed(shape):
        out.append(flat % size)
        flat //= size
    return tuple(reversed(out))


def spans(indices: list[int]) -> str:
    """`0-7, 96, 100-103`; the fourth and later runs are cut to `...`."""
    runs: list[list[int]] = []
    for i in indices:
        if runs and i == runs[-1][1] + 1:
            runs[-1][1] = i
        else:
            runs.append([i, i])
    words = [f"{a}" if a == b else f"{a}-{b}" for a, b in runs[:3]]
    return ", ".join(words + ["..."] * (len(runs) > 3))


def _unwritten(found: Found, shape, total: int) -> str:
    rows, columns = found.shape
    if found.unwritten_count == total:
        return "never written: every element still holds the NaN it was filled with"
    whole_columns = (found.columns["unwritten"] == rows).nonzero().flatten().tolist()
    if columns > 1 and len(whole_columns) * rows == found.unwritten_count:
        return f"{len(whole_columns):,} of {columns:,} columns never written ({spans(whole_columns)})"
    whole_rows = (found.rows["unwritten"] == columns).nonzero().flatten().tolist()
    if len(whole_rows) * columns == found.unwritten_count:
        name = "rows" if columns > 1 else "elements"
        return f"{len(whole_rows):,} of {rows:,} {name} never written ({spans(whole_rows)})"
    first, last = _ends(found.rows["unwritten"]), _ends(found.columns["unwritten"])
    return (
        f"{found.unwritten_count:,} of {total:,} elements never written, in rows {first[0]}-{first[1]}, columns {last[0]}-{last[1]}"
        f" of {'the last two dimensions' if len(shape) > 2 else 'the output'}"
    )


def _box(found: Found, name: str) -> str:
    """`one tile wrong: rows 128-255, columns 0-127` when wrong elements fill most of a box that is not the whole output."""
    rows, columns = found.shape
    top, bottom = _ends(found.rows[name])
    left, right = _ends(found.columns[name])
    height, width = bottom - top + 1, right - left + 1
    if found.wrong_count < 4 or found.wrong_count < 0.5 * height * width or (height, width) == (rows, columns):
        return ""
    if columns == 1:
        return f"wrong in one run: elements {top}-{bottom} of {rows:,}"
    if height == rows:
        return f"{width:,} of {columns:,} columns wrong ({left}-{right})"
    if width == columns:
        return f"{height:,} of {rows:,} rows wrong ({top}-{bottom})"
    return f"one tile wrong: rows {top}-{bottom}, columns {left}-{right}"


def _inaccurate(found: Found, matrix, truth, at: str, total: int) -> str:
    got, want = matrix.reshape(-1)[found.worst].item(), truth.reshape(-1)[found.worst].item()
    if isinstance(got, int):
        return f"wrong: first at {at}, {got} against {want:.20g}; {found.wrong_count:,} of {total:,} {_elements(total)} differ"
    if math.isnan(want):
        return f"{got:.6g} at {at}, where the reference is NaN; {found.wrong_count:,} of {total:,} {_elements(total)} wrong"
    word = "wrong" if found.rel_error > 0.02 else "inaccurate"
    over = f", {found.worst_ratio:.3g} times the bound" if math.isfinite(found.worst_ratio) else ""
    return f"{word}: worst at {at}, {got:.6g} against {want:.6g}{over}; {found.wrong_count:,} of {total:,} {_elements(total)} out of bounds"


def _first_nan(found: Found, matrix, truth) -> int:
    """Flat index of the first NaN that the reference does not have."""
    row = _ends(found.rows["not_a_number"])[0]
    columns = (matrix[row].isnan() & ~truth[row].isnan()).nonzero().flatten()
    return row * found.shape[1] + int(columns[0])


def _ends(counts) -> tuple[int, int]:
    at = counts.nonzero().flatten()
    return int(at[0]), int(at[-1])


def _at(flat: int, shape) -> str:
    return f"({', '.join(map(str, index_of(flat, shape)))})"


def _elements(count: int) -> str:
    return "element" if count == 1 else "elements"
