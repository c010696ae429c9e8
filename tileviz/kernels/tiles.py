"""What TileLang makes of a tile: which matrix instruction, how warps share it, how it is copied, who copies.

Follows TileLang 0.1.15 (its src/cuda/op/gemm.cc, copy_analysis.cc and producer_consumer_ws.cc); a test lowers a set of configs for each
kernel and target and holds these functions against what comes out.
"""

from dataclasses import dataclass

from tileviz.records import Config, Target

WARP = 32
PRODUCER_THREADS = 128
"""A warp group that only issues TMA copies."""

DTYPE_BYTES = {"float64": 8, "float32": 4, "float16": 2, "bfloat16": 2, "int8": 1, "float8_e4m3": 1}


@dataclass(frozen=True)
class Copy:
    """One global-to-shared copy of a pipelined loop."""

    tensor: str
    columns: int
    """Elements of a row in memory."""
    tile_columns: int
    """Elements of a row of the tile."""
    size: int
    """Bytes of an element."""

    @property
    def stride(self) -> int:
        return self.columns * self.size

    @property
    def by_tma(self) -> bool:
        """TMA needs rows that start at multiples of 16 bytes, and tile rows of a multiple of 16 bytes."""
        return self.stride % 16 == 0 and self.tile_columns * self.size % 16 == 0


def matrix_instruction(M: int, K: int, dtype: str, threads: int, target: Target, config: Config) -> str:
    """`wgmma`, `mma` or `fma`: what T.gemm becomes for an M-row tile with K products an element."""
    if target.capability == (7, 5) and dtype != "float16":
        return "fma"
    wide = dtype in ("float16", "bfloat16") and K % 16 == 0 and M >= 64 and threads // WARP % 4 == 0
    if target.at_least(9) and not target.at_least(10) and wide and not config.get("tl.disable_wgmma"):
        return "wgmma"
    return "mma"


def product_step(K: int, dtype: str, target: Target) -> str | None:
    """A tile's depth must be whole steps of the matrix instruction."""
    full = 8 if dtype == "float32" or target.capability == (7, 5) else 16
    if K == 8 or K % full == 0:
        return None
    steps = "a multiple of 8" if full == 8 else "8 or a multiple of 16"
    return f"depth {K} is not whole steps of the {dtype} matrix instruction; give {steps}"


def warp_split(M: int, N: int, threads: int, instruction: str, rows_only: bool = False) -> str | None:
    """Warps must cover the tile in equal shares of 16 rows and 8 columns; wgmma takes four warps along the rows together.

    `rows_only`: warps may not share a row, as in attention, where a row's softmax stays in one warp.
    """
    if instruction == "fma":
        return None
    warps = threads // WARP
    if M % 16:
        return f"{M} rows are not a multiple of 16, the rows of a matrix instruction"
    if N % 8:
        return f"{N} columns are not a multiple of 8, the columns of a matrix instruction"
    if rows_only:
        if M % (16 * warps) == 0:
            return None
        return f"layout conflict: {M} rows are not whole shares of 16 for {warps} warps; use {16 * warps} rows, or fewer threads"
    group = 4 if instruction == "wgmma" else 1
    for down in range(group, warps + 1, group):
        if warps % down == 0 and M % (16 * down) == 0 and N % (8 * (warps // down)) == 0:
            return None
    return f"{warps} warps cannot cover {M} x {N} in equal shares of 16 rows and 8 columns{' with four warps along the rows' if group == 4 else ''}; change threads or the tile"


def specialized(num_stages: int, target: Target, config: Config) -> bool:
    """Whether TileLang may split a block into producers and consumers: Hopper and newer, in a pipelined loop."""
    return target.at_least(9) and num_stages >= 1 and not config.get("tl.disable_warp_specialized")


def producer_threads(copies: tuple[Copy, ...], threads: int, num_stages: int, target: Target, config: Config) -> int:
    """Threads that TileLang adds: a warp group when all copies go by TMA, as many again when only some do, else none."""
    if not specialized(num_stages, target, config) or not any(c.by_tma for c in copies):
        return 0
    return PRODUCER_THREADS if all(c.by_tma for c in copies) else threads


def uses_cp_async(num_stages: int, producers: int, target: Target) -> bool:
    """Whether a pipelined loop waits on cp.async groups."""
    return target.at_least(8) and num_stages >= 1 and producers == 0


def copy_notes(copies: tuple[Copy, ...], num_stages: int, producers: int, target: Target) -> list[str]:
    """Why a copy is slower than it could be, a sentence for each tensor."""
    if not target.at_least(8):
        return []
    notes = []
    for c in copies:
        if c.stride % 16 == 0:
            continue
        fix = f"row stride {c.stride:,} B is not a multiple of 16; pad to {-(-c.stride // 16) * 16 // c.size:,}"
        if producers or c.stride % 4 or num_stages == 0:
            notes.append(f"{c.tensor}: async copy: none, {fix}")
        else:
            notes.append(f"{c.tensor}: async copy of {8 if c.stride % 8 == 0 else 4} B at a time, {fix}")
    return notes
