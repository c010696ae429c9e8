"""Launches the Triton programs of `triton_kernels`: which configs are tried for a problem, and the callable of each.

The lists are short on purpose and stated here; each entry is a dict of tile sizes, warps, stages and whether tiles come by TMA. torch and
Triton are imported inside functions.
"""

import functools
import math
from collections.abc import Callable
from typing import Any

Config = dict[str, Any]

LOG2E = 1.4426950408889634

TMA_CAPABILITY = (9, 0)


def _gemm(block_M: int, block_N: int, block_K: int, stages: int, warps: int, tma: bool = False) -> Config:
    return {"block_M": block_M, "block_N": block_N, "block_K": block_K, "num_stages": stages, "num_warps": warps, "tma": tma}


GEMM_HALF = (
    _gemm(128, 256, 64, 3, 8, tma=True),
    _gemm(128, 256, 64, 4, 8, tma=True),
    _gemm(128, 128, 64, 4, 8, tma=True),
    _gemm(128, 128, 64, 4, 4, tma=True),
    _gemm(64, 128, 128, 3, 4, tma=True),
    _gemm(128, 256, 64, 3, 8),
    _gemm(128, 128, 64, 3, 8),
    _gemm(128, 128, 32, 4, 4),
    _gemm(64, 128, 64, 4, 4),
    _gemm(64, 64, 64, 4, 4),
)
GEMM_FLOAT32 = (
    _gemm(128, 128, 32, 4, 8, tma=True),
    _gemm(128, 256, 32, 2, 8, tma=True),
    _gemm(128, 128, 32, 3, 8),
    _gemm(128, 64, 32, 4, 4),
    _gemm(64, 64, 32, 4, 4),
)


def _attention(block_M: int, block_N: int, stages: int, warps: int, tma: bool = False) -> Config:
    return {"block_M": block_M, "block_N": block_N, "num_stages": stages, "num_warps": warps, "tma": tma}


ATTENTION_HALF = (
    _attention(128, 128, 2, 8, tma=True),
    _attention(128, 64, 3, 8, tma=True),
    _attention(128, 64, 2, 4, tma=True),
    _attention(128, 128, 2, 8),
    _attention(128, 64, 3, 8),
    _attention(128, 64, 3, 4),
    _attention(64, 64, 3, 4),
)
ATTENTION_256 = (
    _attention(128, 64, 2, 8, tma=True),
    _attention(128, 64, 2, 8),
    _attention(64, 64, 2, 4),
    _attention(64, 32, 2, 4),
)
ATTENTION_FLOAT32 = (
    _attention(128, 32, 2, 8),
    _attention(64, 64, 2, 4),
    _attention(64, 32, 2, 4),
    _attention(32, 32, 2, 4),
)
ATTENTION_FLOAT32_256 = (
    _attention(64, 32, 2, 4),
    _attention(64, 16, 2, 4),
    _attention(32, 32, 2, 4),
)

VECTOR_ADD = tuple({"block": block, "num_warps": warps} for block, warps in ((1024, 4), (2048, 8), (4096, 8), (8192, 8), (8192, 16)))

LONGEST_WHOLE_ROW = 65536


def configs(kernel: str, problem: dict[str, Any], capability: tuple[int, int]) -> tuple[Config, ...]:
    """What is tried for a problem on a device of this compute capability, in order."""
    return CONFIGS[kernel](problem, capability)


def program(kernel: str, problem: dict[str, Any], config: Config) -> Callable:
    """call(*inputs) -> output for one config. Compiles at its first call; raises what Triton raises."""
    return PROGRAMS[kernel](problem, config)


def words(config: Config) -> str:
    """`block_M=128 num_warps=8 tma`: a config as it is shown."""
    return " ".join(name if value is True else f"{name}={value}" for name, value in config.items() if value is not False)


def vector_add_configs(problem, capability) -> tuple[Config, ...]:
    return VECTOR_ADD


def vector_add(problem, config) -> Callable:
    import torch

    from .triton_kernels import vector_add as kernel

    def call(A, B):
        C = torch.empty_like(A)
        kernel[(_cdiv(A.numel(), config["block"]),)](A, B, C, A.numel(), config["block"], num_warps=config["num_warps"])
        return C

    return call


def gemm_configs(problem, capability) -> tuple[Config, ...]:
    offered = GEMM_FLOAT32 if problem["dtype"] == "float32" else GEMM_HALF
    size = 4 if problem["dtype"] == "float32" else 2
    rows_fit = all(problem[axis] * size % 16 == 0 for axis in ("K", "N"))
    return tuple(c for c in offered if not c["tma"] or (rows_fit and capability >= TMA_CAPABILITY))


