"""Bytes that a matrix product with an epilogue moves: as launches apart, as PyTorch's two, and as our one."""

from tileviz.kernels.toolkit.rules import DTYPE_BYTES, ceildiv
from tileviz.kernels.toolkit.traffic import ACCUMULATOR
from tileviz.records import Chain, Moved, Step


def chains(problem, config, l2_bytes=None, sm_count=None) -> tuple[Chain, ...]:
    """Product, bias and activation as three launches, as PyTorch's two (the bias joins the product), and as one."""
    product = product_step(problem, config)
    parts = epilogue_parts(problem["epilogue"])
    if not parts:
        return (Chain("fused", "one launch", (product,), "nothing to fuse", ours=True),)
    apart = (product, *(elementwise_step(problem, part, reads_bias=part == "bias") for part in parts))
    fused = (_with_bias(problem, config, product), *(register_step(problem, part) for part in parts))
    out = [Chain("unfused", "a launch for each step", apart)]
    if len(parts) > 1:
        joined = (_with_bias(problem, config, product), register_step(problem, "bias"), elementwise_step(problem, parts[1]))
        out.append(Chain("half_fused", "product with bias, then the activation", joined, "what PyTorch's addmm and activation do"))
    return (*out, Chain("fused", "one launch", fused, ours=True))


def product_step(problem, config) -> Step:
    """A tiled matrix product."""
    M, N, K, size = problem["M"], problem["N"], problem["K"], DTYPE_BYTES[problem["dtype"]]
    rows, cols, depth = (min(config[f"block_{axis}"], problem[axis]) for axis in ("M", "N", "K"))
    blocks = ceildiv(M, rows) * ceildiv(N, cols)
    tiles = blocks * (rows + cols) * K * size
    return Step(
        "product",
        {
            "dram": Moved((M * K + K * N + M * N) * size, "(M K + K N + M N) size"),
            "l2": Moved(tiles + M * N * size, "blocks (block_M + block_N) K size + M N size"),
            "shared": Moved(2 * tiles, "2 blocks (block_M + block_N) K size"),
            "registers": Moved(2 * M * N * ACCUMULATOR * ceildiv(K, depth), "2 M N 4 (K / block_K): the accumulator, once a step"),
        },
    )


def elementwise_step(problem, name: str, reads_bias: bool = False) -> Step:
    """A launch of its own over C: read once, written once."""
    M, N, size = problem["M"], problem["N"], DTYPE_BYTES[problem["dtype"]]
    through = Moved(2 * M * N * size + (N * size if reads_bias else 0), "2 M N size" + (" + N size" if reads_bias else ""))
    return Step(name, {"dram": through, "l2": through, "registers": register_step(problem, name).moved["registers"]})


def register_step(problem, name: str) -> Step:
    """The same on the accumulator, before it is stored: read and written in registers alone."""
    return Step(name, {"registers": Moved(2 * problem["M"] * problem["N"] * ACCUMULATOR, "2 M N 4")})


def epilogue_parts(epilogue: str) -> tuple[str, ...]:
    """`bias_gelu_tanh` is bias, then gelu_tanh; `none` is nothing."""
    if epilogue == "none":
        return ()
    bias, _, activation = epilogue.partition("_")
    return (bias, activation) if activation else (bias,)


def _with_bias(problem, config, product: Step) -> Step:
    N, size = problem["N"], DTYPE_BYTES[problem["dtype"]]
    rows = ceildiv(problem["M"], min(config["block_M"], problem["M"]))
    dram, l2 = product.moved["dram"], product.moved["l2"]
    added = {
        "dram": Moved(dram.bytes + N * size, f"{dram.formula} + N size"),
        "l2": Moved(l2.bytes + rows * N * size, f"{l2.formula} + (M / block_M) N size"),
    }
    return Step(product.name, {**product.moved, **added})
