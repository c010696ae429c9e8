"""The Triton program that attention is set against, forward.

Loaded only where a GPU is measured, since it imports Triton. Written against Triton 3.6. Sizes may be any; what lies past an edge is
masked, or read as zero by TMA. `TMA` says that a tensor comes as a tensor descriptor and not as a pointer.
"""

import triton
import triton.language as tl


@triton.jit
def _head_tile(source, head, first, length, D: tl.constexpr, ROWS: tl.constexpr, TMA: tl.constexpr):
    """(ROWS, D) of one head from row `first` on; rows past `length` are zero."""
    if TMA:
        tile = source.load([head, first, 0]).reshape(ROWS, D)
    else:
        rows = first + tl.arange(0, ROWS)
        at = head.to(tl.int64) * length * D + rows[:, None] * D + tl.arange(0, D)[None, :]
        tile = tl.load(source + at, mask=(rows < length)[:, None], other=0.0)
    return tile


@triton.jit
def _walk(
    queries, k, v, acc, highest, total, head, begin, end, rows, shift, Sk, scale,
    MASKED: tl.constexpr, CAUSAL: tl.constexpr, D: tl.constexpr, BLOCK_N: tl.constexpr, PRECISION: tl.constexpr, TMA: tl.constexpr,
):  # fmt: skip
    """Takes keys `begin` to `end` into the running maximum, sum and output; `scale` is positive and holds log2(e)."""
    for first in range(begin, end, BLOCK_N):
        keys = _head_tile(k, head, first, Sk, D, BLOCK_N, TMA)
        scores = tl.dot(queries, keys.T, input_precision=PRECISION)
        if MASKED:
            cols = first + tl.arange(0, BLOCK_N)
            seen = (cols < Sk)[None, :]
            if CAUSAL:
                seen = seen & (cols[None, :] <= rows[:, None] + shift)
            scores = tl.where(seen, scores, float("-inf"))
        higher = tl.maximum(highest, tl.max(scores, 1) * scale)
        base = tl.where(higher == float("-inf"), 0.0, higher) if MASKED else higher
        powers = tl.exp2(scores * scale - base[:, None])
        shrink = tl.exp2(highest - base)
        total = total * shrink + tl.sum(powers, 1)
        values = _head_tile(v, head, first, Sk, D, BLOCK_N, TMA)
        acc = tl.dot(powers.to(values.dtype), values, acc * shrink[:, None], input_precision=PRECISION)
        highest = higher
    return acc, highest, total


@triton.jit
def attention(
    q, k, v, o, Sq, Sk, scale,
    CAUSAL: tl.constexpr, D: tl.constexpr, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, PRECISION: tl.constexpr, TMA: tl.constexpr,
):  # fmt: skip
    """o = softmax(q k^T) v for BLOCK_M queries of one head. Causal: row i sees keys j <= i + Sk - Sq; a row that sees none gives 0."""
    first, head = tl.program_id(0) * BLOCK_M, tl.program_id(1)
    rows, shift = first + tl.arange(0, BLOCK_M), Sk - Sq
    queries = _head_tile(q, head, first, Sq, D, BLOCK_M, TMA)
    acc = tl.zeros((BLOCK_M, D), dtype=tl.float32)
    highest = tl.full((BLOCK_M,), float("-inf"), tl.float32)
    total = tl.zeros((BLOCK_M,), dtype=tl.float32)
    end = Sk
    whole = Sk // BLOCK_N * BLOCK_N
    if CAUSAL:
        end = tl.minimum(tl.maximum(first + BLOCK_M + shift, 0), Sk)
        whole = tl.minimum(tl.maximum(first + shift + 1, 0), Sk) // BLOCK_N * BLOCK_N
    acc, highest, total = _walk(
        queries, k, v, acc, highest, total, head, 0, whole, rows, shift, Sk, scale, False, CAUSAL, D, BLOCK_N, PRECISION, TMA
    )
    acc, highest, total = _walk(
        queries, k, v, acc, highest, total, head, whole, end, rows, shift, Sk, scale, True, CAUSAL, D, BLOCK_N, PRECISION, TMA
    )
    acc = tl.where(total[:, None] == 0, 0.0, acc / total[:, None])
    if TMA:
        o.store([head, first, 0], acc.to(o.dtype).reshape(1, BLOCK_M, D))
    else:
        at = head.to(tl.int64) * Sq * D + rows[:, None] * D + tl.arange(0, D)[None, :]
        tl.store(o + at, acc.to(o.dtype.element_ty), mask=(rows < Sq)[:, None])
