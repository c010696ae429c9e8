"""GEMM with an epilogue: C = activation(A @ B + bias). Bias and activation act on the float32 accumulator, before the one rounding."""

from dataclasses import replace

from tileviz.kernels.gemm import gemm, tcgen05, torch_calls, traffic
from tileviz.kernels.gemm import rules as gemm_rules
from tileviz.kernels.gemm.pipeline import Schedule
from tileviz.kernels.gemm.triton_calls import TRITON
from tileviz.kernels.toolkit import rules
from tileviz.kernels.toolkit.base import Baseline, Choice, Kernel, Preset, T

EPILOGUES = ("none", "bias", "bias_relu", "bias_gelu_tanh", "bias_gelu_erf", "bias_silu")


def relu(x):
    return T.if_then_else(x < 0, 0, x)  # a NaN stays, which max would drop


def gelu_tanh(x):
    """0.5 x (1 + tanh u), written as x / (1 + 2^(-2 u log2 e)): no cancellation where tanh is near -1, and an exponent of base 2."""
    return x * T.fast_rcp(1 + T.exp2(x * (-0.10294324 * (x * x) - 2.3022082)))


def gelu_erf(x):
    return 0.5 * x * (1 + T.erf(x * 0.7071067811865476))


def cancelled(problem):
    """1 + erf(x / sqrt 2) comes to nothing near -1: erf is off by 2 units in the last place (CUDA's table for erff), 2^-24 each, and half
    of x, which is 6 at most where any of it is left, scales that."""
    return 6.0 * 2.0**-24 if problem["epilogue"] == "bias_gelu_erf" else 0.0


def silu(x):
    return x * T.fast_rcp(1 + T.exp2(-1.4426950408889634 * x))


def unchanged(x):
    return x


def activation_of(epilogue):
    named = {"bias_relu": relu, "bias_gelu_tanh": gelu_tanh, "bias_gelu_erf": gelu_erf, "bias_silu": silu}
    return named.get(epilogue, unchanged)


def program(
    M, N, K, dtype, layout, epilogue,
    variant, block_M, block_N, block_K, num_stages, threads, store, policy, cluster, panel_size, enable_swizzle, blocks,
):  # fmt: skip
    activation = activation_of(epilogue)
    if variant == "plain":
        block = plain(
            M, N, K, dtype, layout, activation,
            block_M, block_N, block_K, num_stages, threads, enable_swizzle, panel_size, policy, store,
        )  # fmt: skip
    elif variant == "tcgen05":
        block = tcgen05.block(
            M, N, K, dtype, layout, block_M, block_N, block_K, num_stages, threads, enable_swizzle, panel_size, activation
        )  # fmt: skip
    else:
        panel = panel_size if enable_swizzle else 1
        schedule = Schedule(
            M, N, K, dtype, layout, block_M, block_N, block_K, num_stages, threads, panel, policy, store, cluster, blocks
        )  # fmt: skip
        block = gemm.HAND_MADE[variant](schedule, activation)
    B_shape = (N, K) if layout == "NT" else (K, N)

    if epilogue == "none":

        @T.prim_func
        def gemm_no_bias(
            A: T.Tensor((M, K), dtype),
            B: T.Tensor(B_shape, dtype),
            C: T.Tensor((M, N), dtype),
        ):
            block(A, B, None, C)

        return gemm_no_bias

    @T.prim_func
    def gemm_bias_gelu(
        A: T.Tensor((M, K), dtype),
        B: T.Tensor(B_shape, dtype),
        bias: T.Tensor((N,), dtype),
        C: T.Tensor((M, N), dtype),
    ):
        block(A, B, bias, C)

    return gemm_bias_gelu


def plain(
    M, N, K, dtype, layout, activation, block_M, block_N, block_K, num_stages, threads, enable_swizzle, panel_size, policy, store
):  # fmt: skip
    """One tile of C a block; TileLang itself sets loads and products in parallel."""
    transpose_B = layout == "NT"
    B_tile = (block_N, block_K) if transpose_B else (block_K, block_N)
    warp_policy = getattr(T.GemmWarpPolicy, policy)

    @T.macro
    def block(A, B, bias, C):
        with T.Kernel(T.ceildiv(N, block_N), T.ceildiv(M, block_M), threads=threads) as (bx, by):
            A_shared = T.alloc_shared((block_M, block_K), dtype)
            B_shared = T.alloc_shared(B_tile, dtype)
            acc = T.alloc_fragment((block_M, block_N), "float32")
            T.use_swizzle(panel_size, enable=enable_swizzle)
            T.clear(acc)
            for k in T.Pipelined(T.ceildiv(K, block_K), num_stages=num_stages):
                T.copy(A[by * block_M, k * block_K], A_shared)
                if transpose_B:
                    T.copy(B[bx * block_N, k * block_K], B_shared)
                else:
                    T.copy(B[k * block_K, bx * block_N], B_shared)
                T.gemm(A_shared, B_shared, acc, transpose_B=transpose_B, policy=warp_policy)
            if bias is not None:
                for i, j in T.Parallel(block_M, block_N):
                    acc[i, j] = activation(acc[i, j] + T.cast(bias[bx * block_N + j], "float32"))
            if store == "direct":
                T.copy(acc, C[by * block_M, bx * block_N])
            else:
                C_shared = T.alloc_shared((block_M, block_N), dtype)
                T.copy(acc, C_shared)
                T.copy(C_shared, C[by * block_M, bx * block_N])

    return block


