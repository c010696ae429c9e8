"""The Triton program that GEMM is set against: a matrix product with an epilogue.

Loaded only where a GPU is measured, since it imports Triton. Written against Triton 3.6. Sizes may be any; what lies past an edge is
masked, or read as zero by TMA. `TMA` says that a tensor comes as a tensor descriptor and not as a pointer.
"""

import triton
import triton.language as tl


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
