"""Vector add: the smallest memory-bound kernel. C[i] = A[i] + B[i]."""

from tileviz.kernels.toolkit import rules
from tileviz.kernels.toolkit.base import FLOAT_DTYPES, Baseline, Choice, Kernel, Knob, Preset, Size, T
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
    ),
    canonical=canonical,
)
