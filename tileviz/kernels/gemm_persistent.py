"""GEMM that stays on its SM: one block for each SM takes tile after tile, and one of its warp groups only loads.

The loads of the next tile run while the last one is still multiplied and stored. TileLang's own split into producer and consumers serves
one tile a block, so warps are told apart by hand here. For Hopper (wgmma, TMA).
"""

from dataclasses import dataclass

from tileviz.kernels import gemm_pipeline
from tileviz.kernels.base import T

WARP_GROUP = gemm_pipeline.WARP_GROUP

REGISTERS = {1: None, 2: 240, 3: 160}
"""Registers a thread of the warp groups that multiply, by their number; the one that loads keeps 24."""


@dataclass(frozen=True)
class Turns:
    """Which tiles a block takes, one after the other. A cluster takes tiles below one another: they need the same columns of B."""

    block_M: int
    block_N: int
    across: int
    down: int
    """Rows of tiles, or of clusters of them."""
    cluster: int
    blocks: int
    """Those that have a tile; TileLang 0.1.15 takes a loop of at most one round for one that is always taken."""
    panel_size: int

    def count(self, block):
        """How many tiles this block takes: one at least, so that no loop over them is empty."""
        return T.ceildiv(self.across * self.down - block // self.cluster, self.blocks // self.cluster)

    def place(self, block, turn):
        """First row and column of one of them: in panels of rows, so that blocks that run together read few columns of B."""
        tile = turn * (self.blocks // self.cluster) + block // self.cluster
        panel = tile // (self.panel_size * self.across)
        rows = self.panel_size
        if self.down % self.panel_size:
            rows = T.min(self.panel_size, self.down - panel * self.panel_size)
        inside = tile % (self.panel_size * self.across)
        down = (panel * self.panel_size + inside % rows) * self.cluster + block % self.cluster
        return down * self.block_M, inside // rows * self.block_N


def turns_of(s) -> Turns:
    """The turns of a gemm_pipeline.Schedule."""
    down = -(-s.M // (s.block_M * s.cluster))
    blocks = min(s.blocks, s.across * down * s.cluster)
    return Turns(s.block_M, s.block_N, s.across, down, s.cluster, blocks, s.panel_size)


def block(s, activation=None):
    """A macro (A, B, bias, C) for one block of the grid; `bias` may be None, `activation` maps a float32 sum with its bias."""
    turns = turns_of(s)
    load = gemm_pipeline.loader(s, (1 << s.cluster) - 1 if s.cluster > 1 else None)
    (multiply, finish), (store, leave) = gemm_pipeline.multiplier(s, s.cluster), gemm_pipeline.storer(s)
    readers = s.threads // WARP_GROUP
    registers = REGISTERS[readers]
    alloc_empty = T.alloc_cluster_barrier if s.cluster > 1 else T.alloc_barrier

    @T.macro
    def persistent(A, B, bias, C):
        with T.Kernel(turns.blocks, threads=s.threads + WARP_GROUP, cluster_dims=(s.cluster, 1, 1)) as block:
            A_shared, B_shared = s.buffers()
            C_shared = T.alloc_shared((s.block_M, s.block_N // 2 if s.store == "halves" else s.block_N), s.dtype)
            acc = T.alloc_fragment((s.block_M, s.block_N), "float32")
            full = T.alloc_barrier([WARP_GROUP] * s.num_stages)
            empty = alloc_empty([readers * s.cluster] * s.num_stages)
            thread = T.get_thread_binding()
            if thread < s.threads:
                if registers is not None:
                    T.set_max_nreg(registers, 1)
                for turn in T.serial(turns.count(block)):
                    row, column = turns.place(block, turn)
                    multiply(A_shared, B_shared, acc, full, empty, turn * s.steps, s.steps, thread)
                    finish(empty, turn * s.steps + s.steps - 1, thread)
                    store(acc, C_shared, bias, activation, C, row, column)
                leave()
            else:
                if registers is not None:
                    T.set_max_nreg(24, 0)
                for turn in T.serial(turns.count(block)):
                    row, column = turns.place(block, turn)
                    load(A, B, A_shared, B_shared, full, empty, turn * s.steps, s.steps, row, column, 0)
            if s.cluster > 1:
                T.cluster_sync()  # a block must not leave while the other still gives buffers back to it

    return persistent
