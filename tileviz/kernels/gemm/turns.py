"""What the GEMMs share whose blocks take tile after tile: which tiles those are, the warp group that loads them, the barriers of the ring.

For Hopper (TMA). What the warp groups do that multiply is what the programs differ in.
"""

from dataclasses import dataclass

from tileviz.kernels.gemm import pipeline
from tileviz.kernels.toolkit.base import T

WARP_GROUP = pipeline.WARP_GROUP


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


def of(s) -> Turns:
    """The turns of a pipeline.Schedule."""
    down = -(-s.M // (s.block_M * s.cluster))
    blocks = min(s.blocks, s.across * down * s.cluster)
    return Turns(s.block_M, s.block_N, s.across, down, s.cluster, blocks, s.panel_size)


def loader(s, turns: Turns):
    """A macro that loads the tiles of all turns of a block; a cluster gets columns of B by one load."""
    load = pipeline.loader(s, (1 << s.cluster) - 1 if s.cluster > 1 else None)

    @T.macro
    def load_turns(A, B, A_shared, B_shared, full, empty, block):
        for turn in T.serial(turns.count(block)):
            row, column = turns.place(block, turn)
            load(A, B, A_shared, B_shared, full, empty, turn * s.steps, s.steps, row, column, 0)

    return load_turns


def barriers(s, readers: int):
    """(full, empty) of the ring of buffers. `readers` warp groups of each block of the cluster read a tile."""
    full = T.alloc_barrier([WARP_GROUP] * s.num_stages)
    alloc_empty = T.alloc_cluster_barrier if s.cluster > 1 else T.alloc_barrier
    return full, alloc_empty([readers * s.cluster] * s.num_stages)


def tile_of_C(s):
    """Shape of C on its way out through shared memory: a tile, or half of one at a time."""
    return s.block_M, s.block_N // 2 if s.store == "halves" else s.block_N
