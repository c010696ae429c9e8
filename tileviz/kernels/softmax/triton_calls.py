"""What Triton offers instead of our softmax: which configs are tried for a length of row, and the call of each."""

from collections.abc import Callable

from tileviz.kernels.toolkit.rules import ceildiv
from tileviz.kernels.toolkit.triton_baseline import TritonBaseline
from tileviz.records import Config

LONGEST_WHOLE_ROW = 65536


def configs(problem, capability) -> tuple[Config, ...]:
    """Whole rows where one fits into a block's registers, several of them where they are short; steps over longer ones."""
    N, width = problem["N"], 1 << (problem["N"] - 1).bit_length()
    whole = ()
    if width <= LONGEST_WHOLE_ROW:
        several = max(1, 4096 // width)
        pairs = dict.fromkeys([(1, 4), (1, 8), (1, 16), *(((1, 32),) if width >= 16384 else ()), (several, 4), (several, 8)])
        whole = tuple({"rows": rows, "width": width, "num_warps": warps} for rows, warps in pairs)
    steps = tuple({"step": step, "num_warps": warps} for step, warps in ((4096, 8), (8192, 8), (8192, 16)) if N > step)
    return whole + steps


def program(problem, config) -> Callable:
    import torch

    from tileviz.kernels.softmax.triton_programs import softmax_rows, softmax_steps

    M, N = problem["M"], problem["N"]

    def whole(X):
        Y = torch.empty_like(X)
        softmax_rows[(ceildiv(M, config["rows"]),)](X, Y, M, N, ROWS=config["rows"], WIDTH=config["width"], num_warps=config["num_warps"])
        return Y

    def steps(X):
        Y = torch.empty_like(X)
        softmax_steps[(M,)](X, Y, N, BLOCK=config["step"], num_warps=config["num_warps"])
        return Y

    return steps if "step" in config else whole


TRITON = TritonBaseline(configs, program, math_mode=lambda problem: problem["dtype"])
