"""FlashAttention, forward: O = softmax(scale Q K^T) V without ever storing the scores.

Keys are taken in tiles. Each row keeps its maximum so far and the sum of its exponentials, and what was gathered is scaled down whenever
the maximum grows. A causal mask is aligned bottom-right: row i sees keys j <= i + Sk - Sq; a row that sees none gives 0.
"""

import math

from tileviz.kernels.attention import masks, overlapped, start, torch_calls
from tileviz.kernels.attention import rules as attention_rules
from tileviz.kernels.attention.scale import factors, power, shrunk
from tileviz.kernels.attention.triton_calls import TRITON
from tileviz.kernels.toolkit import rules
from tileviz.kernels.toolkit.base import FLOAT_DTYPES, Choice, Flag, Kernel, Knob, Preset, Real, Size, T
from tileviz.kernels.toolkit.exponents import Exponents, log_rest
from tileviz.records import Cost


def program(
    B, H, Sq, Sk, D, dtype, causal, scale, block_M, block_N, num_stages, threads, schedule, heads_together, blocks, rescale, store
):  # fmt: skip
    if schedule != "plain":
        tile = block_M, block_N, num_stages, threads
        return overlapped.program(B, H, Sq, Sk, D, dtype, causal, scale, *tile, schedule, heads_together, blocks, rescale, store)
    early, late = factors(scale, D)
    shift = Sk - Sq
    some_masked = causal or Sk % block_N != 0
    some_see_no_key = causal and shift < 0
    # Scores are the left operand of the second product, from registers. TF32 wants another layout there: float32 goes by shared memory.
    alloc_P = T.alloc_shared if dtype == "float32" else T.alloc_fragment

    @T.prim_func
    def flash_attention(
        Q: T.Tensor((B, H, Sq, D), dtype),
        K: T.Tensor((B, H, Sk, D), dtype),
        V: T.Tensor((B, H, Sk, D), dtype),
        O: T.Tensor((B, H, Sq, D), dtype),
    ):
        with T.Kernel(T.ceildiv(Sq, block_M), H, B, threads=threads) as (bx, head, batch):
            Q_shared = T.alloc_shared((block_M, D), dtype)
            K_shared = T.alloc_shared((block_N, D), dtype)
            V_shared = T.alloc_shared((block_N, D), dtype)
            S = T.alloc_fragment((block_M, block_N), "float32")
            P = alloc_P((block_M, block_N), dtype)
            acc = T.alloc_fragment((block_M, D), "float32")
            highest = T.alloc_fragment((block_M,), "float32")
            before = T.alloc_fragment((block_M,), "float32")
            shrink = T.alloc_fragment((block_M,), "float32")
            total = T.alloc_fragment((block_M,), "float32")
            part = T.alloc_fragment((block_M,), "float32")

            row = T.ceildiv(Sq, block_M) - 1 - bx if causal else bx  # blocks with many keys start first
            T.copy(Q[batch, head, row * block_M, 0], Q_shared)
            T.fill(acc, 0)
            T.fill(total, 0)
            T.fill(highest, -T.infinity("float32"))
            keys = T.max(T.min(Sk, (row + 1) * block_M + shift), 0) if causal else Sk
            for k in T.Pipelined(T.ceildiv(keys, block_N), num_stages=num_stages):
                T.copy(K[batch, head, k * block_N, 0], K_shared)
                T.clear(S)
                T.gemm(Q_shared, K_shared, S, transpose_B=True, policy=T.GemmWarpPolicy.FullRow)
                if early != 1.0:
                    for i, j in T.Parallel(block_M, block_N):
                        S[i, j] = S[i, j] * early
                if some_masked and (k + 1) * block_N > (T.min(Sk, row * block_M + shift + 1) if causal else Sk):
                    for i, j in T.Parallel(block_M, block_N):
                        last = T.min(Sk - 1, row * block_M + i + shift) if causal else Sk - 1
                        S[i, j] = T.if_then_else(k * block_N + j <= last, S[i, j], -T.infinity("float32"))
                T.copy(highest, before)
                T.reduce_max(S, highest, dim=1, clear=False)
                for i in T.Parallel(block_M):
                    shrink[i] = shrunk(before[i], highest[i], late)
                for i, j in T.Parallel(block_M, block_N):
                    S[i, j] = power(S[i, j], highest[i], late)
                T.reduce_sum(S, part, dim=1)
                for i in T.Parallel(block_M):
                    total[i] = total[i] * shrink[i] + part[i]
                T.copy(S, P)
                for i, j in T.Parallel(block_M, D):
                    acc[i, j] = acc[i, j] * shrink[i]
                T.copy(V[batch, head, k * block_N, 0], V_shared)
                T.gemm(P, V_shared, acc, policy=T.GemmWarpPolicy.FullRow)
            for i, j in T.Parallel(block_M, D):
                acc[i, j] = acc[i, j] / total[i]
                if some_see_no_key:
                    acc[i, j] = T.if_then_else(row * block_M + i + shift < 0, T.float32(0), acc[i, j])
            T.copy(acc, O[batch, head, row * block_M, 0])

    return flash_attention


