"""No output of its own: X is written over, and a is a number among the parameters."""

from tileviz.kernels.toolkit.base import Baseline, Choice, Kernel, Knob, Size, T
from tileviz.records import Cost, Estimate


def program(N, dtype, block_N, threads):
    @T.prim_func
    def scale_in_place(X: T.Tensor((N,), dtype), a: T.float32):
        with T.Kernel(T.ceildiv(N, block_N), threads=threads) as block:
            for i in T.Parallel(block_N):
                if block * block_N + i < N:
                    X[block * block_N + i] = X[block * block_N + i] * a

    return scale_in_place


def eager(problem):
    return lambda X, a: X.mul_(a)


KERNEL = Kernel(
    name="scale_in_place",
    title="Scaling in place",
    summary="X *= a, where X lies.",
    program=program,
    fields=(Size("N", 5000), Choice("dtype", ("float16", "float32"), "float32")),
    knobs=(
        Knob("block_N", (512, 1024), default=1024, help="elements per block"),
        Knob("threads", (128,), default=128, help="threads per block"),
    ),
    inputs=lambda problem, randn: (randn(problem["N"], dtype=problem["dtype"]), 1.5),
    in_place=("X",),
    reference=lambda problem, X, a: X * a,
    cost=lambda problem: Cost(flops=problem["N"], bytes=8 * problem["N"], flops_formula="N", bytes_formula="8 N"),
    estimate=lambda problem, config, target: Estimate(threads=config["threads"]),
    accumulate=lambda problem: 1,
    error_scale="exact",
    baselines=(Baseline("eager", "PyTorch eager", eager),),
)
