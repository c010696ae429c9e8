"""Model bytes of a chain of kernels, level by level: DRAM, L2, shared memory, registers. What fusing saves, by formula, without a profiler.

A model, not a measurement: every input of a launch is read once from DRAM and every output written once; L2 serves each block its tiles;
shared memory takes a tile in once and gives it out once; registers hold float32. Nsight Compute says what was really moved (`ncu`).
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from tileviz.errors import UnknownName

LEVELS = ("dram", "l2", "shared", "registers")
TITLES = {"dram": "DRAM", "l2": "L2", "shared": "shared memory", "registers": "registers"}

SIZES = {"float16": 2, "bfloat16": 2, "float32": 4}
ACCUMULATOR = 4
"""Bytes of a float32 in a register."""


@dataclass(frozen=True)
class Moved:
    """Bytes through one level."""

    bytes: float
    formula: str


@dataclass(frozen=True)
class Step:
    """One launch, or one pass inside of one."""

    name: str
    moved: dict[str, Moved] = field(default_factory=dict)
    """By level; a level that the step does not use is left out."""


@dataclass(frozen=True)
class Chain:
    """What computes the whole output, step by step."""

    name: str
    title: str
    steps: tuple[Step, ...]
    note: str = ""

    def total(self, level: str) -> float:
        """Bytes of all steps through one of LEVELS."""
        return sum(step.moved[level].bytes for step in self.steps if level in step.moved)


def chains(kernel: str, problem: dict[str, Any], config: dict[str, Any], l2_bytes: int | None = None, sm_count: int | None = None):
    """The chains of a kernel, from the least fused to ours. `l2_bytes` and `sm_count` tell whether a second read finds its row in L2.

    Raises UnknownName for a kernel without a model.
    """
    if kernel not in MODELS:
        raise UnknownName.of("traffic model", kernel, MODELS)
    return MODELS[kernel](problem, config, l2_bytes, sm_count)


def ours(kernel: str, problem: dict[str, Any], config: dict[str, Any]) -> str:
    """Name of the chain that our own program is: softmax holds a row that one tile covers, and reads a longer one twice."""
    if kernel == "softmax":
        twice = config["variant"] == "online" if "variant" in config else problem["N"] > config["block_N"]
        return "two_pass" if twice else "one_pass"
    return "fused"


def gemm_chains(problem, config, l2_bytes=None, sm_count=None) -> tuple[Chain, ...]:
    """Product, bias and activation as three launches, as PyTorch's two (the bias joins the product), and as one."""
    product = product_step(problem, config)
    parts = epilogue_parts(problem["epilogue"])
    if not parts:
        return (Chain("fused", "one launch", (product,), "nothing to fuse"),)
    apart = (product, *(elementwise_step(problem, part, reads_bias=part == "bias") for part in parts))
    fused = (_with_bias(problem, config, product), *(register_step(problem, part) for part in parts))
    out = [Chain("unfused", "a launch for each step", apart)]
    if len(parts) > 1:
        joined = (_with_bias(problem, config, product), register_step(problem, "bias"), elementwise_step(problem, parts[1]))
        out.append(Chain("half_fused", "product with bias, then the activation", joined, "what PyTorch's addmm and activation do"))
    return (*out, Chain("fused", "one launch", fused))


def product_step(problem, config) -> Step:
    """A tiled matrix product."""
    M, N, K, size = problem["M"], problem["N"], problem["K"], SIZES[problem["dtype"]]
    rows, cols, depth = (min(config[f"block_{axis}"], problem[axis]) for axis in ("M", "N", "K"))
    blocks = _cdiv(M, rows) * _cdiv(N, cols)
    tiles = blocks * (rows + cols) * K * size
    return Step(
        "product",
        {
            "dram": Moved((M * K + K * N + M * N) * size, "(M K + K N + M N) size"),
            "l2": Moved(tiles + M * N * size, "blocks (block_M + block_N) K size + M N size"),
            "shared": Moved(2 * tiles, "2 blocks (block_M + block_N) K size"),
            "registers": Moved(2 * M * N * ACCUMULATOR * _cdiv(K, depth), "2 M N 4 (K / block_K): the accumulator, once a step"),
        },
    )


