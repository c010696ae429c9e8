"""How far an output element may be from its reference: derived from dtype, accumulator, precision of products and length of the sum.

For an element with reference r (float64, not rounded), scale m and a sum of K terms:

    |output - r| <= half_ulp(|r| + d) + d

half_ulp is half the spacing of the output's dtype there: the one rounding that any right kernel makes. d is what the arithmetic before
it may add, by `error_scale`:

    exact        0
    sum          (32 sqrt(K) u_sum + 4 u_product) max(|r|, m) + 2 u_product |r|
    shares       (4 sqrt(K) + 32) u_sum |r| + 2^-126 + sway
    averages     (32 sqrt(K) u_sum + 8 u_product + 4 u_dtype) max(|r|, m) + sway

and, where a kernel says so, what is lost by cancellation whatever the size of the output (`Kernel.cancelled`).

u_sum is 2^-24, the unit roundoff of a float32 accumulator. Rounding errors of a sum grow like a random walk, hence sqrt(K); 32 covers
the largest of some 10^8 elements and tensor cores, which truncate where the CPU rounds; a softmax has one sum a row and adds without
tensor cores, so 4 is enough there. u_product is 0 where products are exact in
the accumulator (float16, bfloat16) or fused (float32), and 2^-10 for TF32, whose inputs may be truncated. u_dtype pays for the
probabilities that an attention rounds before its second product. m is the root mean square of sums like this one; it comes from the data
(`scale_of`), so no absolute tolerance is fixed.
Each further rounding to the dtype on the way (a chain of PyTorch calls) adds 4 u_dtype max(|r|, m).

Sway is what errors of the exponents move (`exponents.Sway`). An argument of size L, itself a sum of D terms (0 for an input), is off by

    e = ((4 sqrt(D) + 2) u_sum + 2 u_product) L

and, where D > 0 and a chain of calls rounds its sums to the dtype, by u_dtype L more. Then each exponential, over their sum, is off by
a factor within exp(+-2 e), and the output by (exp(2 e) - 1) times the spread of what it averages, never by more than it can reach.
Sources: N. Higham and T. Mary, "A new approach to probabilistic rounding error analysis" (2019), for sqrt(K); the rest is derived above.
"""

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from tileviz.errors import UnknownName

if TYPE_CHECKING:
    import torch


@dataclass(frozen=True)
class Format:
    """A floating-point format."""

    digits: int
    """Binary digits of the significand, the hidden one included."""
    smallest_exponent: int
    """Exponent of the smallest normal number, 2^e."""
    largest: float

    @property
    def unit_roundoff(self) -> float:
        return 2.0**-self.digits

    @property
    def overflow(self) -> float:
        """The smallest number that rounds to infinity: half a spacing over the largest."""
        return self.largest + 2.0 ** (math.frexp(self.largest)[1] - 1 - self.digits)


FORMATS = {
    "float64": Format(53, -1022, 1.7976931348623157e308),
    "float32": Format(24, -126, 3.4028234663852886e38),
    "float16": Format(11, -14, 65504.0),
    "bfloat16": Format(8, -126, 3.3895313892515355e38),
    "float8_e4m3": Format(4, -6, 448.0),
}

SUM_ROUNDOFF = 2.0**-24
PRODUCT_ROUNDOFF = {"TF32": 2.0**-10}
SCALES = ("exact", "sum", "shares", "averages")
"""Of an element by itself, of dot products, of a row's shares of its sum (a softmax), of averages weighted so (attention)."""


@dataclass(frozen=True)
class Bound:
    """d = of_reference |r| + of_scale max(|r|, m) + floor + sway, and the half ulp of `dtype`."""

    dtype: str
    of_reference: float
    of_scale: float
    floor: float
    of_exponent: float
    """e over L: what an exponent may be off by, over its size."""
    words: str

    def drift(self, reference: "torch.Tensor", scale, sway=0.0) -> "torch.Tensor":
        """d for each element, in float64; `reference` is |r|."""
        import torch

        larger = torch.maximum(reference, scale) if torch.is_tensor(scale) else reference.clamp(min=scale)
        return self.of_reference * reference + self.of_scale * larger + self.floor + sway

    def half_ulp(self, magnitude: "torch.Tensor") -> "torch.Tensor":
        """Half the spacing of the dtype at each magnitude, subnormal numbers included."""
        import torch

        form = FORMATS[self.dtype]
        exponent = (torch.frexp(magnitude).exponent - 1).clamp(min=form.smallest_exponent)
        return torch.ldexp(torch.ones_like(magnitude), exponent - form.digits)