def scale_of(problem) -> float:
    return 1 / math.sqrt(problem["D"]) if problem["scale"] is None else problem["scale"]


def inputs(problem, randn):
    B, H, Sq, Sk, D, dtype = (problem[name] for name in ("B", "H", "Sq", "Sk", "D", "dtype"))
    return randn(B, H, Sq, D, dtype=dtype), randn(B, H, Sk, D, dtype=dtype), randn(B, H, Sk, D, dtype=dtype)


def output(problem):
    return tuple(problem[name] for name in ("B", "H", "Sq", "D")), problem["dtype"]


def weights(problem, Q, K):
    """(head, rows, scores, probabilities) of all heads, in slabs of rows, so that the scores never take more than about 128 MB."""
    import torch

    Sq, Sk = problem["Sq"], problem["Sk"]
    scale = scale_of(problem)
    rows = max(1, (1 << 24) // Sk)
    keys = torch.arange(Sk, device=Q.device)
    for head, (q, k) in enumerate(zip(Q.flatten(0, 1), K.flatten(0, 1), strict=True)):
        for first in range(0, Sq, rows):
            scores = q[first : first + rows] @ k.T * scale
            if problem["causal"]:
                last = torch.arange(first, first + len(scores), device=Q.device) + Sk - Sq
                scores.masked_fill_(keys > last[:, None], -math.inf)
                p = torch.softmax(scores, dim=1).masked_fill(last[:, None] < 0, 0)
            else:
                p = torch.softmax(scores, dim=1)
            yield head, slice(first, first + len(scores)), scores, p


def reference(problem, Q, K, V):
    import torch

    out, values = torch.empty_like(Q), V.flatten(0, 1)
    for head, rows, _, p in weights(problem, Q, K):
        out.flatten(0, 1)[head, rows] = p @ values[head]
    return out


def exponents(problem, Q, K, V):
    """Scores are sums of D products: what one held on the way is about |q| |k| / sqrt(D). The spread is the standard deviation of V's
    columns under the probabilities p; where many keys share a row their errors are of either sign, and add like a random walk: then it
    is twice sqrt(sum(p^2 (v - o)^2))."""
    import torch

    size, rest, reach = (Q.new_empty(*Q.shape[:-1], 1) for _ in range(3))
    spread = torch.empty_like(Q)
    own, longest = Q.norm(dim=-1, keepdim=True), K.norm(dim=-1).amax(-1)[..., None, None]
    on_the_way = (abs(scale_of(problem)) / math.sqrt(problem["D"]) * own * longest).flatten(0, 1)
    values = (V - V.mean(2, keepdim=True)).flatten(0, 1)
    reach[:] = (V.amax(2) - V.amin(2)).amax(-1)[..., None, None]
    for head, rows, scores, p in weights(problem, Q, K):
        largest = torch.nan_to_num(scores, 0.0, 0.0, 0.0).abs().amax(1, keepdim=True)
        size.flatten(0, 1)[head, rows] = largest + on_the_way[head, rows]
        rest.flatten(0, 1)[head, rows] = log_rest(scores)
        v, squares = values[head], values[head].square()
        o, weight = p @ v, p.square()
        variance = p @ squares - o.square()
        walk = weight @ squares - 2 * o * (weight @ v) + o.square() * weight.sum(1, keepdim=True)
        spread.flatten(0, 1)[head, rows] = torch.minimum(variance, 4 * walk).clamp(min=0).sqrt()
    return Exponents(size, rest, reach, spread, terms=problem["D"])


def cost(problem):
    B, H, Sq, Sk, D = (problem[name] for name in ("B", "H", "Sq", "Sk", "D"))
    keys = (max(0, Sk - Sq) + Sk) / 2 if problem["causal"] else Sk
    pairs = masks.pairs(Sq, Sk)
    return Cost(
        flops=4 * B * H * Sq * D * keys,
        bytes=(2 * Sq + 2 * Sk) * B * H * D * rules.DTYPE_BYTES[problem["dtype"]],
        flops_formula="4 B H Sq D (max(0, Sk - Sq) + Sk) / 2" if problem["causal"] else "4 B H Sq Sk D",
        bytes_formula="(2 Sq + 2 Sk) B H D size",
        exact_flops=4 * B * H * D * pairs if problem["causal"] else None,
        exact_formula=f"4 B H D pairs, {pairs:,} pairs of a query and a key it sees" if problem["causal"] else "",
    )


KERNEL = Kernel(
    name="flash_attention",
    title="FlashAttention forward",
    summary="Attention without storing the scores: key tiles stream past a block of rows that keeps its running maximum and sum.",
    program=program,
    fields=(
        Size("B", 4, help="batch", weight=0.25),
        Size("H", 16, help="heads", weight=0.25),
        Size("Sq", 4096, help="length of the queries"),
        Size("Sk", 4096, help="length of keys and values"),
        Choice("D", (64, 128, 256), 128, help="size of a head"),
        Choice("dtype", FLOAT_DTYPES, "float16"),
        Flag("causal", False, help="row i sees keys j <= i + Sk - Sq; a row that sees none gives 0"),
        Real("scale", None, help="factor of the scores; empty for 1/sqrt(D)"),
    ),
    knobs=(
        Knob("block_M", (64, 128, 192), default=64, help="query rows per block"),
        Knob("block_N", (32, 64, 80, 128, 176), default=64, help="keys per step"),
        Knob("num_stages", (0, 1, 2, 3), default=1, minimum=0, maximum=64, help="shared-memory buffers in flight"),
        Knob(
            "threads", (128, 256, 384), default=128, help="threads per block, without the producer warps", minimum=32, maximum=4096, step=32
        ),
        Knob(
            "schedule",
            attention_rules.SCHEDULES,
            default="plain",
            help="plain: TileLang orders the work. By hand for Hopper, overlap: softmax of a key tile beside a product of another; "
            "pingpong: warp groups take turns, too",
            only=dict.fromkeys(("overlap", "pingpong"), ("sm_90a",)),
        ),
        Knob(
            "heads_together",
            (1, 4, 16),
            default=1,
            help="causal, by hand: heads whose longest rows all come first, for an even end; more than L2 holds of their keys costs",
        ),
        Knob(
            "blocks",
            (0, 132),
            default=0,
            minimum=0,
            help="by hand: blocks that stay and take tile after tile, one for each SM; 0 for a block a tile. Pays where tiles are alike",
        ),
        Knob(
            "rescale",
            ("always", "vote"),
            default="always",
            help="by hand: scale what was gathered at every key tile, or only when a maximum of the warp grew, which gets rare",
        ),
        Knob(
            "store",
            ("direct", "queries", "shared"),
            default="direct",
            help="by hand: O from registers, or by TMA through the shared memory of the queries or its own: pays, most with few keys",
        ),
    ),
    inputs=inputs,
    output=output,
    reference=reference,
    cost=cost,
    estimate=attention_rules.estimate,
    canonical=attention_rules.canonical,
    cannot=attention_rules.cannot,
    conventions=masks.conventions,
    suggest=start.suggest,
    accumulate=lambda problem: problem["Sk"],
    error_scale="averages",
    exponents=exponents,
    math_mode=rules.gemm_math_mode,
    defaults={"cpu": {"B": 1, "H": 2, "Sq": 128, "Sk": 128, "D": 64, "dtype": "float32"}},
    default_configs=start.DEFAULTS,
    presets=(
        Preset("4 x 16 x 4096 x 128", {"B": 4, "H": 16, "Sq": 4096, "Sk": 4096, "D": 128}, kind="cuda"),
        Preset("same, causal", {"B": 4, "H": 16, "Sq": 4096, "Sk": 4096, "D": 128, "causal": True}, kind="cuda"),
        Preset("long, causal", {"B": 2, "H": 16, "Sq": 8192, "Sk": 8192, "D": 128, "causal": True}, kind="cuda"),
        Preset("head 64", {"B": 4, "H": 32, "Sq": 4096, "Sk": 4096, "D": 64}, kind="cuda"),
        Preset("fewer queries than keys", {"B": 1, "H": 2, "Sq": 100, "Sk": 300, "D": 64, "causal": True}),
        Preset("rows without a key", {"B": 1, "H": 2, "Sq": 6, "Sk": 4, "D": 64, "causal": True}),
    ),
    baselines=(*torch_calls.sdpa_baselines(), TRITON),
)
