"""The Triton programs that softmax is set against: rows held whole, and rows by steps.

Loaded only where a GPU is measured, since it imports Triton. Written against Triton 3.6. Sizes may be any; what lies past an edge is
masked.
"""

import triton
import triton.language as tl


@triton.jit
def softmax_rows(x, y, M, N, ROWS: tl.constexpr, WIDTH: tl.constexpr):
    """Softmax of ROWS rows held whole in registers; WIDTH is a power of two, at least N."""
    rows, cols = tl.program_id(0) * ROWS + tl.arange(0, ROWS), tl.arange(0, WIDTH)
    inside = (rows < M)[:, None] & (cols < N)[None, :]
    at = rows.to(tl.int64)[:, None] * N + cols[None, :]
    values = tl.load(x + at, mask=inside, other=float("-inf")).to(tl.float32)
    powers = tl.exp(values - tl.max(values, 1)[:, None])
    tl.store(y + at, (powers / tl.sum(powers, 1)[:, None]).to(y.dtype.element_ty), mask=inside)


@triton.jit
def softmax_steps(x, y, N, BLOCK: tl.constexpr):
    """Softmax of one row of any length, read twice: a running maximum and sum, then the quotients."""
    start, cols = tl.program_id(0).to(tl.int64) * N, tl.arange(0, BLOCK)
    highest = tl.full((), float("-inf"), tl.float32)
    base = tl.full((), 0.0, tl.float32)
    total = tl.full((), 0.0, tl.float32)
    for first in range(0, N, BLOCK):
        values = tl.load(x + start + first + cols, mask=cols < N - first, other=float("-inf")).to(tl.float32)
        higher = tl.maximum(highest, tl.max(values, 0))
        # while only -inf was seen, -inf - -inf would be NaN
        base = tl.where(higher == float("-inf"), 0.0, higher)
        total = total * tl.exp(highest - base) + tl.sum(tl.exp(values - base), 0)
        highest = higher
    for first in range(0, N, BLOCK):
        inside = cols < N - first
        values = tl.load(x + start + first + cols, mask=inside, other=float("-inf")).to(tl.float32)
        tl.store(y + start + first + cols, (tl.exp(values - base) / total).to(y.dtype.element_ty), mask=inside)
