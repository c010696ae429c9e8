"""What Triton offers instead of our GEMM: which configs are tried for a problem, and the call of each."""

from collections.abc import Callable

from tileviz.kernels.toolkit.rules import DTYPE_BYTES, ceildiv
from tileviz.kernels.toolkit.triton_baseline import TMA_CAPABILITY, TritonBaseline, descriptors
from tileviz.records import Config


def _tile(block_M: int, block_N: int, block_K: int, stages: int, warps: int, tma: bool = False) -> Config:
    return {"block_M": block_M, "block_N": block_N, "block_K": block_K, "num_stages": stages, "num_warps": warps, "tma": tma}


HALF = (
    _tile(128, 256, 64, 3, 8, tma=True),
    _tile(128, 256, 64, 4, 8, tma=True),
    _tile(128, 128, 64, 4, 8, tma=True),
    _tile(128, 128, 64, 4, 4, tma=True),
    _tile(64, 128, 128, 3, 4, tma=True),
    _tile(128, 256, 64, 3, 8),
    _tile(128, 128, 64, 3, 8),
    _tile(128, 128, 32, 4, 4),
    _tile(64, 128, 64, 4, 4),
    _tile(64, 64, 64, 4, 4),
)
FLOAT32 = (
    _tile(128, 128, 32, 4, 8, tma=True),
    _tile(128, 256, 32, 2, 8, tma=True),
    _tile(128, 128, 32, 3, 8),
    _tile(128, 64, 32, 4, 4),
    _tile(64, 64, 32, 4, 4),
)


def configs(problem, capability) -> tuple[Config, ...]:
    offered = FLOAT32 if problem["dtype"] == "float32" else HALF
    size = DTYPE_BYTES[problem["dtype"]]
    rows_fit = all(problem[axis] * size % 16 == 0 for axis in ("K", "N"))
    return tuple(c for c in offered if not c["tma"] or (rows_fit and capability >= TMA_CAPABILITY))


def program(problem, config) -> Callable:
    """Also gemm_bias_gelu, whose problem names the epilogue."""
    import torch

    from tileviz.kernels.gemm.triton_programs import gemm as kernel

    M, N, K = problem["M"], problem["N"], problem["K"]
    block_M, block_N, block_K, nt, tma = config["block_M"], config["block_N"], config["block_K"], problem["layout"] == "NT", config["tma"]
    even = M % block_M == 0 and N % block_N == 0 and K % block_K == 0
    grid = (ceildiv(M, block_M) * ceildiv(N, block_N),)

    def call(A, B, bias=None):
        C = torch.empty((M, N), dtype=A.dtype, device=A.device)
        a, b, c = (
            (A, B, C)
            if not tma
            else descriptors((A, [block_M, block_K]), (B, [block_N, block_K] if nt else [block_K, block_N]), (C, [block_M, block_N]))
        )
        kernel[grid](
            a, b, A if bias is None else bias, c, M, N, K,
            NT=nt, EPILOGUE=problem.get("epilogue", "none"), PRECISION="tf32", EVEN=even, TMA=tma,
            BLOCK_M=block_M, BLOCK_N=block_N, BLOCK_K=block_K, PANEL=8,
            num_warps=config["num_warps"], num_stages=config["num_stages"],
        )  # fmt: skip
        return C

    return call


TRITON = TritonBaseline(configs, program)
"""Of GEMM, and of GEMM with an epilogue."""
