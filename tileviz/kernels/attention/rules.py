"""Rules of attention: two products in a row, the second of them fed from registers, and a loop whose length may depend on the block."""

import math

from tileviz.kernels.toolkit import rules, tiles
from tileviz.records import Estimate

SCHEDULES = ("plain", "overlap", "pingpong")
"""plain: TileLang orders the work. overlap: the softmax of a key tile runs beside the products of another. pingpong: overlap, and the
groups take turns."""


def cannot(problem, target) -> str | None:
    """float32 needs TF32: without it the scalar products spread scores and output unlike over the threads. Volta's own instruction spreads
    what a product gives and what it takes unlike, so that no config of a second product from registers lowers."""
    if target.capability == (7, 0):
        return f"TileLang 0.1.15 has no layout for two products in a row on {target.name}; choose sm_75 or newer"
    if problem["dtype"] != "float32" or not target.is_cuda or target.at_least(8):
        return None
    why = f"{target.name} has no TF32 to multiply float32 with, and TileLang has no layout for scalar attention"
    return f"{why}; choose float16, or sm_80 or newer"


def estimate(problem, config, target):
    """Shared memory is `(block_M D + max(num_stages, 1) 2 block_N D) size`, for float32 block_M block_N size more, plus 1,024 B of
    barriers where tiles come by TMA."""
    M, N, stages, threads = (config[name] for name in ("block_M", "block_N", "num_stages", "threads"))
    D, dtype, size = problem["D"], problem["dtype"], rules.DTYPE_BYTES[problem["dtype"]]
    masked = rules.joined(rules.larger_than("block_M", M, problem["Sq"]), rules.larger_than("block_N", N, problem["Sk"]))
    if config["schedule"] != "plain":
        return _overlapped(problem, config, target, masked)
    if target.kind == "cpu":
        stack = (M + 2 * N) * D * size + (2 * M * N + M * D + 5 * M) * 4
        return Estimate(threads=threads, stack_bytes=stack, broken=rules.joined(rules.cpu_stack(stack, target)), notes=masked)
    copies = tuple(tiles.Copy(tensor, D, D, size) for tensor in "KV")
    producers = tiles.producer_threads(copies, threads, stages, target, config)
    shared = tile_bytes(problem, config) + (rules.BARRIER_BYTES if producers else 0)
    instruction = tiles.matrix_instruction(M, N, min(D, N), dtype, threads, target, config)
    accumulator = rules.ceildiv(M * (N + D), threads)
    return Estimate(
        shared_bytes=shared,
        accumulator_registers=accumulator,
        threads=threads,
        producer_threads=producers,
        broken=rules.joined(
            tiles.warp_split(M, N, threads, instruction) or row_split(problem, config, instruction),
            tiles.product_step(N, dtype, instruction, target),
            *(_wgmma_registers(problem, config, threads + producers) if instruction == "wgmma" else ()),
            rules.shared_memory(shared, target, config),
            rules.threads(threads, producers, target),
            rules.grid(problem["H"], "y", "use fewer heads", target),
            rules.grid(problem["B"], "z", "use a smaller batch", target),
            _runtime_trips(problem, config, producers, target),
        ),
        notes=rules.joined(rules.accumulator_note(accumulator, target), *masked),
    )


def canonical(problem, config, target):
    """Idle knobs brought to one value: threads and stages on the CPU, what only the schedules by hand know, turns of a lone warp group."""
    if config["schedule"] == "plain":
        idle = {"heads_together": 1, "blocks": 0, "rescale": "always", "store": "direct"}
        return {**config, **idle, "threads": 128, "num_stages": 0} if target.kind == "cpu" else {**config, **idle}
    heads = problem["B"] * problem["H"]
    tiles_of_rows = heads * rules.ceildiv(problem["Sq"], config["block_M"])
    return {
        **config,
        "schedule": "overlap" if config["threads"] < 256 else config["schedule"],
        "heads_together": math.gcd(heads, config["heads_together"]) if problem["causal"] else 1,
        "blocks": 0 if config["blocks"] >= tiles_of_rows else config["blocks"],
    }


