"""What Triton offers instead of our attention: which configs are tried for a problem, and the call of each."""

import math
from collections.abc import Callable

from tileviz.kernels.toolkit.rules import ceildiv
from tileviz.kernels.toolkit.triton_baseline import TMA_CAPABILITY, TritonBaseline, descriptors
from tileviz.records import Config

LOG2E = 1.4426950408889634


def _tile(block_M: int, block_N: int, stages: int, warps: int, tma: bool = False) -> Config:
    return {"block_M": block_M, "block_N": block_N, "num_stages": stages, "num_warps": warps, "tma": tma}


HALF = (
    _tile(128, 128, 2, 8, tma=True),
    _tile(128, 64, 3, 8, tma=True),
    _tile(128, 64, 2, 4, tma=True),
    _tile(128, 128, 2, 8),
    _tile(128, 64, 3, 8),
    _tile(128, 64, 3, 4),
    _tile(64, 64, 3, 4),
)
HALF_256 = (
    _tile(128, 64, 2, 8, tma=True),
    _tile(128, 64, 2, 8),
    _tile(64, 64, 2, 4),
    _tile(64, 32, 2, 4),
)
FLOAT32 = (
    _tile(128, 32, 2, 8),
    _tile(64, 64, 2, 4),
    _tile(64, 32, 2, 4),
    _tile(32, 32, 2, 4),
)
FLOAT32_256 = (
    _tile(64, 32, 2, 4),
    _tile(64, 16, 2, 4),
    _tile(32, 32, 2, 4),
)


def configs(problem, capability) -> tuple[Config, ...]:
    if problem["dtype"] == "float32":
        return FLOAT32 if problem["D"] <= 128 else FLOAT32_256
    offered = HALF if problem["D"] <= 128 else HALF_256
    return tuple(c for c in offered if not c["tma"] or capability >= TMA_CAPABILITY)


def program(problem, config) -> Callable:
    import torch

    from tileviz.kernels.attention.triton_programs import attention as kernel

    B, H, Sq, Sk, D = (problem[name] for name in ("B", "H", "Sq", "Sk", "D"))
    scale = (1 / math.sqrt(D) if problem["scale"] is None else problem["scale"]) * LOG2E
    block_M, block_N, tma = config["block_M"], config["block_N"], config["tma"]

    def call(Q, K, V):
        O = torch.empty_like(Q)
        q, k, v, o = (
            (Q, K, V, O)
            if not tma
            else descriptors(
                *((t.view(B * H, -1, D), [1, rows, D]) for t, rows in ((Q, block_M), (K, block_N), (V, block_N), (O, block_M)))
            )
        )
        kernel[(ceildiv(Sq, block_M), B * H)](
            q, k, v, o, Sq, Sk, scale, CAUSAL=problem["causal"], D=D, BLOCK_M=block_M, BLOCK_N=block_N, PRECISION="tf32", TMA=tma,
            num_warps=config["num_warps"], num_stages=config["num_stages"],
        )  # fmt: skip
        return O

    return call


def refuses(problem) -> str | None:
    if problem["scale"] is not None and problem["scale"] <= 0:
        return "this Triton program takes a positive scale only"
    return None


TRITON = TritonBaseline(configs, program, refuses)
