"""Triton programs that our kernels are set against: vector add, matrix product with an epilogue, softmax of rows, attention forward.

Loaded only where a GPU is measured, since it imports Triton. Written against Triton 3.6. Sizes may be any; what lies past an edge is
masked, or read as zero by TMA. `TMA` says that a tensor comes as a tensor descriptor and not as a pointer.
"""

import triton
import triton.language as tl


@triton.jit
def vector_add(a, b, c, N, BLOCK: tl.constexpr):
    """c = a + b over N elements; a program does BLOCK of them, the last one fewer."""
    at = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    inside = at < N
    tl.store(c + at, tl.load(a + at, mask=inside) + tl.load(b + at, mask=inside), mask=inside)


@triton.jit
def _panel_tile(M, N, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, PANEL: tl.constexpr):
    """(row tile, column tile) of this program: down a panel of PANEL row tiles first, so that neighbours share tiles of B in L2."""
    number = tl.program_id(0)
    down, across = tl.cdiv(M, BLOCK_M), tl.cdiv(N, BLOCK_N)
    panel = number // (PANEL * across)
    height = tl.minimum(PANEL, down - panel * PANEL)
    within = number - panel * PANEL * across
    return panel * PANEL + within % height, within // height


@triton.jit
def _epilogue(acc, bias, cols, N, EPILOGUE: tl.constexpr):
    """Bias and activation on the float32 accumulator; GELU in tanh form is x sigmoid(2 u)."""
    if EPILOGUE != "none":
        acc += tl.load(bias + cols, mask=cols < N, other=0.0).to(tl.float32)[None, :]
    if EPILOGUE == "bias_relu":
        acc = tl.where(acc < 0, 0.0, acc)
    if EPILOGUE == "bias_gelu_tanh":
        acc = acc / (1 + tl.exp(-1.5957691216057308 * (acc + 0.044715 * acc * acc * acc)))
    if EPILOGUE == "bias_gelu_erf":
        acc = 0.5 * acc * (1 + tl.erf(acc * 0.7071067811865476))
    if EPILOGUE == "bias_silu":
        acc = acc / (1 + tl.exp(-acc))
    return acc


@triton.jit
def gemm(
    a, b, bias, c, M, N, K,
    NT: tl.constexpr, EPILOGUE: tl.constexpr, PRECISION: tl.constexpr, EVEN: tl.constexpr, TMA: tl.constexpr,
    BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, BLOCK_K: tl.constexpr, PANEL: tl.constexpr,
):  # fmt: skip
    """c (M, N) = epilogue(a (M, K) @ b), b stored (K, N), or (N, K) where NT. EVEN: every size is a multiple of its tile."""
    down, across = _panel_tile(M, N, BLOCK_M, BLOCK_N, PANEL)
    row, col = down * BLOCK_M, across * BLOCK_N
    rows, cols, depth = row + tl.arange(0, BLOCK_M), col + tl.arange(0, BLOCK_N), tl.arange(0, BLOCK_K)
    acc = tl.zeros((BLOCK_M, BLOCK_N), dtype=tl.float32)
    if TMA:
        for k in range(0, K, BLOCK_K):
            left = a.load([row, k])
            right = b.load([col, k]).T if NT else b.load([k, col])
            acc = tl.dot(left, right, acc, input_precision=PRECISION)
        acc = _epilogue(acc, bias, cols, N, EPILOGUE)
        c.store([row, col], acc.to(c.dtype))
    else:
        a_at = a + rows.to(tl.int64)[:, None] * K + depth[None, :]
        if NT:
            b_at = b + cols.to(tl.int64)[None, :] * K + depth[:, None]
        else:
            b_at = b + depth.to(tl.int64)[:, None] * N + cols[None, :]
        step = BLOCK_K if NT else BLOCK_K * N
        for k in range(0, K, BLOCK_K):
            if EVEN:
                left, right = tl.load(a_at), tl.load(b_at)
            else:
                left = tl.load(a_at, mask=(rows < M)[:, None] & (depth < K - k)[None, :], other=0.0)
                right = tl.load(b_at, mask=(depth < K - k)[:, None] & (cols < N)[None, :], other=0.0)
            acc = tl.dot(left, right, acc, input_precision=PRECISION)
            a_at += BLOCK_K
            b_at += step
        acc = _epilogue(acc, bias, cols, N, EPILOGUE)
        c_at = c + rows.to(tl.int64)[:, None] * N + cols[None, :]
        tl.store(c_at, acc.to(c.dtype.element_ty), mask=(rows < M)[:, None] & (cols < N)[None, :])


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