def _overlapped(problem, config, target, masked) -> Estimate:
    """The schedules by hand: shared memory is `(block_M + 2 num_stages block_N) D size`, block_M D size more with store shared, and
    1,024 B of barriers."""
    M, N, stages, threads = (config[name] for name in ("block_M", "block_N", "num_stages", "threads"))
    D, size = problem["D"], rules.DTYPE_BYTES[problem["dtype"]]
    rows = 2 * M if config["store"] == "shared" else M
    shared = (rows + 2 * stages * N) * D * size + rules.BARRIER_BYTES
    accumulator = rules.ceildiv(M * (N + D) + M * N // 2, threads)
    elsewhere = _by_hand(problem, config, target)
    return Estimate(
        shared_bytes=shared,
        accumulator_registers=accumulator,
        threads=threads,
        producer_threads=tiles.PRODUCER_THREADS,
        broken=rules.joined(
            elsewhere,
            f"schedule {config['schedule']} takes rows in multiples of 64, not {M}" if M % 64 else None,
            f"schedule {config['schedule']} gives each 128 threads 64 rows: {M} rows need {2 * M} threads, not {threads}"
            if threads != 2 * M
            else None,
            f"wgmma takes key tiles in multiples of 16 up to 256, not {N}" if N % 16 or N > 256 else None,
            f"schedule {config['schedule']} needs num_stages 2 or more: it takes keys ahead of values" if stages < 2 else None,
            *(() if elsewhere else _wgmma_registers(problem, config, threads + tiles.PRODUCER_THREADS)),
            rules.shared_memory(shared, target, config),
            rules.threads(threads, tiles.PRODUCER_THREADS, target),
        ),
        notes=rules.joined(rules.accumulator_note(accumulator, target), *masked),
    )


def _by_hand(problem, config, target) -> str | None:
    """Where asynchronous wgmma and TMA are to be had."""
    hopper = target.is_cuda and target.at_least(9) and not target.at_least(10)
    if hopper and problem["dtype"] != "float32" and not config.get("tl.disable_wgmma"):
        return None
    return f"schedule {config['schedule']} is for Hopper's wgmma in float16 and bfloat16; use schedule plain"


def _wgmma_registers(problem, config, launched: int) -> tuple[str | None, str | None]:
    """Both products: the scores, and the output, whose left operand comes from four registers, for float32 from shared memory."""
    M, threads, left = config["block_M"], config["threads"], 0 if problem["dtype"] == "float32" else 4
    scores = tiles.wgmma_registers(M, config["block_N"], threads, launched, "FullRow")
    return scores, tiles.wgmma_registers(M, problem["D"], threads, launched, "FullRow", left)


def tile_bytes(problem, config) -> int:
    """Shared memory of the tiles. With one key tile, what the second product needs may take the place of what the first one had."""
    M, N, stages = config["block_M"], config["block_N"], config["num_stages"]
    D, size = problem["D"], rules.DTYPE_BYTES[problem["dtype"]]
    queries, keys = M * D * size, max(stages, 1) * N * D * size
    scores = M * N * size if problem["dtype"] == "float32" else 0
    one_tile = key_tiles(problem, config)[1] == 1
    if one_tile and stages == 0:
        return max(queries + keys, keys + scores) + partial_bytes(problem, config) // 2
    freed = one_tile and scores <= queries + keys
    return queries + 2 * keys + (0 if freed else scores) + partial_bytes(problem, config)


def partial_bytes(problem, config) -> int:
    """Partial maxima and sums of warps that share a row, 4 B a thread each."""
    return 8 * config["threads"] if problem["dtype"] == "float32" and not all_warps_on_rows(config) else 0


def all_warps_on_rows(config) -> bool:
    return config["block_M"] % (config["threads"] // 2) == 0


def row_split(problem, config, instruction: str) -> str | None:
    """Both products must spread rows over warps alike. Scores that stay in registers allow no two warps on a row."""
    M, threads = config["block_M"], config["threads"]
    if all_warps_on_rows(config):
        if instruction != "wgmma" or threads < 256 or 2 * M == threads:
            return None
        groups, rows = threads // 128, threads // 2
        return f"layout conflict: {groups} warp groups of wgmma take {rows} rows, not {M}; use {rows} rows, or 128 threads"
    if problem["dtype"] != "float32":
        return f"layout conflict: {M} rows < {threads // 32} warps x 16, or no whole shares; use {threads // 2} rows, or fewer threads"
    scores, out = (tiles.warps_on_rows(M, columns, threads) for columns in (config["block_N"], problem["D"]))
    if scores == out > 0:
        return None
    return f"layout conflict: {scores} warps on the rows of the scores, {out} on those of the output; use fewer threads"


def key_tiles(problem, config) -> tuple[int, int]:
    """Fewest and most key tiles that a block of rows walks over."""
    last = rules.ceildiv(problem["Sk"], config["block_N"])
    if not problem["causal"]:
        return last, last
    first_keys = min(problem["Sk"], max(0, config["block_M"] + problem["Sk"] - problem["Sq"]))
    return rules.ceildiv(first_keys, config["block_N"]), last


def _runtime_trips(problem, config, producers, target) -> str | None:
    """TileLang 0.1.15 cannot count cp.async groups in a loop whose length is known only at run time."""
    fewest, most = key_tiles(problem, config)
    if fewest == most or most == 1 or config["num_stages"] < 2 or not tiles.uses_cp_async(config["num_stages"], producers, target, config):
        return None
    return f"causal with {config['num_stages']} stages does not lower where tiles come by cp.async ({target.name}); use num_stages 1 or 0"
