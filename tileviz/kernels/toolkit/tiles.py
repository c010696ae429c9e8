"""What TileLang makes of a tile: which matrix instruction, how warps share it, how it is copied, who copies.

Follows TileLang 0.1.15 (its src/cuda/op/gemm.cc, copy_analysis.cc and producer_consumer_ws.cc); a test lowers a set of configs for each
kernel and target and holds these functions against what comes out.
"""

from dataclasses import dataclass

from tileviz.records import Config, Target

WARP = 32
PRODUCER_THREADS = 128
"""A warp group that only issues TMA copies."""

DTYPE_BYTES = {
    "float64": 8, "float32": 4, "float16": 2, "bfloat16": 2, "float8_e4m3": 1, "float8_e4m3fn": 1, "float8_e5m2": 1,
    "int64": 8, "int32": 4, "int16": 2, "int8": 1, "uint8": 1, "bool": 1,
}  # fmt: skip


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


def matrix_instruction(M: int, N: int, K: int, dtype: str, threads: int, target: Target, config: Config) -> str:
    """`wgmma`, `mma`, `mma_volta` or `fma` (scalar): what T.gemm becomes for an M x N tile with K products an element."""
    if target.capability == (7, 0):
        return "mma_volta" if dtype == "float16" and M % 16 == 0 and N % 16 == 0 and K % 4 == 0 else "fma"
    if target.capability == (7, 5) and dtype != "float16":
        return "fma"
    wide = dtype in ("float16", "bfloat16") and K % 16 == 0 and M >= 64 and threads // WARP % 4 == 0
    if target.at_least(9) and not target.at_least(10) and wide and not config.get("tl.disable_wgmma"):
        return "wgmma"
    return "mma"


def product_step(K: int, dtype: str, instruction: str, target: Target) -> str | None:
    """A tile's depth must be whole steps of the matrix instruction."""
    if instruction in ("fma", "mma_volta"):
        return None
    full = 8 if dtype == "float32" or target.capability == (7, 5) else 16
    if K == 8 or K % full == 0:
        return None
    steps = "a multiple of 8" if full == 8 else "8 or a multiple of 16"
    return f"depth {K} is not whole steps of the {dtype} matrix instruction; give {steps}"


def warp_columns(instruction: str) -> int:
    """Columns of the smallest share of a warp."""
    return 16 if instruction == "mma_volta" else 8


def warp_split(M: int, N: int, threads: int, instruction: str, policy: str = "Square") -> str | None:
    """Warps must cover the tile in equal shares of 16 rows and 8 columns; wgmma takes four warps along the rows together."""
    warps, columns = threads // WARP, warp_columns(instruction)
    if instruction == "fma":
        even = M * N < threads or M * N % threads == 0
        return None if even else f"{threads} threads cannot share the {M * N:,} elements of a {M} x {N} tile equally"
    if M % 16:
        return f"{M} rows are not a multiple of 16, the rows of a matrix instruction"
    if N % columns:
        return f"{N} columns are not a multiple of {columns}, the columns of a matrix instruction"
    if warp_grid(M, N, warps, instruction, policy):
        return None
    together = ", four warps along the rows" if instruction == "wgmma" else ""
    return f"{warps} warps cannot cover {M} x {N} in equal shares of 16 rows and {columns} columns{together}; change threads or the tile"


def warps_on_rows(M: int, N: int, threads: int) -> int:
    """Warps along the rows with policy FullRow: as many as cover the tile; 0 when no split does."""
    warps = threads // WARP
    return next((m for m in range(warps, 0, -1) if warps % m == 0 and M % (16 * m) == 0 and N % (8 * (warps // m)) == 0), 0)


def warp_grid(M: int, N: int, warps: int, instruction: str, policy: str = "Square") -> tuple[int, int] | None:
    """Warps along rows and columns, of the splits that cover the tile: with FullRow the one with most warps along the rows, else the one
    whose shares are most like the tile in shape."""
    group, columns = (4 if instruction == "wgmma" else 1), warp_columns(instruction)
    splits = [(down, warps // down) for down in range(group, warps + 1, group) if warps % down == 0]
    covering = [(m, n) for m, n in splits if M % (16 * m) == 0 and N % (columns * n) == 0]
    if policy == "FullRow":
        return max(covering, default=None)
    return min(covering, key=lambda s: abs((M / (16 * s[0])) / (N / (columns * s[1])) - M / N), default=None)


def wgmma_columns(M: int, N: int, threads: int, transposed: bool, policy: str = "Square") -> str | None:
    """The rule on the columns that one warp group of wgmma takes: B stored (K, N) needs a multiple of 16."""
    grid = warp_grid(M, N, threads // WARP, "wgmma", policy)
    if transposed or grid is None or N // grid[1] % 16 == 0:
        return None
    share = f"{N // grid[1]} columns a warp group (block_N {N} over {grid[1]})"
    return f"wgmma reads B stored (K, N) in multiples of 16 columns, not {share}; change block_N, or use layout NT"


def wgmma_registers(M: int, N: int, asked: int, launched: int, policy: str = "Square", left: int = 0) -> str | None:
    """The sums of one wgmma, 64 rows by what a warp group has of the columns, lie in its registers, with 26 more that ptxas wants, and
    `left` for a left operand that comes from registers too.

    ptxas goes by what each of `launched` threads gets at the launch, 65,536 among all of them, whatever setmaxnreg says later.
    """
    grid = warp_grid(M, N, asked // WARP, "wgmma", policy)
    if grid is None:
        return None
    share, given = N // grid[1], 65_536 // launched // 8 * 8
    columns = max((n for n in range(16, 257, 16) if share % n == 0), default=8)
    needed = columns // 2 + 26 + left
    if needed <= given:
        return None
    return f"a wgmma of {columns} columns needs {needed} registers a thread, and {launched} threads leave {given}; use fewer"


def specialized(num_stages: int, target: Target, config: Config) -> bool:
    """Whether TileLang may split a block into producers and consumers: Hopper and newer, in a pipelined loop."""
    return target.at_least(9) and num_stages >= 1 and not config.get("tl.disable_warp_specialized")


def producer_threads(copies: tuple[Copy, ...], threads: int, num_stages: int, target: Target, config: Config) -> int:
    """Threads that TileLang adds: a warp group when all copies go by TMA, as many again when only some do, else none."""
    if not specialized(num_stages, target, config) or not any(c.by_tma for c in copies):
        return 0
    return PRODUCER_THREADS if all(c.by_tma for c in copies) else threads


def odd_row(rows: int, copy: Copy, num_stages: int, producers: int, target: Target, config: Config) -> str | None:
    """cp.async moves at least 4 bytes, and TileLang 0.1.15 does not see that a single row of odd length ends in 2."""
    if rows > 1 or copy.stride % 4 == 0 or not uses_cp_async(num_stages, producers, target, config):
        return None
    one_row = f"the one row of {copy.tensor}, {copy.columns:,} elements of {copy.size} B"
    return f"cp.async cannot copy {one_row}: use num_stages 0, or an even length"


def uses_cp_async(num_stages: int, producers: int, target: Target, config: Config) -> bool:
    """Whether a pipelined loop waits on cp.async groups."""
    return target.at_least(8) and num_stages >= 1 and producers == 0 and config.get("tirx.use_async_copy", True)


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
