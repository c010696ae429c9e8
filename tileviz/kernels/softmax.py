"""Softmax over rows of any length. A row that fits in the registers of a block is read once; a longer one is read twice, online.

A tile is as wide as a power of two, since other widths have no even spread over threads. Its columns past the end of the row are filled
with -inf, which changes neither a maximum nor a sum.
"""

from tileviz.kernels import rules
from tileviz.kernels.base import FLOAT_DTYPES, Baseline, Choice, Kernel, Knob, Preset, Size, T
from tileviz.records import Cost, Estimate

LOG2E = 1.4426950408889634
"""exp(x) is exp2(x LOG2E), one instruction on a GPU."""


def program(M, N, dtype, block_M, block_N, threads):
    width = tile_width(N, block_N)
    return whole_rows(M, N, dtype, block_M, width, threads) if N <= width else online(M, N, dtype, block_M, width, threads)


def tile_width(N, block_N):
    """Columns of a tile: block_N, or for a shorter row the power of two that holds it."""
    return min(block_N, 1 << (N - 1).bit_length())


def whole_rows(M, N, dtype, block_M, width, threads):
    @T.prim_func
    def softmax(
        X: T.Tensor((M, N), dtype),
        Y: T.Tensor((M, N), dtype),
    ):
        with T.Kernel(T.ceildiv(M, block_M), threads=threads) as block:
            x = T.alloc_fragment((block_M, width), "float32")
            highest = T.alloc_fragment((block_M,), "float32")
            total = T.alloc_fragment((block_M,), "float32")
            T.annotate_safe_value({X: -T.infinity(dtype)})
            T.copy(X[block * block_M, 0], x)
            T.reduce_max(x, highest, dim=1)
            for i, j in T.Parallel(block_M, width):
                x[i, j] = T.exp2((x[i, j] - highest[i]) * LOG2E)
            T.reduce_sum(x, total, dim=1)
            for i, j in T.Parallel(block_M, width):
                x[i, j] = x[i, j] / total[i]
            T.copy(x, Y[block * block_M, 0])

    return softmax


def online(M, N, dtype, block_M, width, threads):
    @T.prim_func
    def softmax(
        X: T.Tensor((M, N), dtype),
        Y: T.Tensor((M, N), dtype),
    ):
        with T.Kernel(T.ceildiv(M, block_M), threads=threads) as block:
            x = T.alloc_fragment((block_M, width), "float32")
            highest = T.alloc_fragment((block_M,), "float32")
            before = T.alloc_fragment((block_M,), "float32")
            base = T.alloc_fragment((block_M,), "float32")
            total = T.alloc_fragment((block_M,), "float32")
            part = T.alloc_fragment((block_M,), "float32")
            T.annotate_safe_value({X: -T.infinity(dtype)})
            T.fill(highest, -T.infinity("float32"))
            T.fill(total, 0)
            for k in T.serial(T.ceildiv(N, width)):
                T.copy(X[block * block_M, k * width], x)
                T.copy(highest, before)
                T.reduce_max(x, highest, dim=1, clear=False)
                for i in T.Parallel(block_M):
                    # while nothing but -inf was seen, -inf - -inf would spoil the sum
                    base[i] = T.if_then_else(highest[i] == -T.infinity("float32"), T.float32(0), highest[i])
                for i, j in T.Parallel(block_M, width):
                    x[i, j] = T.exp2((x[i, j] - base[i]) * LOG2E)
                T.reduce_sum(x, part, dim=1)
                for i in T.Parallel(block_M):
                    total[i] = total[i] * T.exp2((before[i] - base[i]) * LOG2E) + part[i]
            for k in T.serial(T.ceildiv(N, width)):
                T.copy(X[block * block_M, k * width], x)
                for i, j in T.Parallel(block_M, width):
                    x[i, j] = T.exp2((x[i, j] - base[i]) * LOG2E) / total[i]
                T.copy(x, Y[block * block_M, k * width])

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


