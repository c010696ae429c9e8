"""Bytes that a softmax of rows moves: as four launches, and as one launch of three passes, two or one."""

from dataclasses import replace

from tileviz.kernels.toolkit.rules import DTYPE_BYTES
from tileviz.kernels.toolkit.traffic import through, without_dram
from tileviz.records import Chain, Moved, Step


def chains(problem, config, l2_bytes=None, sm_count=None) -> tuple[Chain, ...]:
    """Four launches (maximum, exponentials, sum, quotients); one launch of three passes, of two (online), of one (row in registers)."""
    M, N, size = problem["M"], problem["N"], DTYPE_BYTES[problem["dtype"]]
    one = M * N * size
    apart = (
        Step("maximum of each row", through(one, "M N size")),
        Step("exponentials", through(2 * one, "2 M N size")),
        Step("sum of each row", through(one, "M N size")),
        Step("quotients", through(2 * one, "2 M N size")),
    )
    stays = _row_stays(problem, l2_bytes, sm_count)
    note = _row_note(stays)
    every = (
        Chain("unfused", "four launches", apart, "results of a launch, a number a row, are not counted"),
        Chain("three_pass", "one launch, three passes", _passes(("maximum", "sum"), one, bool(stays)), note),
        Chain("two_pass", "one launch, two passes (online)", _passes(("maximum and sum",), one, bool(stays)), note),
        Chain(
            "one_pass", "one launch, one pass", (Step("row in registers", through(2 * one, "2 M N size")),), "rows that fit in registers"
        ),
    )
    own = ours(problem, config)
    return tuple(replace(chain, ours=chain.name == own) for chain in every)


def ours(problem, config) -> str:
    """Name of the chain that the program is: it holds a row that one tile covers, and reads a longer one twice."""
    twice = config["variant"] == "online" if "variant" in config else problem["N"] > config["block_N"]
    return "two_pass" if twice else "one_pass"


def _passes(reads: tuple[str, ...], one: float, stays: bool) -> tuple[Step, ...]:
    """Passes that read only, then one that reads and writes. With rows that stay in L2, only the first read comes from DRAM."""
    steps = []
    for number, name in enumerate(reads):
        moved = through(one, "M N size")
        steps.append(Step(name, moved if number == 0 or not stays else without_dram(moved)))
    last = through(2 * one, "2 M N size")
    if stays:
        last = {**last, "dram": Moved(one, "M N size: written; the row is still in L2")}
    return (*steps, Step("quotients", last))


def _row_stays(problem, l2_bytes: int | None, sm_count: int | None) -> bool | None:
    """True when the rows in flight, one a multiprocessor at the least, fit into L2; None when the device is not known."""
    if not l2_bytes or not sm_count:
        return None
    return 2 * problem["N"] * DTYPE_BYTES[problem["dtype"]] * sm_count <= l2_bytes


def _row_note(stays: bool | None) -> str:
    if stays is None:
        return "every pass reads DRAM; on a GPU whose L2 holds the rows in flight only the first does"
    return "the rows in flight fit into L2, so later passes read from there" if stays else "the rows in flight do not fit into L2"
