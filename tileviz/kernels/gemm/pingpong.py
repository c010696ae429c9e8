"""GEMM in which two warp groups take turns: one multiplies its tile while the other finishes and stores the tile before.

So the tensor cores do not wait for bias, activation and stores: this pays where K is short or the activation long. A tile belongs to one
warp group, so it is half as large as those of the persistent program. A third warp group loads for both. For Hopper (wgmma, TMA).
"""

from tileviz.kernels.gemm import pipeline
from tileviz.kernels.gemm import turns as gemm_turns
from tileviz.kernels.toolkit.base import T

WARP_GROUP = pipeline.WARP_GROUP


def block(s, activation=None):
    """A macro (A, B, bias, C) for one block of the grid; `bias` may be None, `activation` maps a float32 sum with its bias."""
    turns = gemm_turns.of(s)
    load_turns = gemm_turns.loader(s, turns)
    (multiply, finish), (store, leave) = pipeline.multiplier(s, s.cluster), pipeline.storer(s)
    C_tile = gemm_turns.tile_of_C(s)

    @T.macro
    def every_other(first, A_shared, B_shared, C_shared, acc, full, empty, may_multiply, bias, C, block, thread):
        T.set_max_nreg(240, 1)
        for pair in T.serial(T.ceildiv(turns.count(block) - first, 2)):
            turn = pair * 2 + first
            row, column = turns.place(block, turn)
            # a phase is told apart from the one before only: nobody may wait for loads that are further away
            T.mbarrier_wait_parity(may_multiply[first], (pair + 1 - first) % 2)
            multiply(A_shared, B_shared, acc, full, empty, turn * s.steps, s.steps, thread)
            T.mbarrier_arrive(may_multiply[1 - first])
            finish(empty, turn * s.steps + s.steps - 1, thread)
            store(acc, C_shared, bias, activation, C, row, column)
        leave()

    @T.macro
    def pingpong(A, B, bias, C):
        with T.Kernel(turns.blocks, threads=s.threads + WARP_GROUP, cluster_dims=(s.cluster, 1, 1)) as block:
            A_shared, B_shared = s.buffers()
            C_first, C_second = T.alloc_shared(C_tile, s.dtype), T.alloc_shared(C_tile, s.dtype)
            acc_first = T.alloc_fragment((s.block_M, s.block_N), "float32")
            acc_second = T.alloc_fragment((s.block_M, s.block_N), "float32")
            full, empty = gemm_turns.barriers(s, 1)
            may_multiply = T.alloc_barrier([WARP_GROUP, WARP_GROUP])
            thread = T.get_thread_binding()
            if thread < WARP_GROUP:
                every_other(0, A_shared, B_shared, C_first, acc_first, full, empty, may_multiply, bias, C, block, thread)
            elif thread < 2 * WARP_GROUP:
                if turns.count(block) > 1:
                    every_other(1, A_shared, B_shared, C_second, acc_second, full, empty, may_multiply, bias, C, block, thread)
            else:
                T.set_max_nreg(24, 0)
                load_turns(A, B, A_shared, B_shared, full, empty, block)
            if s.cluster > 1:
                T.cluster_sync()  # a block must not leave while the other still gives buffers back to it

    return pingpong