def elementwise_step(problem, name: str, reads_bias: bool = False) -> Step:
    """A launch of its own over C: read once, written once."""
    M, N, size = problem["M"], problem["N"], SIZES[problem["dtype"]]
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


def softmax_chains(problem, config, l2_bytes=None, sm_count=None) -> tuple[Chain, ...]:
    """Four launches (maximum, exponentials, sum, quotients); one launch of three passes, of two (online), of one (row in registers)."""
    M, N, size = problem["M"], problem["N"], SIZES[problem["dtype"]]
    one = M * N * size
    apart = (
        Step("maximum of each row", _through(one, "M N size")),
        Step("exponentials", _through(2 * one, "2 M N size")),
        Step("sum of each row", _through(one, "M N size")),
        Step("quotients", _through(2 * one, "2 M N size")),
    )
    stays = _row_stays(problem, l2_bytes, sm_count)
    note = _row_note(stays)
    return (
        Chain("unfused", "four launches", apart, "results of a launch, a number a row, are not counted"),
        Chain("three_pass", "one launch, three passes", _passes(("maximum", "sum"), one, bool(stays)), note),
        Chain("two_pass", "one launch, two passes (online)", _passes(("maximum and sum",), one, bool(stays)), note),
        Chain(
            "one_pass", "one launch, one pass", (Step("row in registers", _through(2 * one, "2 M N size")),), "rows that fit in registers"
        ),
    )


def _passes(reads: tuple[str, ...], one: float, stays: bool) -> tuple[Step, ...]:
    """Passes that read only, then one that reads and writes. With rows that stay in L2, only the first read comes from DRAM."""
    steps = []
    for number, name in enumerate(reads):
        moved = _through(one, "M N size")
        steps.append(Step(name, moved if number == 0 or not stays else _without_dram(moved)))
    last = _through(2 * one, "2 M N size")
    if stays:
        last = {**last, "dram": Moved(one, "M N size: written; the row is still in L2")}
    return (*steps, Step("quotients", last))


def _row_stays(problem, l2_bytes: int | None, sm_count: int | None) -> bool | None:
    """True when the rows in flight, one a multiprocessor at the least, fit into L2; None when the device is not known."""
    if not l2_bytes or not sm_count:
        return None
    return 2 * problem["N"] * SIZES[problem["dtype"]] * sm_count <= l2_bytes


def _row_note(stays: bool | None) -> str:
    if stays is None:
        return "every pass reads DRAM; on a GPU whose L2 holds the rows in flight only the first does"
    return "the rows in flight fit into L2, so later passes read from there" if stays else "the rows in flight do not fit into L2"


def _with_bias(problem, config, product: Step) -> Step:
    N, size = problem["N"], SIZES[problem["dtype"]]
    rows = _cdiv(problem["M"], min(config["block_M"], problem["M"]))
    dram, l2 = product.moved["dram"], product.moved["l2"]
    added = {
        "dram": Moved(dram.bytes + N * size, f"{dram.formula} + N size"),
        "l2": Moved(l2.bytes + rows * N * size, f"{l2.formula} + (M / block_M) N size"),
    }
    return Step(product.name, {**product.moved, **added})


def _through(count: float, formula: str) -> dict[str, Moved]:
    """Bytes that pass DRAM and L2 and lie in registers as float32 in between."""
    return {"dram": Moved(count, formula), "l2": Moved(count, formula), "registers": Moved(count, f"{formula}, as loaded and stored")}


def _without_dram(moved: dict[str, Moved]) -> dict[str, Moved]:
    return {level: value for level, value in moved.items() if level != "dram"}


def _cdiv(a: int, b: int) -> int:
    return -(-a // b)


MODELS: dict[str, Callable[..., tuple[Chain, ...]]] = {"gemm_bias_gelu": gemm_chains, "softmax": softmax_chains}
"""By kernel name."""