def bound_of(
    dtype: str,
    math_mode: str,
    accumulate: int,
    error_scale: str,
    *,
    roundings: int = 1,
    terms: int = 0,
    cancelled: float = 0.0,
    reference: str = "float64",
) -> Bound:
    """The tolerance of an output. Raises UnknownName for a dtype or error scale that is not known.

    `roundings`: how often a value is rounded to `dtype` on its way to the output; 1 for a fused kernel. `terms`: of an exponent's sum.
    `cancelled`: absolute.
    """
    if dtype not in FORMATS:
        raise UnknownName.of("dtype", dtype, FORMATS)
    if error_scale not in SCALES:
        raise UnknownName.of("error scale", error_scale, SCALES)
    root = (4 if error_scale == "shares" else 32) * math.sqrt(max(accumulate, 1)) * SUM_ROUNDOFF
    twice = 2 if reference == "float32" and error_scale != "exact" else 1
    root *= twice
    product = next((u for name, u in PRODUCT_ROUNDOFF.items() if name.lower() in math_mode.lower()), 0.0)
    rounded = FORMATS[dtype].unit_roundoff
    extra = 4 * rounded * (roundings - 1)
    of_reference, of_scale, floor = {
        "exact": (0.0, extra, 0.0),
        "sum": (2 * product, root + 4 * product + extra, 0.0),
        "shares": (root + 32 * SUM_ROUNDOFF + extra, 0.0, 2.0**-126),
        "averages": (0.0, root + 8 * product + 4 * rounded + extra, 0.0),
    }[error_scale]
    floor += cancelled
    if reference == "float32" and error_scale == "exact":
        of_reference += 2 * SUM_ROUNDOFF
    of_exponent = (4 * math.sqrt(terms) + 2) * SUM_ROUNDOFF * twice + 2 * product + (rounded if terms and roundings > 1 else 0.0)
    words = f"half an ulp of {dtype}"
    if of_reference:
        words += f" + {of_reference:.2g} |reference|"
    if of_scale:
        words += f" + {of_scale:.2g} max(|reference|, scale)"
    if cancelled:
        words += f" + {cancelled:.2g} lost by cancellation"
    source = "one rounding" if error_scale == "exact" else f"K = {accumulate:,}, float32 sums, {math_mode} products"
    return Bound(dtype, of_reference, of_scale, floor, of_exponent, f"{words}; from {source}")


def scale_of(reference: "torch.Tensor", error_scale: str, inputs: tuple = (), accumulate: int = 1):
    """m for each element: a column vector, an outer product (row, column) or one number, from `reference` as a matrix (rows, columns).

    averages: root mean square of the row. sum: row rms x column rms / overall rms, which follows rows and columns of unlike size; a
    matrix too small for that takes the largest of its overall rms and sqrt(K) x rms(first input) x rms(second input).
    """
    if error_scale in ("exact", "shares"):
        return Scale(0.0)
    rows, columns, overall = _mean_squares(reference)
    if error_scale == "averages":
        return Scale(overall.sqrt().item(), row=rows.sqrt())
    if min(reference.shape) >= 16:
        return Scale(overall.sqrt().item(), row=rows.sqrt(), column=columns.sqrt())
    return Scale(max(overall.sqrt().item(), _scale_of_inputs(inputs, accumulate)))


@dataclass(frozen=True)
class Scale:
    """m of every element, cut to a slab of rows when needed."""

    overall: float
    row: "torch.Tensor | None" = None
    column: "torch.Tensor | None" = None

    def of_rows(self, first: int, last: int):
        if self.row is None:
            return self.overall
        row = self.row[first:last, None]
        if self.column is None:
            return row
        return row * (self.column / self.overall)[None, :] if self.overall else row * 0.0


def _mean_squares(matrix):
    """Mean squares of the finite elements, by row, by column and overall, in float64; a slab of rows at a time."""
    import torch

    rows, columns = [], torch.zeros(matrix.shape[1], dtype=torch.float64, device=matrix.device)
    for first, last in slabs(matrix):
        part = torch.nan_to_num(matrix[first:last].double(), 0.0, 0.0, 0.0).square()
        rows.append(part.mean(1))
        columns += part.sum(0)
    by_row = torch.cat(rows)
    return by_row, columns / matrix.shape[0], by_row.mean()


def _scale_of_inputs(inputs, accumulate: int) -> float:
    if len(inputs) < 2:
        return 0.0
    first, second = (_finite_rms(t) for t in inputs[:2])
    return math.sqrt(accumulate) * first * second


def _finite_rms(tensor) -> float:
    import torch

    return torch.nan_to_num(tensor.double(), 0.0, 0.0, 0.0).square().mean().sqrt().item()


def as_matrix(tensor: "torch.Tensor") -> "torch.Tensor":
    """(rows, columns), where columns are the last dimension; a vector becomes one column."""
    tensor = tensor.detach().contiguous()
    return tensor.reshape(-1, tensor.shape[-1]) if tensor.dim() > 1 else tensor.reshape(-1, 1)


def slabs(matrix: "torch.Tensor"):
    """(first, last) rows of slabs of about a million elements (4 million on a GPU), so that temporaries stay small."""
    elements = 1 << 22 if matrix.is_cuda else 1 << 20
    step = max(1, elements // max(1, matrix.shape[1]))
    return [(first, min(first + step, matrix.shape[0])) for first in range(0, matrix.shape[0], step)]
