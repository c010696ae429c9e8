"""GEMM for few tiles: the blocks of a cluster share the depth of one tile, and then add up their sums through each other's shared memory.

Where C has fewer tiles than the device has SMs (decode shapes, small squares), this gives every SM a part of the work. Each block sums over
its share of K, sends every other block the rows that are its to finish, and finishes its own: no workspace, no atomics, and the sums are
added in one order, so results repeat. For Hopper (clusters, wgmma, TMA). On an H200 it has not paid so far: 33.7 us against 32.8 of plain
at 64 x 8192 x 8192, and more elsewhere, as its tiles have 64 rows at least.
"""

from typing import Any

from tileviz.kernels.gemm import pipeline
from tileviz.kernels.toolkit.base import T

WARP_GROUP = pipeline.WARP_GROUP


def block(s, activation: Any = None):
    """A macro (A, B, bias, C) for one block of a cluster; `bias` may be None, `activation` maps a float32 sum with its bias."""
    load, (multiply, finish) = pipeline.loader(s), pipeline.multiplier(s)
    parts, readers = s.cluster, s.threads // WARP_GROUP
    rows, steps = s.block_M // parts, -(-s.steps // parts)

    @T.macro
    def split_k(A, B, bias, C):
        with T.Kernel(s.across * parts, T.ceildiv(s.M, s.block_M), threads=s.threads + WARP_GROUP, cluster_dims=(parts, 1, 1)) as (bx, by):
            A_shared, B_shared = s.buffers()
            outbox = T.alloc_shared((s.block_M, s.block_N), "float32")
            inbox = T.alloc_shared((parts, rows, s.block_N), "float32")
            acc = T.alloc_fragment((s.block_M, s.block_N), "float32")
            out = T.alloc_fragment((rows, s.block_N), "float32")
            full = T.alloc_barrier([WARP_GROUP] * s.num_stages)
            empty = T.alloc_barrier([readers] * s.num_stages)
            arrived = T.alloc_cluster_barrier([parts])
            thread = T.get_thread_binding()
            part, row, column = bx % parts, by * s.block_M, bx // parts * s.block_N
            if thread < s.threads:
                multiply(A_shared, B_shared, acc, full, empty, 0, steps, thread)
                finish(empty, steps - 1, thread)
                T.copy(acc, outbox)
                for to in T.unroll(parts):
                    T.copy_cluster(outbox[to * rows : (to + 1) * rows, :], inbox[part, :, :], dst_block=to, remote_barrier=arrived[0])
                T.mbarrier_wait_parity(arrived[0], 0)
                T.clear(out)
                for sender in T.unroll(parts):
                    for i, j in T.Parallel(rows, s.block_N):
                        out[i, j] = out[i, j] + inbox[sender, i, j]
                if bias is not None:
                    for i, j in T.Parallel(rows, s.block_N):
                        out[i, j] = activation(out[i, j] + T.cast(bias[column + j], "float32"))
                T.copy(out, C[row + part * rows, column])
            else:
                load(A, B, A_shared, B_shared, full, empty, 0, steps, row, column, part * steps * s.block_K)
            T.cluster_sync()  # a block must not leave while what it sent is still read

    return split_k
