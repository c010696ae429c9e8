"""Softmax over rows of any length. A row that a block, or a cluster of blocks, can hold in registers is read once; a longer one twice.

Every warp takes its share of a row, 16 bytes a lane at a time in turn with the other warps, and finds the highest value of its share and
the sum of exponentials under it alone, by shuffles. The shares of a row then meet once, in shared memory. Columns past the end of the row
are filled with -inf, which changes neither a maximum nor a sum.
"""

from tileviz.kernels.softmax import traffic
from tileviz.kernels.softmax.cluster import of_cluster
from tileviz.kernels.softmax.parts import finite, power, scaled, shares, weight
from tileviz.kernels.softmax.rules import IDLE, VARIANTS, estimate, suggest
from tileviz.kernels.softmax.triton_calls import TRITON
from tileviz.kernels.toolkit import rules
from tileviz.kernels.toolkit.base import FLOAT_DTYPES, Baseline, Choice, Kernel, Knob, Preset, Size, T
from tileviz.kernels.toolkit.exponents import Exponents, log_rest
from tileviz.records import Cost


def program(M, N, dtype, variant, block_M, block_N, threads, hold, blocks_per_sm, cluster):
    if variant == "cluster":
        return of_cluster(M, N, dtype, threads, hold, blocks_per_sm, cluster)
    if variant == "online":
        return online(M, N, dtype, block_M, block_N, threads)
    return whole(M, N, dtype, block_M, threads, hold, blocks_per_sm)


def meeting(block_M, warps, dtype):
    """A macro in which the warps of a row tell each other the highest value and the sum of their shares, through shared memory."""

    @T.macro
    def meet(highest, total, row_highest, row_total):
        shared_highest = T.alloc_shared((block_M, warps), "float32")
        shared_total = T.alloc_shared((block_M, warps), "float32")
        every_highest = T.alloc_fragment((block_M, warps), "float32")
        every_total = T.alloc_fragment((block_M, warps), "float32")
        T.copy(highest, shared_highest)
        T.copy(total, shared_total)
        T.copy(shared_highest, every_highest)
        T.copy(shared_total, every_total)
        T.reduce_max(every_highest, row_highest, dim=1)
        for i, w in T.Parallel(block_M, warps):
            every_total[i, w] *= weight(every_highest[i, w], row_highest[i], dtype)
        T.reduce_sum(every_total, row_total, dim=1)

    return meet


