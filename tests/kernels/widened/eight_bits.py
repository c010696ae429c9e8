"""8-bit floats in and out: Y = 2 X in another format."""

from tileviz.kernels.toolkit.base import Kernel, Knob, Output, Size, T
from tileviz.records import Cost, Estimate


def program(N, block_N, threads):
    @T.prim_func
    def eight_bits(X: T.Tensor((N,), "float8_e4m3fn"), Y: T.Tensor((N,), "float8_e5m2")):
        with T.Kernel(T.ceildiv(N, block_N), threads=threads) as block:
            for i in T.Parallel(block_N):
                if block * block_N + i < N:
                    Y[block * block_N + i] = T.cast(T.cast(X[block * block_N + i], "float32") * 2, "float8_e5m2")

    return eight_bits


KERNEL = Kernel(
    name="eight_bits",
    title="8-bit floats",
    summary="Y = 2 X, from one 8-bit format to the other.",
    program=program,
    fields=(Size("N", 4096),),
    knobs=(
        Knob("block_N", (512, 1024), default=1024, help="elements per block"),
        Knob("threads", (128,), default=128, help="threads per block"),
    ),
    inputs=lambda problem, randn: (randn(problem["N"], dtype="float8_e4m3fn"),),
    outputs=lambda problem: (Output("Y", (problem["N"],), "float8_e5m2"),),
    reference=lambda problem, X: 2 * X,
    cost=lambda problem: Cost(flops=problem["N"], bytes=2 * problem["N"], flops_formula="N", bytes_formula="2 N"),
    estimate=lambda problem, config, target: Estimate(threads=config["threads"]),
    accumulate=lambda problem: 1,
    error_scale="exact",
)
