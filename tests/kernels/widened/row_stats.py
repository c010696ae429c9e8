"""Two outputs, one of them the program's first parameter: the largest of each row and its sum."""

from tileviz.kernels.toolkit import rules
from tileviz.kernels.toolkit.base import Baseline, Choice, Kernel, Knob, Output, Size, T
from tileviz.records import Cost, Estimate


def program(M, N, dtype, block_M, threads):
    @T.prim_func
    def row_stats(largest: T.Tensor((M,), dtype), X: T.Tensor((M, N), dtype), total: T.Tensor((M,), "float32")):
        with T.Kernel(T.ceildiv(M, block_M), threads=threads) as block:
            x = T.alloc_fragment((block_M, N), "float32")
            top = T.alloc_fragment((block_M,), "float32")
            whole = T.alloc_fragment((block_M,), "float32")
            for i, j in T.Parallel(block_M, N):
                x[i, j] = T.if_then_else(block * block_M + i < M, X[T.min(M - 1, block * block_M + i), j], 0)
            T.reduce_max(x, top, dim=1)
            T.reduce_sum(x, whole, dim=1)
            for i in T.Parallel(block_M):
                if block * block_M + i < M:
                    largest[block * block_M + i] = top[i]
                    total[block * block_M + i] = whole[i]

    return row_stats


def inputs(problem, randn):
    return (randn(problem["M"], problem["N"], dtype=problem["dtype"]),)


def outputs(problem):
    rows = (problem["M"],)
    return Output("largest", rows, problem["dtype"], error_scale="exact"), Output("total", rows, "float32")


def reference(problem, X):
    return {"largest": X.max(1).values, "total": X.sum(1)}


def cost(problem):
    M, N, size = problem["M"], problem["N"], rules.DTYPE_BYTES[problem["dtype"]]
    return Cost(flops=2 * M * N, bytes=M * N * size + M * (size + 4), flops_formula="2 M N", bytes_formula="M N size + M (size + 4)")


def eager(problem):
    import torch

    return lambda X: (X.max(1).values, X.sum(1, dtype=torch.float32))


KERNEL = Kernel(
    name="row_stats",
    title="Row statistics",
    summary="The largest of each row, and its sum.",
    program=program,
    fields=(Size("M", 300), Size("N", 256), Choice("dtype", ("float16", "float32"), "float32")),
    knobs=(Knob("block_M", (4, 8), default=8, help="rows per block"), Knob("threads", (128, 256), default=128, help="threads per block")),
    inputs=inputs,
    outputs=outputs,
    order=lambda problem: ("largest", "X", "total"),
    reference=reference,
    cost=cost,
    estimate=lambda problem, config, target: Estimate(threads=config["threads"]),
    accumulate=lambda problem: problem["N"],
    baselines=(Baseline("eager", "PyTorch eager", eager),),
)
