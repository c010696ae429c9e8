"""Rules of softmax: how a row is shared, what a variant looks at, and what does not fit."""

from tileviz.kernels.softmax.parts import cluster_rows, shares
from tileviz.kernels.toolkit import rules
from tileviz.records import Estimate

IDLE = {
    "whole": {"block_N": 16384, "cluster": 2},
    "cluster": {"block_M": 1, "block_N": 16384},
    "online": {"hold": "float32", "blocks_per_sm": 1, "cluster": 2},
}
"""The variants, with the knobs that each does not look at, brought to one value."""

VARIANTS = tuple(IDLE)


def threads_of_row(config):
    """Threads of a block that work on one row."""
    return config["threads"] if config["variant"] == "cluster" else max(1, config["threads"] // config["block_M"])


def tile_columns(problem, config):
    """Columns of a row that a block has in registers at a time, padded to whole loads of all its warps."""
    warps, lanes, vector = shares(problem["N"], problem["dtype"], threads_of_row(config))
    turn = warps * lanes * vector
    if config["variant"] == "online":
        return max(1, min(config["block_N"], 1 << (problem["N"] - 1).bit_length()) // turn) * turn
    blocks = config["cluster"] if config["variant"] == "cluster" else 1
    return rules.ceildiv(problem["N"], blocks * turn) * turn


def estimate(problem, config, target):
    """A tile of rows in registers; shared memory holds two numbers of each warp, in a cluster those of all its blocks."""
    variant, dtype, threads = config["variant"], problem["dtype"], config["threads"]
    columns, rows = tile_columns(problem, config), 1 if variant == "cluster" else config["block_M"]
    few = f"{threads} threads are fewer than the {rows:,} rows of a block; use more" if rows > threads else None
    warps = shares(problem["N"], dtype, threads_of_row(config))[0]
    if target.kind == "cpu":
        stack = 4 * rows * (columns + 64 * warps)
        broken = rules.joined(few, _clusters(config, target), rules.cpu_stack(stack, target))
        return Estimate(threads=threads, stack_bytes=stack, broken=broken)
    held = dtype if config["hold"] == "input" else "float32"
    registers = rules.ceildiv(rows * columns * rules.DTYPE_BYTES[held], threads * 4)
    shared = 4 * warps * (cluster_rows(warps) * (config["cluster"] + 1) if variant == "cluster" else 2 * rows)
    return Estimate(
        shared_bytes=shared if variant != "whole" or warps > 1 else 0,
        accumulator_registers=registers,
        threads=threads,
        broken=rules.joined(
            few,
            rules.threads(threads, 0, target),
            _clusters(config, target),
            _residents(config, target),
            _registers(registers, config, target),
        ),
        notes=rules.joined(
            rules.accumulator_note(registers, target) if variant == "online" else None,
            rules.larger_than("block_M", config["block_M"], problem["M"]) if variant != "cluster" else None,
            f"each row is read twice: online has {columns:,} columns at a time" if variant == "online" else None,
        ),
    )


def _clusters(config, target):
    if config["variant"] != "cluster" or target.at_least(9):
        return None
    return f"{'the CPU' if target.kind == 'cpu' else target.name} has no clusters of blocks; use variant whole or online, or sm_90a"


def _residents(config, target):
    """Threads of the blocks that registers are left for must fit a multiprocessor."""
    blocks, threads, most = config["blocks_per_sm"], config["threads"], target.limits.threads_per_sm
    if config["variant"] == "online" or blocks == 1 or blocks * threads <= most:
        return None
    return f"{blocks} blocks of {threads:,} threads are more than the {most:,} threads a multiprocessor of {target.name} holds; use fewer"


def _registers(registers, config, target):
    """A row that is more than the registers of its threads would go to local memory and back, and compile for minutes."""
    limits = target.limits
    limit = min(limits.registers_per_thread, limits.registers_per_sm // (config["threads"] * config["blocks_per_sm"]))
    if config["variant"] == "online" or registers <= limit:
        return None
    return f"the values take {registers:,} registers a thread, and there are {limit:,}; use more threads, fewer rows, or variant online"


FEW_ROWS = 64
"""As many rows leave half of a large GPU idle when a block has one each."""


def suggest(problem, target):
    """What was fastest on an H200 for rows of about this length, as far as the target can.

    16 to 32 values a thread in float32. Long rows of float16 stay as they came, 64 to 128 values a thread, so that two blocks share a
    multiprocessor; elsewhere that was not measured and spills, so they have fewer values a thread.
    """
    if not target.is_cuda:
        return {}
    N, width = problem["N"], 1 << (problem["N"] - 1).bit_length()
    clusters, measured = target.at_least(9), target.capability == (9, 0) and problem["dtype"] == "float16" and N % 8 == 0
    if clusters and problem["M"] <= FEW_ROWS and width >= 32768:
        return _config("cluster", threads=512, cluster=8)
    if width <= 1024:
        threads, lanes = (64, 32) if width == 1024 else (128, min(32, max(8, width // 16)))
        return _config("whole", block_M=threads // lanes, threads=threads)
    if width <= 8192:
        threads = width // 16
        return _config("whole", threads=threads, blocks_per_sm=target.limits.threads_per_sm // 512 if threads == 512 else 1)
    if width == 16384:
        return _config("whole", threads=512, blocks_per_sm=2)
    if width == 32768:
        return _config("whole", threads=512, hold="input", blocks_per_sm=2) if measured else _config("whole", threads=1024)
    if not clusters:
        return _config("online", threads=1024, block_N=32768)
    knobs = {"threads": 256, "hold": "input", "blocks_per_sm": 2, "tl.enable_fast_math": True} if measured else {"threads": 512}
    return _config("cluster", cluster=width // 32768, **knobs)


def _config(variant, **knobs):
    return {"variant": variant, "block_M": 1, "hold": "float32", "blocks_per_sm": 1, **knobs}
