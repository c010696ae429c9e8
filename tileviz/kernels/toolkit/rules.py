"""Rules that say before compiling whether a config can run: dtype, shared memory, threads, tile legality, the CPU's stack.

Each returns a sentence when broken, else None. They state what TileLang 0.1.15 and the hardware refuse, and no more: a rule never
prunes what lowers and fits. Sources: CUDA programming guide (limits), tiles.py (legality).
"""

import math
from collections.abc import Iterable

from tileviz.kernels.toolkit.tiles import DTYPE_BYTES
from tileviz.records import Config, Target

__all__ = [
    "DTYPE_BYTES",
    "ceildiv",
    "cpu_stack",
    "dtype_supported",
    "gemm_math_mode",
    "grid",
    "joined",
    "shared_memory",
    "threads",
    "torch_math_mode",
]

CPU_STACK_LIMIT = 4 << 20
"""Bytes of tiles on the stack of the CPU target: 4 MB works, 8 MB is a segmentation fault."""

MOST_BLOCKS = 65_535
"""Blocks of a CUDA grid along y, and along z."""

LAID_OUT_ANEW = ("tl.enable_aggressive_shared_memory_merge", "tl.disable_shared_memory_reuse", "tl.enable_auto_warp_specialization")
"""Pass configs after which a block of TileLang 0.1.15 takes more or less shared memory than the tiles say, the last one other threads, too:
what it takes is left to the compile. A test lowers the kernels with every pass config."""

ON_CPU = ("float32", "uint8", "int8", "int16", "int32", "int64")
"""Dtypes of TileLang's C that work."""

MOST_COUNTED = 2**31 - 1
"""The largest index of 32 bits."""

BARRIER_BYTES = 1024
"""Static shared memory of a block that waits on TMA: the barriers, rounded up to the alignment of the dynamic part."""


def dtype_supported(dtype: str, target: Target) -> str | None:
    """Which dtypes a target has: the CPU target runs float32 and whole numbers; bfloat16 needs sm_80."""
    if target.kind == "cpu" and dtype == "bool":
        return "the CPU target cannot run bool: TileLang's C takes it for int8; choose int8 or a CUDA target"
    if target.kind == "cpu" and dtype not in ON_CPU:
        return f"the CPU target runs float32 only, not {dtype}: TileLang's C has no {dtype} vectors; choose float32 or a CUDA target"
    if target.is_cuda and dtype == "bfloat16" and not target.at_least(8):
        return f"{target.name} has no bfloat16 arithmetic; choose float16, or sm_80 or newer"
    return None


def shared_memory(total_bytes: int, target: Target, config: Config) -> str | None:
    if not laid_out_anew(config) and target.limits and total_bytes > target.limits.shared_per_block_bytes:
        return (
            f"shared memory {total_bytes:,} B is over the {target.limits.shared_per_block_bytes:,} B a block of {target.name} may use;"
            " use fewer stages or smaller tiles"
        )
    return None


def laid_out_anew(config: Config) -> str | None:
    """The pass config that changes what a block takes, or None."""
    return next((name for name in LAID_OUT_ANEW if config.get(name)), None)


def unknown_note(shared_bytes: int, config: Config) -> str | None:
    name = laid_out_anew(config)
    if name is None or not shared_bytes:
        return None
    return f"{name} changes what shared memory a block takes, {shared_bytes:,} B without it: compiling tells"


def wide_note(shapes: Iterable[tuple[int, ...]]) -> str | None:
    """What becomes of tensors whose elements 32 bits cannot count."""
    most = max(map(math.prod, shapes))
    if most <= MOST_COUNTED:
        return None
    return f"a tensor of {most:,} elements is more than 32 bits count: TileLang 0.1.15 widens its indices to 64 bits, at some cost"


def threads(asked: int, producers: int, target: Target) -> str | None:
    """Threads of a block, with the producer warps that TileLang adds."""
    if not target.limits or asked + producers <= target.limits.threads_per_block:
        return None
    extra = f" ({asked:,} + {producers:,} producer)" if producers else ""
    return f"{asked + producers:,} threads a block{extra} is over the limit of {target.limits.threads_per_block:,}; use fewer threads"


def grid(blocks: int, axis: str, fix: str, target: Target) -> str | None:
    """CUDA numbers the blocks along y and z with 16 bits; along x with 31, more than any problem has."""
    if not target.is_cuda or blocks <= MOST_BLOCKS:
        return None
    return f"{blocks:,} blocks along {axis} of the grid is over the limit of {MOST_BLOCKS:,}; {fix}"


def cpu_stack(tile_bytes: int, target: Target) -> str | None:
    if target.kind == "cpu" and tile_bytes > CPU_STACK_LIMIT:
        return f"tiles take {tile_bytes:,} B of the CPU target's stack; more than {CPU_STACK_LIMIT:,} B crashes: use smaller tiles"
    return None


def ceildiv(a: int, b: int) -> int:
    return -(-a // b)


def joined(*sentences: str | None) -> tuple[str, ...]:
    """The sentences that are there, each once."""
    return tuple(dict.fromkeys(s for s in sentences if s))


def first_that_fits(estimate, problem, target: Target, configs) -> dict:
    """The first of these configs that breaks no rule, or the last of all."""
    configs = list(configs)
    return next((c for c in configs if not estimate(problem, c, target).broken), configs[-1])


def accumulator_note(registers: int, target: Target) -> str | None:
    limit = target.limits.registers_per_thread if target.limits else registers
    if registers <= limit:
        return None
    return f"the accumulator alone takes {registers} of {limit} registers a thread: spills to local memory, and compiling takes long"


def larger_than(name: str, tile: int, extent: int) -> str | None:
    """Allowed: the rest of the tile is masked and its work is wasted."""
    return f"{name} {tile} is more than the {extent} there are; the rest of the tile is masked" if tile > extent else None


def masked(problem, config) -> tuple[str, ...]:
    """Of a tile of a matrix product: `larger_than` for rows, columns and depth."""
    return joined(*(larger_than(f"block_{axis}", config[f"block_{axis}"], problem[axis]) for axis in ("M", "N", "K")))


def gemm_math_mode(problem, target: Target) -> str:
    """Precision of the products: TileLang turns float32 tiles into TF32 on tensor cores of sm_80 and newer."""
    return "TF32" if problem["dtype"] == "float32" and target.at_least(8) else problem["dtype"]


def torch_math_mode(problem) -> str:
    return "float32" if problem["dtype"] == "float32" else f"{problem['dtype']} in, float32 accumulate"