def inputs(problem, randn):
    operands = gemm.inputs(problem, randn)
    return operands if problem["epilogue"] == "none" else (*operands, randn(problem["N"], dtype=problem["dtype"]))


def activate(problem, x):
    """The activation of the epilogue, as PyTorch has it, in x's own dtype."""
    import torch.nn.functional as F

    match problem["epilogue"]:
        case "bias_relu":
            return F.relu(x)
        case "bias_gelu_tanh":
            return F.gelu(x, approximate="tanh")
        case "bias_gelu_erf":
            return F.gelu(x)
        case "bias_silu":
            return F.silu(x)
    return x


def reference(problem, A, B, *bias):
    product = gemm.reference(problem, A, B)
    for row in bias:
        product += row
    return activate(problem, product)


def cost(problem):
    plain = gemm.cost(problem)
    if problem["epilogue"] == "none":
        return plain
    size = rules.DTYPE_BYTES[problem["dtype"]]
    return replace(plain, bytes=plain.bytes + problem["N"] * size, bytes_formula="(M K + K N + M N + N) size")


def estimate(problem, config, target):
    return gemm_rules.estimate(problem, config, target)


def canonical(problem, config, target):
    return gemm_rules.canonical(problem, config, target)


def eager(problem):
    """What PyTorch computes step by step: a product with its bias, then the activation."""
    import torch

    transpose = problem["layout"] == "NT"
    if problem["epilogue"] == "none":
        return torch_calls.matmul(problem)
    return lambda A, B, bias: activate(problem, torch.addmm(bias, A, B.T if transpose else B))


def fused(problem):
    """cuBLASLt with its own epilogue: bias alone, bias and ReLU, or bias and GELU in tanh form."""
    import torch

    transpose = problem["layout"] == "NT"
    if problem["epilogue"] == "bias":
        return lambda A, B, bias: torch.addmm(bias, A, B.T if transpose else B)
    gelu = problem["epilogue"] == "bias_gelu_tanh"
    return lambda A, B, bias: torch._addmm_activation(bias, A, B.T if transpose else B, use_gelu=gelu)


def no_fused(problem):
    lacking = {"bias_gelu_erf": "GELU in erf form; its GELU is the tanh form", "bias_silu": "SiLU", "none": "nothing to fuse"}
    said = lacking.get(problem["epilogue"])
    return f"cuBLASLt has no epilogue for {said}" if said else None


KERNEL = Kernel(
    name="gemm_bias_gelu",
    title="GEMM + bias + GELU",
    summary="C = activation(A @ B + bias): bias and activation on the float32 accumulator, so C is written once.",
    program=program,
    fields=(
        *gemm.KERNEL.fields,
        Choice("epilogue", EPILOGUES, "bias_gelu_tanh", help="what follows the product; GELU in its tanh or its erf form"),
    ),
    knobs=gemm.KERNEL.knobs,
    inputs=inputs,
    output=gemm.output,
    reference=reference,
    cost=cost,
    estimate=estimate,
    canonical=canonical,
    accumulate=lambda problem: problem["K"],
    cancelled=cancelled,
    math_mode=rules.gemm_math_mode,
    defaults=gemm.KERNEL.defaults,
    default_configs=gemm.KERNEL.default_configs,
    suggest=gemm.suggest,
    presets=(
        Preset("square 512", {"M": 512, "N": 512, "K": 512}),
        Preset("square 4096", {"M": 4096, "N": 4096, "K": 4096}, kind="cuda"),
        Preset("feed-forward up", {"M": 8192, "N": 16384, "K": 1024}, kind="cuda"),
        Preset("feed-forward down", {"M": 8192, "N": 4096, "K": 1024}, kind="cuda"),
        Preset("odd sizes", {"M": 250, "N": 231, "K": 243, "epilogue": "bias_gelu_erf"}),
    ),
    baselines=(
        *torch_calls.matmul_baselines(eager),
        Baseline(
            "cublaslt_epilogue",
            "cuBLASLt epilogue",
            torch_calls.with_blas(fused, "cublaslt"),
            kind="cuda",
            unavailable=no_fused,
            math_mode=rules.torch_math_mode,
        ),  # fmt: skip
        TRITON,
    ),
    traffic=traffic.chains,
)
