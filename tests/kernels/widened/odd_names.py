"""Fields and a knob that are called like words of the page's address."""

from tileviz.kernels.toolkit.base import Choice, Kernel, Knob, Size, T
from tileviz.records import Cost, Estimate

SLOPES = {"box": 1, "tent": 2}


def program(N, seed, kernel, at, threads):
    slope = SLOPES[kernel]

    @T.prim_func
    def odd_names(X: T.Tensor((N,), "float32"), Y: T.Tensor((N,), "float32")):
        with T.Kernel(T.ceildiv(N, at), threads=threads) as block:
            for i in T.Parallel(at):
                if block * at + i < N:
                    Y[block * at + i] = X[block * at + i] * slope + seed

    return odd_names


KERNEL = Kernel(
    name="odd_names",
    title="Odd names",
    summary="Y = slope X + seed.",
    program=program,
    fields=(Size("N", 3000), Size("seed", 3), Choice("kernel", ("box", "tent"), "box")),
    knobs=(Knob("at", (256, 512), default=256, help="elements per block"), Knob("threads", (128,), default=128, help="threads per block")),
    inputs=lambda problem, randn: (randn(problem["N"]),),
    output=lambda problem: ((problem["N"],), "float32"),
    reference=lambda problem, X: X * SLOPES[problem["kernel"]] + problem["seed"],
    cost=lambda problem: Cost(flops=2 * problem["N"], bytes=8 * problem["N"], flops_formula="2 N", bytes_formula="8 N"),
    estimate=lambda problem, config, target: Estimate(threads=config["threads"]),
    accumulate=lambda problem: 2,
)
