"""How many blocks of a kernel fit on an SM, and what limits them."""

from dataclasses import dataclass

from tileviz.records import Limits

WARP = 32
REGISTER_UNIT = 256
"""Registers are given to a warp in units of this many (CUDA occupancy rules, compute capability 7.0 and newer)."""
PARTITIONS = 4
"""An SM's registers are split over this many schedulers; a warp lives on one."""
SHARED_UNIT_BYTES = 128


@dataclass(frozen=True)
class Occupancy:
    blocks_per_sm: int
    """0 when not even one block fits: the launch will fail."""
    share: float
    """Resident warps as a share of the most an SM holds, 0 to 1."""
    limiter: str
    """`registers`, `shared memory`, `threads` or `blocks`."""


def occupancy(limits: Limits, *, threads: int, registers: int, shared_bytes: int) -> Occupancy:
    """Occupancy of a kernel that launches `threads` a block with `registers` each and `shared_bytes` (static and dynamic).

    Follows NVIDIA's occupancy rules: registers rounded up to 256 a warp and to a scheduler's share, shared memory to 128 B plus what the
    system reserves of each block. A block over its own limit of threads or shared memory does not fit at all.
    """
    warps = -(-max(threads, 1) // WARP)
    warp_registers = -(-max(registers, 1) * WARP // REGISTER_UNIT) * REGISTER_UNIT
    warps_by_registers = limits.registers_per_sm // PARTITIONS // warp_registers * PARTITIONS
    shared = -(-(shared_bytes + limits.shared_reserved_bytes) // SHARED_UNIT_BYTES) * SHARED_UNIT_BYTES
    fits = {
        "threads": limits.threads_per_sm // (warps * WARP),
        "registers": warps_by_registers // warps,
        "shared memory": limits.shared_per_sm_bytes // shared if shared else limits.blocks_per_sm,
        "blocks": limits.blocks_per_sm,
    }
    if shared_bytes > limits.shared_per_block_bytes:
        fits["shared memory"] = 0
    if threads > limits.threads_per_block:
        fits["threads"] = 0
    limiter = min(fits, key=lambda name: fits[name])
    blocks = fits[limiter]
    return Occupancy(blocks, blocks * warps * WARP / limits.threads_per_sm, limiter)
