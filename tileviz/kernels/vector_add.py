"""Vector add: the smallest memory-bound kernel. C[i] = A[i] + B[i].

What bounds it: memory, three elements moved for each addition. One program, which loads and stores 16 bytes a thread at a time; on an
H200 it comes to 4.4 TB/s from 16 million elements on (268 million in float32: 726 us, Triton's 732), as fast as PyTorch's own.
"""

from tileviz.kernels.toolkit import rules
from tileviz.kernels.toolkit.base import FLOAT_DTYPES, Baseline, Choice, Kernel, Knob, Preset, Size, T, TritonBaseline
from tileviz.records import Cost, Estimate


def program(N, dtype, block_N, threads):
    whole = N - N % (16 // rules.DTYPE_BYTES[dtype])

    @T.prim_func
    def vector_add(
        A: T.Tensor((N,), dtype),
        B: T.Tensor((N,), dtype),
        C: T.Tensor((N,), dtype),
    ):
        with T.Kernel(T.ceildiv(N, block_N), threads=threads) as block:
            for i in T.Parallel(block_N):
                # up to a multiple of 16 bytes, so that every load and store is that wide
                if block * block_N + i < whole:
                    C[block * block_N + i] = A[block * block_N + i] + B[block * block_N + i]
            if whole < N:
                for i in T.Parallel(N - whole):
                    if block == 0:
                        C[whole + i] = A[whole + i] + B[whole + i]

    return vector_add


def inputs(problem, randn):
    return randn(problem["N"], dtype=problem["dtype"]), randn(problem["N"], dtype=problem["dtype"])


def output(problem):
    return (problem["N"],), problem["dtype"]


def reference(problem, A, B):
    return A + B


def cost(problem):
    N, size = problem["N"], rules.DTYPE_BYTES[problem["dtype"]]
    return Cost(flops=N, bytes=3 * N * size, flops_formula="N", bytes_formula="3 N size")


def estimate(problem, config, target):
    return Estimate(threads=config["threads"], broken=rules.joined(rules.threads(config["threads"], 0, target)))


def canonical(problem, config, target):
    return {**config, "threads": 128} if target.kind == "cpu" else config


def suggest(problem, target):
    """Two 16-byte loads of each input a thread, and blocks as large as keep a large GPU busy: the fastest on an H200."""
    if not target.is_cuda:
        return {}
    if problem["dtype"] == "float32":
        return {"block_N": 1024, "threads": 128}
    return {"block_N": 8192, "threads": 1024} if problem["N"] >= 1 << 27 else {"block_N": 4096, "threads": 256}


def eager(problem):
    import torch

    return torch.add


def triton_configs(problem, capability):
    return tuple({"block": block, "num_warps": warps} for block, warps in ((1024, 4), (2048, 8), (4096, 8), (8192, 8), (8192, 16)))


def triton_program(problem, config):
    """A program does a block of elements, the last one fewer."""
    import torch
    import triton
    import triton.language as tl

    @triton.jit
    def vector_add(a, b, c, N, BLOCK: tl.constexpr):
        at = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
        inside = at < N
        tl.store(c + at, tl.load(a + at, mask=inside) + tl.load(b + at, mask=inside), mask=inside)

    def call(A, B):
        C = torch.empty_like(A)
        blocks = rules.ceildiv(A.numel(), config["block"])
        vector_add[(blocks,)](A, B, C, A.numel(), config["block"], num_warps=config["num_warps"])
        return C

    return call


KERNEL = Kernel(
    name="vector_add",
    title="Vector add",
    summary="C = A + B, element by element: one read of each input, one write, no reuse.",
    program=program,
    fields=(
        Size("N", 1 << 26, help="elements", weight=0.25),
        Choice("dtype", FLOAT_DTYPES, "float32"),
    ),
    knobs=(
        Knob("block_N", (512, 1024, 2048, 4096, 8192), default=1024, help="elements per block"),
        Knob("threads", (64, 128, 256, 512, 1024), default=128, help="threads per block", maximum=4096),
    ),
    inputs=inputs,
    output=output,
    reference=reference,
    cost=cost,
    estimate=estimate,
    suggest=suggest,
    accumulate=lambda problem: 1,
    error_scale="exact",
    defaults={"cpu": {"N": 1 << 20}, "cuda": {"N": 1 << 26}},
    presets=(
        Preset("one million", {"N": 1 << 20}),
        Preset("16 million", {"N": 1 << 24}),
        Preset("268 million", {"N": 1 << 28}, kind="cuda"),
        Preset("odd length", {"N": 1_000_003}),
    ),
    baselines=(
        Baseline("eager", "PyTorch eager", eager, math_mode=lambda problem: problem["dtype"]),
        Baseline("torch_compile", "torch.compile", eager, math_mode=lambda problem: problem["dtype"], compiles=True),
        TritonBaseline(triton_configs, triton_program, math_mode=lambda problem: problem["dtype"]),
    ),
    canonical=canonical,
)
