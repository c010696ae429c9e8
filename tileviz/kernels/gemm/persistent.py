"""GEMM that stays on its SM: one block for each SM takes tile after tile, and one of its warp groups only loads.

The loads of the next tile run while the last one is still multiplied and stored. TileLang's own split into producer and consumers serves
one tile a block, so warps are told apart by hand here. For Hopper (wgmma, TMA).
"""

from tileviz.kernels.gemm import pipeline
from tileviz.kernels.gemm import turns as gemm_turns
from tileviz.kernels.toolkit.base import T

WARP_GROUP = pipeline.WARP_GROUP

REGISTERS = {1: None, 2: 240, 3: 160}
"""Registers a thread of the warp groups that multiply, by their number; the one that loads keeps 24."""


def block(s, activation=None):
    """A macro (A, B, bias, C) for one block of the grid; `bias` may be None, `activation` maps a float32 sum with its bias."""
    turns = gemm_turns.of(s)
    load_turns = gemm_turns.loader(s, turns)
    (multiply, finish), (store, leave) = pipeline.multiplier(s, s.cluster), pipeline.storer(s)
    readers = s.threads // WARP_GROUP
    registers = REGISTERS[readers]

    @T.macro
    def persistent(A, B, bias, C):
        with T.Kernel(turns.blocks, threads=s.threads + WARP_GROUP, cluster_dims=(s.cluster, 1, 1)) as block:
            A_shared, B_shared = s.buffers()
            C_shared = T.alloc_shared(gemm_turns.tile_of_C(s), s.dtype)
            acc = T.alloc_fragment((s.block_M, s.block_N), "float32")
            full, empty = gemm_turns.barriers(s, readers)
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
                load_turns(A, B, A_shared, B_shared, full, empty, block)
            if s.cluster > 1:
                T.cluster_sync()  # a block must not leave while the other still gives buffers back to it

    return persistent
