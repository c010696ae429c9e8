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

Whole numbers and bools must be equal. A kernel whose errors come about otherwise declares the factors itself (`records.ErrorScale`).

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
from typing import TYPE_CHECKING, Any

from tileviz.errors import UnknownName
from tileviz.records import ErrorScale, Roundings

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
    saturates: bool = False
    """Whether a value past the largest may become the largest: there is no infinity, or conversions of the device avoid it."""

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
    "float8_e4m3": Format(4, -6, 448.0, saturates=True),
    "float8_e4m3fn": Format(4, -6, 448.0, saturates=True),
    "float8_e5m2": Format(3, -14, 57344.0, saturates=True),
}

WHOLE = ("bool", "uint8", "int8", "int16", "int32", "int64")
"""Dtypes without fractions: an element is right when it is equal."""

EQUAL = "0: whole numbers must be equal"
"""Their tolerance, in words."""

SUM_ROUNDOFF = 2.0**-24
PRODUCT_ROUNDOFF = {"TF32": 2.0**-10}
SCALES = {
    kind.name: kind
    for kind in (
        ErrorScale("exact"),
        ErrorScale("sum", reference=Roundings(products=2), scale=Roundings(root=32, products=4), over="matrix"),
        ErrorScale("shares", reference=Roundings(root=4, sums=32), floor=2.0**-126, chain="reference"),
        ErrorScale("averages", scale=Roundings(root=32, products=8, values=4), over="row"),
    )
}
"""Of an element by itself, of dot products, of a row's shares of its sum (a softmax), of averages weighted so (attention). A kernel whose
errors come about otherwise declares an ErrorScale of its own."""


@dataclass(frozen=True)
class Arithmetic:
    """How an output was computed: all that decides how far it may lie from its reference."""

    dtype: str
    """Of the output."""
    math_mode: str = "float32"
    """Precision the products are formed in."""
    accumulate: int = 1
    """K: terms of the longest sum behind an element."""
    error_scale: str | ErrorScale = "sum"
    """One of SCALES by its name, or a kind of the kernel's own."""
    cancelled: float = 0.0
    """What evaluating the output loses whatever its size, absolute."""
    roundings: int = 1
    """How often a value is rounded to the dtype on its way; 1 for a fused kernel, more for a chain of PyTorch calls."""
    inputs: tuple = ()
    """Tensors, which refine the scale of small outputs."""
    exponents: Any = None
    """`kernels.toolkit.exponents.Exponents` of the same inputs, where exponentials are taken."""

    @property
    def kind(self) -> ErrorScale:
        """Raises UnknownName for a word that is none of SCALES."""
        if isinstance(self.error_scale, ErrorScale):
            return self.error_scale
        if self.error_scale not in SCALES:
            raise UnknownName.of("error scale", self.error_scale, SCALES)
        return SCALES[self.error_scale]

    @property
    def whole(self) -> bool:
        """Whether the output holds whole numbers, which must be equal."""
        return self.dtype in WHOLE


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


def bound_of(how: Arithmetic, reference: str = "float64") -> Bound:
    """The tolerance of an output beside a reference in this dtype. Raises UnknownName for a dtype or error scale that is not known."""
    if how.dtype not in FORMATS:
        raise UnknownName.of("dtype", how.dtype, FORMATS)
    kind = how.kind
    exact = kind.reference == kind.scale == Roundings()
    twice = 2 if reference == "float32" and not exact else 1
    root = math.sqrt(max(how.accumulate, 1)) * SUM_ROUNDOFF * twice
    product = next((u for name, u in PRODUCT_ROUNDOFF.items() if name.lower() in how.math_mode.lower()), 0.0)
    rounded = FORMATS[how.dtype].unit_roundoff
    terms = how.exponents.terms if how.exponents else 0
    chain = {kind.chain: 4 * rounded * (how.roundings - 1)}

    def share(of: Roundings) -> float:
        return of.root * root + of.sums * SUM_ROUNDOFF + of.products * product + of.values * rounded

    of_reference, of_scale = share(kind.reference) + chain.get("reference", 0.0), share(kind.scale) + chain.get("scale", 0.0)
    if reference == "float32" and exact:
        of_reference += 2 * SUM_ROUNDOFF
    of_exponent = (4 * math.sqrt(terms) + 2) * SUM_ROUNDOFF * twice + 2 * product + (rounded if terms and how.roundings > 1 else 0.0)
    words = f"half an ulp of {how.dtype}"
    if of_reference:
        words += f" + {of_reference:.2g} |reference|"
    if of_scale:
        words += f" + {of_scale:.2g} max(|reference|, scale)"
    if how.cancelled:
        words += f" + {how.cancelled:.2g} lost by cancellation"
    source = "one rounding" if exact else f"K = {how.accumulate:,}, float32 sums, {how.math_mode} products"
    return Bound(how.dtype, of_reference, of_scale, kind.floor + how.cancelled, of_exponent, f"{words}; from {source}")


def scale_of(reference: "torch.Tensor", how: Arithmetic) -> "Scale":
    """m for each element: a column vector, an outer product (row, column) or one number, from `reference` as a matrix (rows, columns).

    Over a row: its root mean square. Over the matrix: row rms x column rms / overall rms, which follows rows and columns of unlike size;
    a matrix too small for that takes the largest of its overall rms and sqrt(K) x rms(first input) x rms(second input).
    """
    over = how.kind.over
    if over == "element":
        return Scale(0.0)
    rows, columns, overall = _mean_squares(reference)
    if over == "row":
        return Scale(overall.sqrt().item(), row=rows.sqrt())
    if min(reference.shape) >= 16:
        return Scale(overall.sqrt().item(), row=rows.sqrt(), column=columns.sqrt())
    return Scale(max(overall.sqrt().item(), _scale_of_inputs(how.inputs, how.accumulate)))


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
    tensors = [t for t in inputs if hasattr(t, "is_floating_point") and t.is_floating_point()]
    if len(tensors) < 2:
        return 0.0
    first, second = (_finite_rms(t) for t in tensors[:2])
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
