"""Tensor-core instructions of SASS by shape, and how many of them a block executes: a static count says nothing of loops."""

import re
from collections import Counter
from dataclasses import dataclass

from tileviz.lens.listing import Listing


@dataclass(frozen=True)
class TensorCoreUse:
    opcode: str
    """`HGMMA.64x128x16.F32`, `HMMA.16816.F32`"""
    static_count: int
    """How often it is written."""
    flops: int
    """Of one instruction: 2 m n k. A warp executes HMMA, IMMA and QMMA together, a warp group HGMMA, QGMMA and IGMMA."""

    def executed_per_block(self, block_flops: float) -> float:
        """How many a block executes, when this one does all of its `block_flops`: an estimate from arithmetic, not a reading."""
        return block_flops / self.flops


# HGMMA.64x128x16.F32
_GROUP_SHAPE = re.compile(r"\b([HIQ]GMMA)((?:\.\w+)*?\.(\d+)x(\d+)x(\d+)(?:\.\w+)*)")
# HMMA.16816.F32: m 16, n 8, k 16     IMMA.8816.S8.S8: m 8, n 8, k 16
_WARP_SHAPE = re.compile(r"\b([HIQDO]MMA)((?:\.SP)?\.(16|8)8(\d{1,2})(?:\.\w+)*)")


def tensor_core_uses(sass: str) -> tuple[TensorCoreUse, ...]:
    """Every tensor-core opcode whose name tells its shape, the most frequent first. tcgen05 (UTCHMMA) names none and is left out."""
    found = Counter((m[1] + m[2], 2 * int(m[3]) * int(m[4]) * int(m[5])) for m in _GROUP_SHAPE.finditer(sass))
    found.update((m[1] + m[2], 2 * int(m[3]) * 8 * int(m[4])) for m in _WARP_SHAPE.finditer(sass) if ".STEP" not in m[2])
    return tuple(TensorCoreUse(opcode, count, flops) for (opcode, flops), count in found.most_common())


@dataclass(frozen=True)
class ExecutedEstimate:
    use: TensorCoreUse
    per_block: float
    """How many a block executes: an estimate, from the FLOPs of the problem and how often each opcode is written."""


def executed_estimates(sass: str, block_flops: float) -> tuple[ExecutedEstimate, ...]:
    """The executed count of each tensor-core opcode, the FLOPs of a block shared out as the opcodes are written."""
    uses = tensor_core_uses(sass)
    written = sum(use.static_count * use.flops for use in uses)
    return tuple(ExecutedEstimate(use, use.executed_per_block(block_flops * use.static_count * use.flops / written)) for use in uses)


def opcodes(read: Listing, *classes: str) -> dict[str, int]:
    """How often each spelling of an instruction of these classes is written: {"HGMMA.64x128x16.F32": 8}, the most frequent first."""
    found = Counter(line.text[hit.start : hit.end] for line in read.lines for hit in line.hits if hit.cls in classes)
    return dict(found.most_common())
