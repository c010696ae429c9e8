"""GEMM with tcgen05.mma, the matrix instruction of data-centre Blackwell: the variant `tcgen05` of gemm.

One thread starts a product; operands come straight from shared memory and the sums lie in tensor memory, not in registers. So one warp
copies, one warp multiplies, and when all products are done every warp carries a part of the tile out.
"""

from typing import Any

from tileviz.kernels.toolkit import rules
from tileviz.kernels.toolkit.base import T
from tileviz.records import Estimate, Target

WARP_GROUP = 128
"""Threads that read tensor memory together: each warp of them has a quarter of its 128 rows."""

TENSOR_MEMORY_CELLS = 128 * 512
"""Tensor memory of an SM: 128 rows of 512 columns, 32 bits each."""

TARGETS = ("sm_100a", "sm_103a")
USUAL = {"variant": "tcgen05", "block_M": 128, "block_N": 256, "block_K": 64, "num_stages": 4, "threads": 128, "panel_size": 8}
"""The config of TileLang's own example for this instruction, which is all there is to go by where nothing can be measured."""

NEVER_RUN = "tcgen05 code was compiled and read, but never run by us: we had no sm_100a or sm_103a device"


def program(M, N, K, dtype, layout, block_M, block_N, block_K, num_stages, threads, enable_swizzle, panel_size):
    one_tile = block(M, N, K, dtype, layout, block_M, block_N, block_K, num_stages, threads, enable_swizzle, panel_size)

    @T.prim_func
    def gemm(
        A: T.Tensor((M, K), dtype),
        B: T.Tensor((N, K) if layout == "NT" else (K, N), dtype),
        C: T.Tensor((M, N), dtype),
    ):
        one_tile(A, B, None, C)

    return gemm