def gemm(problem, config) -> Callable:
    """Also gemm_bias_gelu, whose problem names the epilogue."""
    import torch

    from .triton_kernels import gemm as kernel

    M, N, K = problem["M"], problem["N"], problem["K"]
    block_M, block_N, block_K, nt, tma = config["block_M"], config["block_N"], config["block_K"], problem["layout"] == "NT", config["tma"]
    even = M % block_M == 0 and N % block_N == 0 and K % block_K == 0
    grid = (_cdiv(M, block_M) * _cdiv(N, block_N),)

    def call(A, B, bias=None):
        C = torch.empty((M, N), dtype=A.dtype, device=A.device)
        a, b, c = (
            (A, B, C)
            if not tma
            else _descriptors((A, [block_M, block_K]), (B, [block_N, block_K] if nt else [block_K, block_N]), (C, [block_M, block_N]))
        )
        kernel[grid](
            a, b, A if bias is None else bias, c, M, N, K,
            NT=nt, EPILOGUE=problem.get("epilogue", "none"), PRECISION="tf32", EVEN=even, TMA=tma,
            BLOCK_M=block_M, BLOCK_N=block_N, BLOCK_K=block_K, PANEL=8,
            num_warps=config["num_warps"], num_stages=config["num_stages"],
        )  # fmt: skip
        return C

    return call


def softmax_configs(problem, capability) -> tuple[Config, ...]:
    """Whole rows where one fits into a block's registers, several of them where they are short; steps over longer ones."""
    N, width = problem["N"], _power_of_two(problem["N"])
    whole = ()
    if width <= LONGEST_WHOLE_ROW:
        several = max(1, 4096 // width)
        pairs = dict.fromkeys([(1, 4), (1, 8), (1, 16), *(((1, 32),) if width >= 16384 else ()), (several, 4), (several, 8)])
        whole = tuple({"rows": rows, "width": width, "num_warps": warps} for rows, warps in pairs)
    steps = tuple({"step": step, "num_warps": warps} for step, warps in ((4096, 8), (8192, 8), (8192, 16)) if N > step)
    return whole + steps


def softmax(problem, config) -> Callable:
    import torch

    from .triton_kernels import softmax_rows, softmax_steps

    M, N = problem["M"], problem["N"]

    def whole(X):
        Y = torch.empty_like(X)
        softmax_rows[(_cdiv(M, config["rows"]),)](X, Y, M, N, ROWS=config["rows"], WIDTH=config["width"], num_warps=config["num_warps"])
        return Y

    def steps(X):
        Y = torch.empty_like(X)
        softmax_steps[(M,)](X, Y, N, BLOCK=config["step"], num_warps=config["num_warps"])
        return Y

    return steps if "step" in config else whole


def attention_configs(problem, capability) -> tuple[Config, ...]:
    if problem["dtype"] == "float32":
        return ATTENTION_FLOAT32 if problem["D"] <= 128 else ATTENTION_FLOAT32_256
    offered = ATTENTION_HALF if problem["D"] <= 128 else ATTENTION_256
    return tuple(c for c in offered if not c["tma"] or capability >= TMA_CAPABILITY)


def attention(problem, config) -> Callable:
    import torch

    from .triton_kernels import attention as kernel

    B, H, Sq, Sk, D = (problem[name] for name in ("B", "H", "Sq", "Sk", "D"))
    scale = (1 / math.sqrt(D) if problem["scale"] is None else problem["scale"]) * LOG2E
    block_M, block_N, tma = config["block_M"], config["block_N"], config["tma"]

    def call(Q, K, V):
        O = torch.empty_like(Q)
        q, k, v, o = (
            (Q, K, V, O)
            if not tma
            else _descriptors(
                *((t.view(B * H, -1, D), [1, rows, D]) for t, rows in ((Q, block_M), (K, block_N), (V, block_N), (O, block_M)))
            )
        )
        kernel[(_cdiv(Sq, block_M), B * H)](
            q, k, v, o, Sq, Sk, scale, CAUSAL=problem["causal"], D=D, BLOCK_M=block_M, BLOCK_N=block_N, PRECISION="tf32", TMA=tma,
            num_warps=config["num_warps"], num_stages=config["num_stages"],
        )  # fmt: skip
        return O

    return call


PROGRAMS = {"vector_add": vector_add, "gemm": gemm, "gemm_bias_gelu": gemm, "softmax": softmax, "flash_attention": attention}
CONFIGS = {
    "vector_add": vector_add_configs,
    "gemm": gemm_configs,
    "gemm_bias_gelu": gemm_configs,
    "softmax": softmax_configs,
    "flash_attention": attention_configs,
}


def _descriptors(*tensors: tuple[Any, list[int]]) -> list[Any]:
    descriptor = _descriptor_class()
    return [descriptor.from_tensor(tensor, block) for tensor, block in tensors]


@functools.cache
def _descriptor_class():
    from triton.tools.tensor_descriptor import TensorDescriptor

    return TensorDescriptor


def _cdiv(a: int, b: int) -> int:
    return -(-a // b)


def _power_of_two(n: int) -> int:
    return 1 << (n - 1).bit_length()