def whole(M, N, dtype, block_M, threads, hold, blocks_per_sm):
    warps, lanes, vector = shares(N, dtype, threads // block_M)
    width = lanes * vector
    steps = rules.ceildiv(N, warps * width)
    held = dtype if hold == "input" else "float32"
    meet = meeting(block_M, warps, dtype)

    @T.prim_func
    def softmax(
        X: T.Tensor((M, N), dtype),
        Y: T.Tensor((M, N), dtype),
    ):
        with T.Kernel(T.ceildiv(M, block_M), threads=threads) as block:
            x = T.alloc_fragment((block_M, warps, steps, width), held)
            best = T.alloc_fragment((block_M, warps, width), held)
            sums = T.alloc_fragment((block_M, warps, width), "float32")
            top = T.alloc_fragment((block_M, warps), held)
            highest = T.alloc_fragment((block_M, warps), "float32")
            base = T.alloc_fragment((block_M, warps), "float32")
            total = T.alloc_fragment((block_M, warps), "float32")
            row_highest = T.alloc_fragment((block_M,), "float32")
            row_total = T.alloc_fragment((block_M,), "float32")
            scale = T.alloc_fragment((block_M, warps), "float32")
            T.annotate_layout({x: T.Fragment(x.shape, lambda i, w, s, c: ((i * warps + w) * lanes + c // vector, s * vector + c % vector))})
            T.annotate_min_blocks_per_sm(blocks_per_sm)

            for i, w, s, c in T.Parallel(block_M, warps, steps, width):
                if (s * warps + w) * width + c < N:
                    x[i, w, s, c] = X[block * block_M + i, (s * warps + w) * width + c]
                else:
                    x[i, w, s, c] = -T.infinity(held)
            T.fill(best, -T.infinity(held))
            for s in T.unroll(steps):
                for i, w, c in T.Parallel(block_M, warps, width):
                    best[i, w, c] = T.max(best[i, w, c], x[i, w, s, c])
            T.reduce_max(best, top, dim=2)
            for i, w in T.Parallel(block_M, warps):
                highest[i, w] = scaled(top[i, w], dtype)
                base[i, w] = finite(highest[i, w])
            T.clear(sums)
            for s in T.unroll(steps):
                for i, w, c in T.Parallel(block_M, warps, width):
                    if held == "float32":
                        x[i, w, s, c] = power(scaled(x[i, w, s, c], dtype) - base[i, w], dtype)
                        sums[i, w, c] += x[i, w, s, c]
                    else:
                        sums[i, w, c] += power(scaled(x[i, w, s, c], dtype) - base[i, w], dtype)
            T.reduce_sum(sums, total, dim=2)
            if warps > 1:
                meet(highest, total, row_highest, row_total)
            else:
                for i in T.Parallel(block_M):
                    row_highest[i] = highest[i, 0]
                    row_total[i] = total[i, 0]
            for i, w in T.Parallel(block_M, warps):
                scale[i, w] = (weight(highest[i, w], row_highest[i], dtype) if held == "float32" and warps > 1 else 1) / row_total[i]
            for i, w, s, c in T.Parallel(block_M, warps, steps, width):
                if (s * warps + w) * width + c < N:
                    if held == "float32":
                        Y[block * block_M + i, (s * warps + w) * width + c] = x[i, w, s, c] * scale[i, w]
                    else:
                        Y[block * block_M + i, (s * warps + w) * width + c] = (
                            power(scaled(x[i, w, s, c], dtype) - row_highest[i], dtype) * scale[i, w]
                        )

    return softmax


def online(M, N, dtype, block_M, block_N, threads):
    warps, lanes, vector = shares(N, dtype, threads // block_M)
    width = lanes * vector
    columns = max(1, min(block_N, 1 << (N - 1).bit_length()) // (warps * width)) * width
    steps = rules.ceildiv(N, warps * columns)
    meet = meeting(block_M, warps, dtype)

    def column(step, w, c):
        """Where column c of a warp's share of a step lies in the row."""
        return step * (warps * columns) + c // width * (warps * width) + w * width + c % width

    @T.prim_func
    def softmax(
        X: T.Tensor((M, N), dtype),
        Y: T.Tensor((M, N), dtype),
    ):
        with T.Kernel(T.ceildiv(M, block_M), threads=threads) as block:
            x = T.alloc_fragment((block_M, warps, columns), "float32")
            highest = T.alloc_fragment((block_M, warps), "float32")
            earlier = T.alloc_fragment((block_M, warps), "float32")
            base = T.alloc_fragment((block_M, warps), "float32")
            total = T.alloc_fragment((block_M, warps), "float32")
            part = T.alloc_fragment((block_M, warps), "float32")
            row_highest = T.alloc_fragment((block_M,), "float32")
            row_total = T.alloc_fragment((block_M,), "float32")
            scale = T.alloc_fragment((block_M,), "float32")
            T.annotate_layout(
                {x: T.Fragment(x.shape, lambda i, w, c: ((i * warps + w) * lanes + c // vector % lanes, c // width * vector + c % vector))}
            )

            T.fill(highest, -T.infinity("float32"))
            T.clear(total)
            for k in T.serial(steps):
                for i, w, c in T.Parallel(block_M, warps, columns):
                    if column(k, w, c) < N:
                        x[i, w, c] = scaled(X[block * block_M + i, column(k, w, c)], dtype)
                    else:
                        x[i, w, c] = -T.infinity("float32")
                T.copy(highest, earlier)
                T.reduce_max(x, highest, dim=2, clear=False)
                for i, w in T.Parallel(block_M, warps):
                    base[i, w] = finite(highest[i, w])
                for i, w, c in T.Parallel(block_M, warps, columns):
                    x[i, w, c] = power(x[i, w, c] - base[i, w], dtype)
                T.reduce_sum(x, part, dim=2)
                for i, w in T.Parallel(block_M, warps):
                    total[i, w] = total[i, w] * weight(earlier[i, w], base[i, w], dtype) + part[i, w]
            meet(highest, total, row_highest, row_total)
            for i in T.Parallel(block_M):
                scale[i] = 1 / row_total[i]
            for k in T.serial(steps):
                # backwards: what was read last is the likeliest to be in the L2 cache still
                for i, w, c in T.Parallel(block_M, warps, columns):
                    if column(steps - 1 - k, w, c) < N:
                        x[i, w, c] = scaled(X[block * block_M + i, column(steps - 1 - k, w, c)], dtype)
                for i, w, c in T.Parallel(block_M, warps, columns):
                    if column(steps - 1 - k, w, c) < N:
                        Y[block * block_M + i, column(steps - 1 - k, w, c)] = power(x[i, w, c] - row_highest[i], dtype) * scale[i]

    return softmax


def inputs(problem, randn):
    return (randn(problem["M"], problem["N"], dtype=problem["dtype"]),)


def output(problem):
    return (problem["M"], problem["N"]), problem["dtype"]


def reference(problem, X):
    """Row by row in slabs, so that temporaries stay small."""
    import torch

    out = torch.empty_like(X)
    rows = max(1, (1 << 24) // problem["N"])
    for first in range(0, problem["M"], rows):
        out[first : first + rows] = torch.softmax(X[first : first + rows], dim=1)
    return out


def exponents(problem, X):
    """The inputs are the arguments. A probability p moves by p (1 - p) of what its exponential is off by, and never by more than 1."""
    import torch

    rest, spread = X.new_empty(problem["M"], 1), torch.empty_like(X)
    rows = max(1, (1 << 24) // problem["N"])
    for first in range(0, problem["M"], rows):
        x = X[first : first + rows]
        p = torch.softmax(x, dim=1)
        rest[first : first + rows] = log_rest(x)
        spread[first : first + rows] = p * (1 - p)
    size = torch.nan_to_num(X, 0.0, 0.0, 0.0).abs().amax(1, keepdim=True)
    return Exponents(size, rest, torch.ones_like(rest), spread, terms=0)


def cost(problem):
    M, N, size = problem["M"], problem["N"], rules.DTYPE_BYTES[problem["dtype"]]
    return Cost(flops=0, bytes=2 * M * N * size, flops_formula="0 (memory-bound: none are counted)", bytes_formula="2 M N size")


def canonical(problem, config, target):
    out = {**config, **IDLE[config["variant"]]}
    if out["variant"] == "online":
        out["block_N"] = min(out["block_N"], 1 << (problem["N"] - 1).bit_length())
    if problem["dtype"] == "float32":
        out["hold"] = "float32"
    if target.kind == "cpu":
        out["blocks_per_sm"] = 1
    return out


def eager(problem):
    import torch

    return lambda X: torch.softmax(X, dim=1)


KERNEL = Kernel(
    name="softmax",
    title="Softmax",
    summary="Softmax of each row: read once where a block or a cluster of blocks can hold it, twice with a running maximum where not.",
    program=program,
    fields=(
        Size("M", 8192, help="rows", weight=0.25),
        Size("N", 8192, help="columns: the length of a row", maximum=262144),
        Choice("dtype", FLOAT_DTYPES, "float16"),
    ),
    knobs=(
        Knob(
            "variant",
            VARIANTS,
            default="whole",
            help="whole: a block keeps its rows in registers and reads them once; best where a row fits. cluster: several blocks share a"
            " row, for rows that are too long for one block, or few (Hopper and newer). online: rows of any length, read twice",
        ),
        Knob("block_M", (1, 2, 4, 8, 16, 32), default=1, help="rows per block; more pay for short rows", maximum=1024, power_of_two=True),
        Knob("block_N", (16384, 32768), default=16384, help="columns per step of online", maximum=262144, power_of_two=True),
        Knob("threads", (64, 128, 256, 512, 1024), default=256, help="threads per block", minimum=32, maximum=4096, power_of_two=True),
        Knob(
            "hold",
            ("float32", "input"),
            default="float32",
            help="what stays in registers: exponentials in float32, or the values as they came, whose exponentials are computed twice;"
            " half the registers for float16, which pays for long rows",
        ),
        Knob(
            "blocks_per_sm",
            (1, 2, 4, 8),
            default=1,
            help="blocks of a multiprocessor that the compiler leaves registers for; pays where nothing spills",
            maximum=32,
        ),
        Knob("cluster", (2, 4, 8), default=2, help="blocks that share a row in cluster", minimum=2, maximum=16, power_of_two=True),
    ),
    inputs=inputs,
    output=output,
    reference=reference,
    cost=cost,
    estimate=estimate,
    canonical=canonical,
    suggest=suggest,
    accumulate=lambda problem: problem["N"],
    error_scale="shares",
    exponents=exponents,
    defaults={"cpu": {"M": 512, "N": 1000, "dtype": "float32"}},
    default_configs={"cpu": {"variant": "whole", "block_M": 1, "threads": 128, "hold": "float32", "blocks_per_sm": 1}},
    presets=(
        Preset("rows of 128", {"M": 131072, "N": 128}, kind="cuda"),
        Preset("rows of 1000", {"M": 65536, "N": 1000}, kind="cuda"),
        Preset("rows of 1024", {"M": 32768, "N": 1024}, kind="cuda"),
        Preset("rows of 8192", {"M": 8192, "N": 8192}, kind="cuda"),
        Preset("rows of 32768", {"M": 4096, "N": 32768}, kind="cuda"),
        Preset("rows of 100001", {"M": 64, "N": 100001}),
        Preset("rows of 131072", {"M": 1024, "N": 131072}, kind="cuda"),
        Preset("few long rows", {"M": 8, "N": 262144}),
    ),
    baselines=(
        Baseline("eager", "PyTorch eager", eager, math_mode=lambda problem: problem["dtype"]),
        Baseline("torch_compile", "torch.compile", eager, math_mode=lambda problem: problem["dtype"], compiles=True),
        TRITON,
    ),
    traffic=traffic.chains,
)
