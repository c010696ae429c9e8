"""What models of traffic are written with: bytes level by level, by formula, without a profiler.

Every input of a launch is read once from DRAM and every output written once; L2 serves each block its tiles; shared memory takes a tile in
once and gives it out once; registers hold float32. Nsight Compute says what was really moved (`bench.ncu`).
"""

from tileviz.records import Moved

ACCUMULATOR = 4
"""Bytes of a float32 in a register."""


def through(count: float, formula: str) -> dict[str, Moved]:
    """Bytes that pass DRAM and L2 and lie in registers as float32 in between."""
    return {"dram": Moved(count, formula), "l2": Moved(count, formula), "registers": Moved(count, f"{formula}, as loaded and stored")}


def without_dram(moved: dict[str, Moved]) -> dict[str, Moved]:
    return {level: value for level, value in moved.items() if level != "dram"}