def cost(problem):
    M, N, size = problem["M"], problem["N"], rules.DTYPE_BYTES[problem["dtype"]]
    return Cost(flops=0, bytes=2 * M * N * size, flops_formula="0 (memory-bound: none are counted)", bytes_formula="2 M N size")


def estimate(problem, config, target):
    """A tile of rows in registers; shared memory holds at most one partial maximum and, online, one partial sum a thread."""
    width = tile_width(problem["N"], config["block_N"])
    tile = config["block_M"] * width
    if target.kind == "cpu":
        stack = tile * 4
        return Estimate(threads=config["threads"], stack_bytes=stack, broken=rules.joined(rules.cpu_stack(stack, target)))
    registers = rules.ceildiv(tile, config["threads"])
    return Estimate(
        shared_bytes=config["threads"] * (4 if problem["N"] <= width else 8),
        accumulator_registers=registers,
        threads=config["threads"],
        broken=rules.joined(rules.threads(config["threads"], 0, target)),
        notes=rules.joined(
            rules.accumulator_note(registers, target),
            rules.larger_than("block_M", config["block_M"], problem["M"]),
            f"each row is read twice: {problem['N']:,} columns are more than a tile of {width:,}" if problem["N"] > width else None,
        ),
    )


def canonical(problem, config, target):
    """A tile is never wider than the row needs; threads mean nothing on the CPU."""
    out = {**config, "block_N": tile_width(problem["N"], config["block_N"])}
    return {**out, "threads": 128} if target.kind == "cpu" else out


def suggest(problem, target):
    """About 16 to 32 elements a thread; short rows share a block."""
    if not target.is_cuda:
        return {}
    width = tile_width(problem["N"], 32768)
    threads = min(512, max(128, width // 32))
    return {"block_M": min(16, max(1, 2048 // width)), "block_N": 32768, "threads": threads}


def eager(problem):
    import torch

    return lambda X: torch.softmax(X, dim=1)


KERNEL = Kernel(
    name="softmax",
    title="Softmax",
    summary="Softmax of each row: one pass over a row that fits in registers, two passes with a running maximum over a longer one.",
    program=program,
    fields=(
        Size("M", 8192, help="rows"),
        Size("N", 8192, help="columns: the length of a row", maximum=262144),
        Choice("dtype", FLOAT_DTYPES, "float16"),
    ),
    knobs=(
        Knob("block_M", (1, 2, 4, 8), default=1, help="rows per block", maximum=1024, power_of_two=True),
        Knob(
            "block_N",
            (1024, 2048, 4096, 8192, 16384, 32768),
            default=8192,
            help="columns per step; a longer row is read twice",
            maximum=262144,
            power_of_two=True,
        ),
        Knob("threads", (128, 256, 512, 1024), default=256, help="threads per block", minimum=32, maximum=4096, power_of_two=True),
    ),
    inputs=inputs,
    output=output,
    reference=reference,
    cost=cost,
    estimate=estimate,
    canonical=canonical,
    suggest=suggest,
    accumulate=lambda problem: problem["N"],
    error_scale="softmax",
    defaults={"cpu": {"M": 512, "N": 1000, "dtype": "float32"}},
    default_configs={"cpu": {"block_M": 1, "block_N": 8192, "threads": 128}},
    presets=(
        Preset("rows of 1000", {"M": 65536, "N": 1000}, kind="cuda"),
        Preset("rows of 1024", {"M": 32768, "N": 1024}, kind="cuda"),
        Preset("rows of 8192", {"M": 8192, "N": 8192}, kind="cuda"),
        Preset("rows of 32768", {"M": 4096, "N": 32768}, kind="cuda"),
        Preset("rows of 100001", {"M": 64, "N": 100001}),
        Preset("longest rows", {"M": 16, "N": 262144}),
    ),
    baselines=(
        Baseline("eager", "PyTorch eager", eager, math_mode=lambda problem: problem["dtype"]),
        Baseline("torch_compile", "torch.compile", eager, math_mode=lambda problem: problem["dtype"], compiles=True),
    ),
)
