"""The two halves of a hand-made GEMM pipeline on Hopper: warps that load tiles by TMA, and warps that multiply them by wgmma.

They meet at barriers, two for each buffer: `full` says that a tile has come, `empty` that it was read. Steps are counted over all tiles
that a block takes, so the ring of buffers runs on from one tile to the next: step n uses buffer n % num_stages, in round n // num_stages.
A barrier ends a phase in each round, and phases count 0, 1, 0, 1; before the first round `empty` counts as ended.
"""

from dataclasses import dataclass

from tileviz.kernels.toolkit.base import T

WARP_GROUP = 128
"""Threads that issue a wgmma together."""


@dataclass(frozen=True)
class Schedule:
    """A problem and the knobs of its hand-made programs."""

    M: int
    N: int
    K: int
    dtype: str
    layout: str
    block_M: int
    block_N: int
    block_K: int
    num_stages: int
    threads: int
    """Those that multiply; a warp group that loads comes on top."""
    panel_size: int
    policy: str
    store: str
    cluster: int
    blocks: int

    @property
    def transpose_B(self) -> bool:
        return self.layout == "NT"

    @property
    def steps(self) -> int:
        """Tiles along the depth."""
        return -(-self.K // self.block_K)

    @property
    def across(self) -> int:
        """Tiles along N."""
        return -(-self.N // self.block_N)

    def buffers(self):
        """(A, B): a ring of tiles each."""
        B_tile = (self.block_N, self.block_K) if self.transpose_B else (self.block_K, self.block_N)
        A_shared = T.alloc_shared((self.num_stages, self.block_M, self.block_K), self.dtype)
        return A_shared, T.alloc_shared((self.num_stages, *B_tile), self.dtype)


def loader(s: Schedule, ranks: int | None = None):
    """A macro that loads all tiles of A and B behind one tile of C, from depth `begin` on.

    `ranks` is a mask of the blocks of the cluster that take the same columns of B: the first of them loads for all.
    """

    @T.macro
    def load(A, B, A_shared, B_shared, full, empty, first, steps, row, column, begin):
        for k in T.serial(steps):
            stage = (first + k) % s.num_stages
            depth = begin + k * s.block_K
            T.mbarrier_wait_parity(empty[stage], (first + k) // s.num_stages % 2 ^ 1)
            T.tma_copy(A[row : row + s.block_M, depth : depth + s.block_K], A_shared[stage, :, :], barrier=full[stage])
            if s.transpose_B:
                columns = B[column : column + s.block_N, depth : depth + s.block_K]
                T.tma_copy(columns, B_shared[stage, :, :], barrier=full[stage], cluster_mask=ranks)
            else:
                columns = B[depth : depth + s.block_K, column : column + s.block_N]
                T.tma_copy(columns, B_shared[stage, :, :], barrier=full[stage], cluster_mask=ranks)
            T.mbarrier_arrive(full[stage])

    return load


def multiplier(s: Schedule, sharing: int = 1):
    """Two macros: one multiplies all steps of a tile of C, one waits for the last of them.

    One product is always in flight: a buffer is given back when the product after the one that read it has begun.

    `sharing` blocks of the cluster wait for a buffer to be empty, as one load may fill those of all of them.
    """
    warp_policy = getattr(T.GemmWarpPolicy, s.policy)

    @T.macro
    def give_back(empty, stage, thread):
        if sharing > 1:
            if thread % WARP_GROUP < sharing:
                T.mbarrier_arrive(empty[stage], thread % WARP_GROUP)
        elif thread % WARP_GROUP == 0:
            T.mbarrier_arrive(empty[stage])

    @T.macro
    def multiply(A_shared, B_shared, acc, full, empty, first, steps, thread):
        for k in T.serial(steps):
            stage = (first + k) % s.num_stages
            T.mbarrier_wait_parity(full[stage], (first + k) // s.num_stages % 2)
            T.wgmma_gemm(
                A_shared[stage, :, :], B_shared[stage, :, :], acc,
                transpose_B=s.transpose_B, policy=warp_policy, clear_accum=k == 0,
            )  # fmt: skip
            T.wait_wgmma(1)
            if k > 0:
                give_back(empty, (first + k - 1) % s.num_stages, thread)

    @T.macro
    def finish(empty, last, thread):
        T.wait_wgmma(0)
        give_back(empty, last % s.num_stages, thread)

    return multiply, finish


def storer(s: Schedule):
    """Two macros: one carries a tile of C out, one waits until all has left.

    Each sum gets its bias and activation, and goes through shared memory by TMA, the whole tile or a half at a time. The copy out runs on
    while the next tile is multiplied; C_shared is written again when it has been read.
    """
    parts = 2 if s.store == "halves" else 1
    columns = s.block_N // parts

    @T.macro
    def store(acc, C_shared, bias, activation, C, row, column):
        if bias is not None:
            for i, j in T.Parallel(s.block_M, s.block_N):
                acc[i, j] = activation(acc[i, j] + T.cast(bias[column + j], "float32"))
        for part in T.unroll(parts):
            left = column + part * columns
            T.tma_store_wait(0)
            if parts == 1:
                T.copy(acc, C_shared)
            else:
                T.copy(acc[:, part * columns : (part + 1) * columns], C_shared)
            T.tma_copy(C_shared, C[row : row + s.block_M, left : left + columns])

    @T.macro
    def leave():
        T.tma_store_wait(0)

    return store, leave
