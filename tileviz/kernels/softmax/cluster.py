"""Softmax of rows that a cluster of blocks shares: each keeps a part of the row in registers, and sees the others' sums in shared memory.

Needs a Hopper GPU or newer: blocks of a cluster run at the same time and write into each other's shared memory.
"""

from tileviz.kernels.softmax.parts import cluster_rows, finite, power, scaled, shares, weight
from tileviz.kernels.toolkit import rules
from tileviz.kernels.toolkit.base import T


def of_cluster(M, N, dtype, threads, hold, blocks_per_sm, cluster):
    warps, lanes, vector = shares(N, dtype, threads)
    width = lanes * vector
    steps = rules.ceildiv(N, cluster * warps * width)
    held = dtype if hold == "input" else "float32"

    @T.prim_func
    def softmax(
        X: T.Tensor((M, N), dtype),
        Y: T.Tensor((M, N), dtype),
    ):
        with T.Kernel(M * cluster, threads=threads, cluster_dims=cluster) as block:
            row, part = block // cluster, block % cluster
            x = T.alloc_fragment((warps, steps, width), held)
            best = T.alloc_fragment((warps, width), held)
            sums = T.alloc_fragment((warps, width), "float32")
            top = T.alloc_fragment((warps,), held)
            highest = T.alloc_fragment((warps,), "float32")
            base = T.alloc_fragment((warps,), "float32")
            total = T.alloc_fragment((warps,), "float32")
            mine = T.alloc_shared((cluster_rows(warps), warps), "float32")
            of_all = T.alloc_shared((cluster, cluster_rows(warps), warps), "float32")
            every_highest = T.alloc_fragment((warps,), "float32")
            every_total = T.alloc_fragment((warps,), "float32")
            row_highest = T.alloc_fragment((1,), "float32")
            row_total = T.alloc_fragment((1,), "float32")
            scale = T.alloc_fragment((warps,), "float32")
            T.annotate_layout({x: T.Fragment(x.shape, lambda w, s, c: (w * lanes + c // vector, s * vector + c % vector))})
            T.annotate_min_blocks_per_sm(blocks_per_sm)

            T.cluster_arrive_relaxed()
            for w, s, c in T.Parallel(warps, steps, width):
                if ((part * steps + s) * warps + w) * width + c < N:
                    x[w, s, c] = X[row, ((part * steps + s) * warps + w) * width + c]
                else:
                    x[w, s, c] = -T.infinity(held)
            T.fill(best, -T.infinity(held))
            for s in T.unroll(steps):
                for w, c in T.Parallel(warps, width):
                    best[w, c] = T.max(best[w, c], x[w, s, c])
            T.reduce_max(best, top, dim=1)
            for w in T.Parallel(warps):
                highest[w] = scaled(top[w], dtype)
                base[w] = finite(highest[w])
            T.clear(sums)
            for s in T.unroll(steps):
                for w, c in T.Parallel(warps, width):
                    if held == "float32":
                        x[w, s, c] = power(scaled(x[w, s, c], dtype) - base[w], dtype)
                        sums[w, c] += x[w, s, c]
                    else:
                        sums[w, c] += power(scaled(x[w, s, c], dtype) - base[w], dtype)
            T.reduce_sum(sums, total, dim=1)

            T.copy(highest, mine[0, :])
            T.copy(total, mine[1, :])
            T.sync_threads()
            T.cluster_wait()
            for other in T.unroll(cluster):
                T.copy_cluster(mine, of_all[part, :, :], dst_block=other)
            T.cluster_sync()
            T.fill(every_highest, -T.infinity("float32"))
            for other in T.unroll(cluster):
                for w in T.Parallel(warps):
                    every_highest[w] = T.max(every_highest[w], of_all[other, 0, w])
            T.reduce_max(every_highest, row_highest, dim=0)
            T.clear(every_total)
            for other in T.unroll(cluster):
                for w in T.Parallel(warps):
                    every_total[w] += of_all[other, 1, w] * weight(of_all[other, 0, w], row_highest[0], dtype)
            T.reduce_sum(every_total, row_total, dim=0)
            for w in T.Parallel(warps):
                scale[w] = (weight(highest[w], row_highest[0], dtype) if held == "float32" else 1) / row_total[0]
            for w, s, c in T.Parallel(warps, steps, width):
                if ((part * steps + s) * warps + w) * width + c < N:
                    if held == "float32":
                        Y[row, ((part * steps + s) * warps + w) * width + c] = x[w, s, c] * scale[w]
                    else:
                        Y[row, ((part * steps + s) * warps + w) * width + c] = (
                            power(scaled(x[w, s, c], dtype) - row_highest[0], dtype) * scale[w]
                        )

    return softmax
