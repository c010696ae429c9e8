"""FlashAttention for Hopper's tensor cores, laid out by hand: the softmax of one key tile runs while the product of another does.

A warp of producers brings queries, keys and values by TMA. Each consumer group of 128 threads owns 64 rows. In a step it starts
S = Q K^T of a key tile and acc += P V of the tile before, both asynchronous, waits for S alone, and does its softmax while P V goes on.
Taking turns (`pingpong`) keeps the groups apart: one multiplies while another exponentiates. After FlashAttention-3,
https://arxiv.org/abs/2407.08608.

Groups share keys and values, and nothing else: queries, output and barriers are each group's own, so that one may begin its next rows while
another still stores. On an H200 one program for all, which meets at every tile of rows, took 1 to 13 % longer, most where keys are few.
"""

import math

from tileviz.kernels.attention.scale import factors, power, shrunk
from tileviz.kernels.toolkit.base import T

PRODUCERS = 128
"""Threads of the producers' warp group; registers are handed over by whole groups."""
LOADER = 32
"""Threads of the one warp of it that works."""
GROUP = 128
"""Threads of a consumer group."""
ROWS = 64
"""Rows that it owns: those of a wgmma."""
TURN = 8
"""First of the named barriers that hand the tensor cores from group to group."""


def registers(threads: int) -> int:
    """Registers of a consumer thread: what a block was launched with, less the 24 that each producer keeps. To ask for more is to hang."""
    launched = 65536 // (threads + PRODUCERS) // 8 * 8 * (threads + PRODUCERS)
    return min(240, (launched - 24 * PRODUCERS) // threads // 8 * 8)


def program(B, H, Sq, Sk, D, dtype, causal, scale, M, N, stages, threads, schedule, heads_together, blocks, rescale, store):
    """M rows and N keys of a tile, `stages` slots for keys and as many for values; the rest as fields and knobs are named."""
    if stages < 2:
        raise ValueError("one slot for keys and one for values would wait for each other without end")
    if threads % GROUP or threads // GROUP * ROWS != M:
        raise ValueError(f"{threads} threads own {threads // GROUP * ROWS} rows, not {M}")
    early, late = factors(scale, D)
    groups, shift = threads // GROUP, Sk - Sq
    row_tiles, key_tiles = -(-Sq // M), -(-Sk // N)
    tiles, together = B * H * row_tiles, math.gcd(B * H, heads_together) if causal else 1
    stay = min(blocks, tiles) if blocks else tiles
    some_see_no_key, some_masked = causal and shift < 0, causal or Sk % N != 0
    take_turns = schedule == "pingpong" and groups > 1
    scores = {"transpose_B": True, "clear_accum": True}

    def slot(count):
        return count % stages

    def phase(count):
        return count // stages % 2

    def tile_at(turn, block):
        """Of all tiles of rows, the one a block takes at a turn. Causal: back and forth, so that each block gets its share of long ones."""
        if not causal:
            return turn * stay + block
        return turn * stay + block + T.Cast("int32", T.And(turn % 2 == 1, (turn + 1) * stay <= tiles)) * (stay - 1 - 2 * block)

    def place(tile):
        """First row, batch, head and count of key tiles. Causal: the longest rows come first."""
        within = tile % (together * row_tiles)
        row = row_tiles - 1 - within // together if causal else within // together
        head = tile // (together * row_tiles) * together + tile % together
        keys = T.max(T.ceildiv(T.min(Sk, (row + 1) * M + shift), N), 1) if causal else key_tiles
        return row * M, head // H, head % H, keys

    @T.macro
    def release(free, index):
        """One thread of each warp says that the warp is done with a slot."""
        if T.shuffle_elect(32):
            T.barrier_arrive(free[index])

    @T.macro
    def exponentials(S, few, highest, first_row, first_key):
        """S becomes exp2(S - its highest so far), `few` what each thread holds of the sums of its rows."""
        if early != 1.0:
            for i, j in T.Parallel(ROWS, N):
                S[i, j] = S[i, j] * early
        if some_masked and first_key + N > (T.min(Sk, first_row + shift + 1) if causal else Sk):
            for i, j in T.Parallel(ROWS, N):
                last = T.min(Sk - 1, first_row + i + shift) if causal else Sk - 1
                S[i, j] = T.if_then_else(first_key + j <= last, S[i, j], -T.infinity("float32"))
        for i, j in T.Parallel(ROWS, 8):
            few[i, j] = -T.infinity("float32")
            for c in T.unroll(N // 8):
                few[i, j] = T.max(few[i, j], S[i, c * 8 + j])
        T.reduce_max(few, highest, dim=1, clear=False)
        for i, j in T.Parallel(ROWS, N):
            S[i, j] = power(S[i, j], highest[i], late)
        for i, j in T.Parallel(ROWS, 8):
            few[i, j] = 0.0
            for c in T.unroll(N // 8):
                few[i, j] = few[i, j] + S[i, c * 8 + j]

    @T.macro
    def divide(acc, sums, total, first_row):
        """What was gathered, by the sums of exponentials; 0 for a row that saw no key."""
        T.reduce_sum(sums, total, dim=1)
        for i in T.Parallel(ROWS):
            total[i] = 1 / total[i]
        for i, j in T.Parallel(ROWS, D):
            acc[i, j] = acc[i, j] * total[i]
            if some_see_no_key:
                acc[i, j] = T.if_then_else(first_row + i + shift < 0, T.float32(0), acc[i, j])

    @T.macro
    def put(group, acc, O_shared, O, batch, head, first_row):
        """Carries the rows of a group out. What TileLang is told about the place spares it a check at every element."""
        if store == "direct":
            T.assume(batch >= 0)
            T.assume(batch < B)
            T.assume(head >= 0)
            T.assume(head < H)
            T.assume(first_row >= 0)
            if Sq % M == 0:
                T.assume(first_row + ROWS <= Sq)
            T.copy(acc, O[batch, head, first_row : first_row + ROWS, :])
        else:
            T.tma_store_wait(0)  # what went out before has been read
            T.copy(acc, O_shared[group, :, :])
            T.tma_copy(O_shared[group, :, :], O[batch, head, first_row : first_row + ROWS, :])

    @T.macro
    def attend(group, shared, barriers, O, block, turns):
        """What one consumer group does: its rows of every tile that the block takes."""
        Q_shared, K_shared, V_shared, O_shared = shared
        q_ready, q_free, k_ready, k_free, v_ready, v_free = barriers
        S = T.alloc_fragment((ROWS, N), "float32")
        P = T.alloc_fragment((ROWS, N), dtype)
        acc = T.alloc_fragment((ROWS, D), "float32")
        highest = T.alloc_fragment((ROWS,), "float32")
        before = T.alloc_fragment((ROWS,), "float32")
        shrink = T.alloc_fragment((ROWS,), "float32")
        total = T.alloc_fragment((ROWS,), "float32")
        few = T.alloc_fragment((ROWS, 8), "float32")
        sums = T.alloc_fragment((ROWS, 8), "float32")
        grew = T.alloc_var("bool", False)
        tie = T.alloc_var("int32", 0)
        tile = T.alloc_var("int32", 0)
        done = T.alloc_var("int32", 0)  # key tiles so far: where the rings of K and V stand
        T.set_max_nreg(registers(threads), 1)
        if take_turns and group == groups - 1:
            T.named_barrier_arrive(TURN, 2 * GROUP)
        for turn in T.serial(turns):
            tile = tile_at(turn, block)
            tile_row, batch, head, keys = place(tile)
            first_row = tile_row + group * ROWS
            T.barrier_wait(q_ready[group], turn % 2)
            T.barrier_wait(k_ready[slot(done)], phase(done))
            T.wgmma_gemm(Q_shared[group, :, :], K_shared[slot(done), :, :], S, **scores)
            T.wait_wgmma(0)
            T.warpgroup_fence_operand(S, num_regs=N // 2)
            release(k_free, slot(done))
            T.fill(acc, 0)
            T.fill(highest, -T.infinity("float32"))
            exponentials(S, few, highest, first_row, 0)
            T.copy(few, sums)
            T.copy(S, P)
            if keys > 1:
                T.barrier_wait(k_ready[slot(done + 1)], phase(done + 1))
            for k in T.serial(1, keys):
                if take_turns:
                    T.sync_threads(TURN + group, 2 * GROUP)
                T.wgmma_gemm(Q_shared[group, :, :], K_shared[slot(done + 1), :, :], S, **scores)
                T.barrier_wait(v_ready[slot(done)], phase(done))
                T.wgmma_gemm(P, V_shared[slot(done), :, :], acc)
                if take_turns:
                    T.named_barrier_arrive(TURN + (group + 1) % groups, 2 * GROUP)
                T.wait_wgmma(1)
                T.warpgroup_fence_operand(S, num_regs=N // 2)
                release(k_free, slot(done + 1))
                T.copy(highest, before)
                exponentials(S, few, highest, first_row, k * N)
                for i in T.Parallel(ROWS):
                    shrink[i] = shrunk(before[i], highest[i], late)
                for i, j in T.Parallel(ROWS, 8):
                    sums[i, j] = sums[i, j] * shrink[i] + few[i, j]
                if rescale == "vote":
                    grew = False
                    for i in T.Parallel(ROWS):
                        if highest[i] > before[i]:
                            grew = True
                # ptxas would move the wait for P V up before the softmax. The wait for the next keys, which has to come anyway,
                # keeps them apart: it branches, and is tied to the sums of exponentials, none of which is above N.
                tie = 0
                for i, j in T.Parallel(ROWS, 8):
                    if few[i, j] > N:
                        tie = 1
                if k + 1 < keys:
                    T.barrier_wait(k_ready[slot(done + 2)], phase(done + 2) ^ tie)
                T.wait_wgmma(0)
                T.warpgroup_fence_operand(acc, num_regs=D // 2)
                release(v_free, slot(done))
                T.copy(S, P)
                if rescale == "always" or T.any_sync(grew):
                    for i, j in T.Parallel(ROWS, D):
                        acc[i, j] = acc[i, j] * shrink[i]
                done += 1
            if store != "queries":
                release(q_free, group)
            T.barrier_wait(v_ready[slot(done)], phase(done))
            T.wgmma_gemm(P, V_shared[slot(done), :, :], acc)
            T.wait_wgmma(0)
            T.warpgroup_fence_operand(acc, num_regs=D // 2)
            release(v_free, slot(done))
            done += 1
            divide(acc, sums, total, first_row)
            put(group, acc, O_shared, O, batch, head, first_row)
            if store == "queries":
                T.tma_store_wait(0)
                release(q_free, group)
        if store == "shared":
            T.tma_store_wait(0)

    @T.macro
    def bring_rows(group, Q, Q_shared, q_ready, q_free, turn, batch, head, tile_row):
        """The queries of one group, when it is done with those before."""
        first_row = tile_row + group * ROWS
        T.barrier_wait(q_free[group], turn % 2 ^ 1)
        T.tma_copy(Q[batch, head, first_row : first_row + ROWS, :], Q_shared[group, :, :], barrier=q_ready[group])
        T.barrier_arrive(q_ready[group])

    @T.macro
    def bring(Q, K, V, shared, barriers, block, turns):
        """What the loading warp does. Keys come before the queries of the groups that begin later."""
        Q_shared, K_shared, V_shared, _ = shared
        q_ready, q_free, k_ready, k_free, v_ready, v_free = barriers
        tile = T.alloc_var("int32", 0)
        done = T.alloc_var("int32", 0)
        for turn in T.serial(turns):
            tile = tile_at(turn, block)
            tile_row, batch, head, keys = place(tile)
            bring_rows(0, Q, Q_shared, q_ready, q_free, turn, batch, head, tile_row)
            for k in T.serial(keys):
                T.barrier_wait(k_free[slot(done)], phase(done) ^ 1)
                T.tma_copy(K[batch, head, k * N : (k + 1) * N, :], K_shared[slot(done), :, :], barrier=k_ready[slot(done)])
                T.barrier_arrive(k_ready[slot(done)])
                if k == 0:
                    for group in T.unroll(1, groups):
                        bring_rows(group, Q, Q_shared, q_ready, q_free, turn, batch, head, tile_row)
                T.barrier_wait(v_free[slot(done)], phase(done) ^ 1)
                T.tma_copy(V[batch, head, k * N : (k + 1) * N, :], V_shared[slot(done), :, :], barrier=v_ready[slot(done)])
                T.barrier_arrive(v_ready[slot(done)])
                done += 1

    @T.macro
    def attend_from(group, thread, *given):
        """Consumer groups from this one on: each has a copy of the program, since what it waits for is its own."""
        if thread < PRODUCERS + (group + 1) * GROUP:
            attend(group, *given)
        elif group + 1 < groups:
            attend_from(group + 1, thread, *given)

    @T.prim_func
    def flash_attention(
        Q: T.Tensor((B, H, Sq, D), dtype),
        K: T.Tensor((B, H, Sk, D), dtype),
        V: T.Tensor((B, H, Sk, D), dtype),
        O: T.Tensor((B, H, Sq, D), dtype),
    ):
        with T.Kernel(stay, threads=threads + PRODUCERS) as block:
            Q_shared = T.alloc_shared((groups, ROWS, D), dtype)
            K_shared = T.alloc_shared((stages, N, D), dtype)
            V_shared = T.alloc_shared((stages, N, D), dtype)
            O_shared = T.alloc_shared((groups, ROWS, D), dtype) if store == "shared" else Q_shared
            q_ready, q_free = T.alloc_barrier([LOADER] * groups), T.alloc_barrier([GROUP // 32] * groups)
            k_ready, k_free = T.alloc_barrier([LOADER] * stages), T.alloc_barrier([threads // 32] * stages)
            v_ready, v_free = T.alloc_barrier([LOADER] * stages), T.alloc_barrier([threads // 32] * stages)
            shared = Q_shared, K_shared, V_shared, O_shared
            barriers = q_ready, q_free, k_ready, k_free, v_ready, v_free
            turns = T.ceildiv(tiles - block, stay)
            thread = T.get_thread_binding()

            if thread < PRODUCERS:
                T.set_max_nreg(24, 0)
                if thread < LOADER:
                    bring(Q, K, V, shared, barriers, block, turns)
            else:
                attend_from(0, thread, shared, barriers, O, block, turns)

    return flash_attention
