"""Whole numbers in and out: how often each bin is named."""

from tileviz.kernels.toolkit.base import Kernel, Knob, Output, Size, T
from tileviz.records import Cost, Estimate


def program(N, bins, block_N, threads):
    @T.prim_func
    def histogram(places: T.Tensor((N,), "int32"), counts: T.Tensor((bins,), "int32")):
        with T.Kernel(bins, threads=threads) as bin:
            hits = T.alloc_fragment((block_N,), "int32")
            count = T.alloc_fragment((1,), "int32")
            for i in T.Parallel(block_N):
                hits[i] = 0
            for k in T.serial(T.ceildiv(N, block_N)):
                for i in T.Parallel(block_N):
                    if k * block_N + i < N:
                        hits[i] += T.if_then_else(places[k * block_N + i] == bin, 1, 0)
            T.reduce_sum(hits, count, dim=0)
            for i in T.Parallel(1):
                counts[bin] = count[i]

    return histogram


def reference(problem, places):
    import torch

    return torch.bincount(places, minlength=problem["bins"])


KERNEL = Kernel(
    name="histogram",
    title="Histogram",
    summary="How often each bin is named.",
    program=program,
    fields=(Size("N", 5000), Size("bins", 37)),
    knobs=(
        Knob("block_N", (256, 512), default=256, help="elements at a time"),
        Knob("threads", (128,), default=128, help="threads per block"),
    ),
    inputs=lambda problem, randn: (randn(problem["N"], dtype="int32", within=range(problem["bins"])),),
    outputs=lambda problem: (Output("counts", (problem["bins"],), "int32"),),
    reference=reference,
    cost=lambda problem: Cost(flops=problem["N"], bytes=4 * problem["N"], flops_formula="N", bytes_formula="4 N"),
    estimate=lambda problem, config, target: Estimate(threads=config["threads"]),
    accumulate=lambda problem: 1,
)