def block(M, N, K, dtype, layout, block_M, block_N, block_K, num_stages, threads, enable_swizzle, panel_size, activation: Any = None):
    """A macro (A, B, bias, C) for one tile of C; `bias` may be None, `activation` maps a float32 sum with its bias."""
    transpose_B = layout == "NT"
    B_tile = (block_N, block_K) if transpose_B else (block_K, block_N)
    stages, steps = max(num_stages, 1), -(-K // block_K)
    columns = columns_at_once(block_M, block_N)

    @T.macro
    def one_tile(A, B, bias, C):
        with T.Kernel(T.ceildiv(N, block_N), T.ceildiv(M, block_M), threads=threads) as (bx, by):
            A_shared = T.alloc_shared((stages, block_M, block_K), dtype)
            B_shared = T.alloc_shared((stages, *B_tile), dtype)
            C_shared = T.alloc_shared((block_M, block_N), dtype)
            acc = T.alloc_tmem((block_M, block_N), "float32")
            part = T.alloc_fragment((block_M, columns), "float32")
            added = T.alloc_fragment((columns,), dtype)
            filled, free, finished = T.alloc_barrier([32] * stages), T.alloc_barrier([1] * stages), T.alloc_barrier(1)
            row, column, thread = by * block_M, bx * block_N, T.get_thread_binding()
            T.use_swizzle(panel_size, enable=enable_swizzle)

            # A barrier ends a phase in each round over the stages, and the phases count 0, 1, 0, 1: `filled` is awaited in that of its
            # round, `free` in that of the round before; before the first round it counts as ended.
            if thread < 32:
                for k in T.serial(steps):
                    stage, depth = k % stages, k * block_K
                    T.mbarrier_wait_parity(free[stage], (k // stages + 1) % 2)
                    T.tma_copy(A[row : row + block_M, depth : depth + block_K], A_shared[stage, :, :], barrier=filled[stage])
                    if transpose_B:
                        T.tma_copy(B[column : column + block_N, depth : depth + block_K], B_shared[stage, :, :], barrier=filled[stage])
                    else:
                        T.tma_copy(B[depth : depth + block_K, column : column + block_N], B_shared[stage, :, :], barrier=filled[stage])
                    T.mbarrier_arrive(filled[stage])
            elif thread < 64:
                for k in T.serial(steps):
                    stage = k % stages
                    T.mbarrier_wait_parity(filled[stage], k // stages % 2)
                    T.tcgen05_gemm(
                        A_shared[stage, :, :], B_shared[stage, :, :], acc, transpose_B=transpose_B, mbar=free[stage], clear_accum=k == 0
                    )
                T.tcgen05_mma_arrive(finished)

            T.mbarrier_wait_parity(finished, 0)
            for turn in T.unroll(block_N // columns):
                T.copy(acc[:, turn * columns : (turn + 1) * columns], part)
                if bias is not None:
                    T.copy(bias[column + turn * columns], added)
                    for i, j in T.Parallel(block_M, columns):
                        part[i, j] = activation(part[i, j] + T.cast(added[j], "float32"))
                T.copy(part, C_shared[:, turn * columns : (turn + 1) * columns])
            T.copy(C_shared, C[row, column])
            T.sync_threads()  # no warp may give the tensor memory back while another still reads it
            if thread < 32:
                T.deallocate_tmem(acc)

    return one_tile


def columns_at_once(block_M: int, block_N: int) -> int:
    """Columns of the tile that are in registers at a time; below 128 rows tensor memory holds them folded, and they come as a whole."""
    if block_M % 128:
        return block_N
    return 64 if block_N % 64 == 0 else 16


def cannot(problem, target: Target) -> str | None:
    """Why the variant does not exist for this target and problem, in one sentence, or None."""
    if target.name not in TARGETS:
        return f"variant tcgen05 needs tcgen05: sm_100a or sm_103a, not {target.name}"
    if problem["dtype"] not in ("float16", "bfloat16"):
        return f"variant tcgen05 multiplies float16 and bfloat16, not {problem['dtype']}; use variant plain"
    rows = {"A": problem["K"], "B": problem["K"] if problem["layout"] == "NT" else problem["N"]}
    odd = next((tensor for tensor, length in rows.items() if length % 8), None)
    if odd:
        return f"variant tcgen05 copies by TMA, which needs rows of {odd} in multiples of 8 elements, not {rows[odd]:,}; use variant plain"
    return None


def estimate(problem, config, target: Target) -> Estimate:
    """Rules of the tcgen05 variant.

    Shared memory is the larger of `max(num_stages, 1) (block_M block_K + block_K block_N) size` and the tile of C that takes its place,
    `block_M block_N size`, plus 1,024 B of barriers. Sources: PTX ISA 9, tcgen05 (shapes, tensor memory); TileLang 0.1.15.
    """
    M, N, K, asked = (config[name] for name in ("block_M", "block_N", "block_K", "threads"))
    size = rules.DTYPE_BYTES[problem["dtype"]]
    shared = max(max(config["num_stages"], 1) * (M * K + K * N), M * N) * size + rules.BARRIER_BYTES
    registers = rules.ceildiv(M * columns_at_once(M, N), asked)
    return Estimate(
        shared_bytes=shared,
        accumulator_registers=registers,
        threads=asked,
        broken=rules.joined(
            cannot(problem, target),
            _shape(M, N),
            f"tcgen05.mma takes a depth in multiples of 16, not {K}" if K % 16 else None,
            _capacity(M, N),
            f"{asked} threads are not whole warp groups of {WARP_GROUP}, which read tensor memory together" if asked % WARP_GROUP else None,
            rules.shared_memory(shared, target, config),
            rules.threads(asked, 0, target),
            rules.grid(rules.ceildiv(problem["M"], M), "y", "use a larger block_M", target),
        ),
        notes=rules.joined(NEVER_RUN, rules.accumulator_note(registers, target), *rules.masked(problem, config)),
    )


def _shape(M: int, N: int) -> str | None:
    """Rows and columns that are whole instructions: dense from 128 rows, below that `.ws`, which folds columns over the idle rows.

    An instruction takes 256 columns at most. Where a tile has more, its parts must not begin inside a swizzled panel of B: TileLang 0.1.15
    lowers 320 columns to 2 times 160 and finds the second half at a wrong address.
    """
    if M not in (32, 64) and M % 128:
        return f"tcgen05.mma takes 32, 64 or a multiple of 128 rows, not {M}"
    step = 128 if N > 256 else 16 if M % 128 == 0 else 64
    return f"tcgen05.mma of {M} rows takes columns in multiples of {step}, not {N}" if N % step else None


def _capacity(M: int, N: int) -> str | None:
    if M * N <= TENSOR_MEMORY_CELLS:
        return None
    return f"a {M} x {N} tile of float32 sums is over the {TENSOR_MEMORY_CELLS:,} cells of tensor memory; use smaller tiles"
