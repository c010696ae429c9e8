"""What a kernel's code should have and has, or has not, each with the reason. Texts and numbers in, records out."""

import re
from dataclasses import dataclass, field
from typing import Any

from tileviz.lens.executed import opcodes
from tileviz.lens.indices import indices
from tileviz.lens.listing import Listing, listing
from tileviz.lens.loops import loops_of
from tileviz.lens.stops import stops

DTYPE_BYTES = {"float16": 2, "bfloat16": 2, "float32": 4, "float64": 8, "int8": 1, "uint8": 1, "int32": 4}

# wgmma reads B as (K, N) for 16-bit types only (PTX ISA, wgmma: transposition of operands).
_K_MAJOR_ONLY = ("int8", "uint8", "float32")

ROW_UNIT_BYTES = 16
"""TMA needs row strides of a multiple of this, cp.async addresses of it (CUDA programming guide, asynchronous copies)."""


@dataclass(frozen=True)
class Code:
    """The texts of an artifact with what they were made from."""

    target: str
    capability: tuple[int, int]
    source: str
    """CUDA, or C for the CPU target."""
    ptx: str | None = None
    sass: str | None = None
    missing: dict[str, str] = field(default_factory=dict)
    tensors: tuple[dict[str, Any], ...] = ()
    """{"name", "shape", "dtype"} of the program's arguments."""
    problem: dict[str, Any] = field(default_factory=dict)
    config: dict[str, Any] = field(default_factory=dict)
    program: str = ""
    """The tile program as text: what it asks for."""
    spill_bytes: int | None = None
    threads_launched: int | None = None
    serialized: str | None = None
    """Why ptxas lets no wgmma run on, "" where it does, None where that is not known."""


@dataclass(frozen=True)
class Check:
    """One line of the list: detected or not, and what that means."""

    name: str
    title: str
    found: bool | None
    """None when the text that would tell is missing."""
    tone: str
    """`good`, `bad`, or `plain` where neither is better."""
    reason: str

    @property
    def words(self) -> str:
        return "not known" if self.found is None else "detected" if self.found else "not detected"


def checks(code: Code) -> tuple[Check, ...]:
    """Every check for this code, in the order in which a reader asks; of C, which has no GPU instructions, those of its indices."""
    view = _View(code)
    each = (
        *(_tensor_cores, _instruction, _narrow_wgmma, _async_copy, _ldmatrix, _wide_access, _register_realloc, _serialized),
        *(_unrolled_producer, _spills, _traps, _index_width),
    )
    return tuple(check for check in (make(view) for make in (each if code.target != "cpu" else (_index_width,))) if check is not None)


class _View:
    """The best text there is, read once: SASS, else PTX, else the source."""

    def __init__(self, code: Code) -> None:
        self.code = code
        self.language, text = next(((name, text) for name, text in (("sass", code.sass), ("ptx", code.ptx)) if text), ("cuda", code.source))
        self.read: Listing = listing(text, self.language)
        self.counts = self.read.counts
        self.products = opcodes(self.read, "tensor_core")
        self.copies = opcodes(self.read, "async_copy")
        self.asks_products = bool(re.search(r"\bT\.\w*gemm\w*\(", code.program))
        self.asks_pipeline = bool(re.search(r"\bT\.Pipelined\(", code.program))

    def named(self, found: dict[str, int]) -> str:
        """`HGMMA.64x128x16.F32: 8`, the first three."""
        words = [f"{name}: {count:,}" for name, count in list(found.items())[:3]]
        more = len(found) - len(words)
        return ", ".join(words) + (f" and {more} more" if more > 0 else "")

    @property
    def wanted(self) -> tuple[str, str]:
        """The family and 16-bit opcode that the architecture is built for."""
        return EXPECTED.get(self.code.capability[0], ("mma.sync", "HMMA"))

    @property
    def family(self) -> str:
        """`wgmma`, `tcgen05`, `mma.sync` or none."""
        names = " ".join(self.products)
        for family, pattern in _FAMILIES:
            if re.search(pattern, names):
                return family
        return ""


# HGMMA.64x64x16    wgmma.mma_async.sync...    wgmma_ss
_FAMILIES = (
    ("tcgen05", r"\bUTC\w*MMA|\btcgen05"),
    ("wgmma", r"\b[HIQB]GMMA|\bwgmma"),
    ("mma.sync", r"\b[HIQDBO]MMA|\bw?mma[._]|\bsm120_mma"),
)

EXPECTED = {9: ("wgmma", "HGMMA"), 10: ("tcgen05", "UTCHMMA"), 11: ("tcgen05", "UTCHMMA")}
"""By major compute capability: the matrix product that the architecture is built for, and its 16-bit SASS opcode. Others have mma.sync."""


def _tensor_cores(view: _View) -> Check | None:
    title = "Tensor cores"
    if view.products:
        tone = "good" if view.family == view.wanted[0] else "plain"
        return Check("tensor_core", title, True, tone, f"{view.named(view.products)} (static)")
    if not view.asks_products:
        return Check("tensor_core", title, False, "plain", "the tile program calls no T.gemm")
    return Check("tensor_core", title, False, "bad", _why_scalar(view))


def _why_scalar(view: _View) -> str:
    dtype, (major, _) = _dtype(view.code), view.code.capability
    if dtype == "bfloat16" and major < 8:
        return f"{view.code.target} has no bfloat16 products: they run as scalar FFMA"
    if dtype == "float32" and major < 8:
        return f"{view.code.target} has no TF32: float32 products run as scalar FFMA"
    return f"T.gemm became scalar arithmetic for {dtype or 'this dtype'}"


def _instruction(view: _View) -> Check | None:
    """Whether the products are those that the architecture is built for."""
    if not view.products:
        return None
    wanted, opcode = view.wanted
    opcode = _opcode(opcode, _dtype(view.code))
    title = f"{wanted} on {view.code.target}"
    first = next(iter(view.products))
    got = first.split(".")[0]
    if view.family != wanted:
        return Check("instruction", title, False, "bad", f"expected {opcode}, got {got}: {_why_another(view.code)}")
    if view.language == "sass" and got != opcode:
        return Check(
            "instruction", title, False, "bad", f"expected {opcode}, got {got}: {_dtype(view.code)} is converted before the product"
        )
    if _HALF_DEEP.match(first) and view.code.capability >= (8, 0):
        return Check("instruction", title, False, "bad", f"{first} does half the work of HMMA.16816: give a depth that is a multiple of 16")
    return Check("instruction", title, True, "good", "as this architecture should give")


# HMMA.1688.F32, HMMA.1688.F32.BF16, but not HMMA.1688.F32.TF32, which has no deeper form that TileLang uses
_HALF_DEEP = re.compile(r"HMMA\.1688\.(?!.*TF32)")


def _opcode(opcode: str, dtype: str) -> str:
    letter = "Q" if dtype.startswith("float8") else "I" if dtype in ("int8", "uint8") else "D" if dtype == "float64" else "H"
    return opcode.replace("H", letter, 1)


# HGMMA.64x8x16.F32    wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16
_NARROW = re.compile(r"GMMA\.64x8x|\bm64n8k")


def _narrow_wgmma(view: _View) -> Check | None:
    """Products of 8 columns: TileLang falls back on them where the columns of a warp group are no multiple of 16."""
    found = {name: count for name, count in view.products.items() if _NARROW.search(name)}
    if not found:
        return None
    return Check(
        "narrow_wgmma",
        "wgmma of 8 columns",
        True,
        "bad",
        f"{view.named(found)}: most of the tensor core idles; give each warp group columns in a multiple of 16",
    )


def _why_another(code: Code) -> str:
    if code.capability[0] in (10, 11):
        return "T.gemm becomes mma.sync there, made for older architectures and far slower; tcgen05.mma needs T.tcgen05_gemm"
    dtype, config = _dtype(code), code.config
    if config.get("tl.disable_wgmma"):
        return "tl.disable_wgmma is set"
    if code.problem.get("layout") == "NN" and (dtype.startswith("float8") or dtype in _K_MAJOR_ONLY):
        return f"B is not K-major, and wgmma takes {dtype} operands K-major only: use layout NT"
    if isinstance(config.get("block_M"), int) and config["block_M"] < 64:
        return f"a warp group multiplies 64 rows at least, and block_M is {config['block_M']}"
    if isinstance(config.get("threads"), int) and config["threads"] % 128:
        return f"{config['threads']} threads are no whole warp groups of 128"
    return "TileLang chose another instruction for this tile"


# UTMALDG.2D    UBLKCP    cp.async.bulk.tensor.2d.shared::cluster.global    tma_load
_TMA_LOAD = r"\bUTMALDG|\bUBLKCP|\bcp\.async\.bulk\S*\.shared\S*\.global|\btma_load"

NO_TMA = "; none is a load by TMA, which one thread starts for a whole tile: here each thread copies its part"


def _async_copy(view: _View) -> Check:
    title = "TMA or cp.async" if view.code.capability >= (9, 0) else "cp.async"
    if view.copies:
        slow = _bad_strides(view.code)
        only = f"; partly: {slow}" if slow else ""
        by_tma = any(re.search(_TMA_LOAD, name) for name in view.copies)
        tone = "good" if by_tma or view.code.capability < (9, 0) else "plain"
        return Check("async_copy", title, True, tone, f"{view.named(view.copies)} (static){only or ('' if tone == 'good' else NO_TMA)}")
    if view.code.capability < (8, 0):
        return Check("async_copy", title, False, "plain", f"{view.code.target} has no asynchronous copy")
    if not view.asks_pipeline:
        return Check("async_copy", title, False, "plain", "the tile program has no T.Pipelined loop")
    slow = _bad_strides(view.code)
    if slow:
        return Check("async_copy", title, False, "bad", f"no async copy: {slow}")
    if view.code.config.get("num_stages") == 0:
        return Check("async_copy", title, False, "plain", "num_stages is 0: tiles go through registers")
    return Check("async_copy", title, False, "bad", "tiles are copied by the threads themselves")


def _bad_strides(code: Code) -> str:
    """Which tensors an asynchronous copy cannot take: `row stride of A is 2,002 B, no multiple of 16`."""
    bad: dict[int, list[str]] = {}
    for tensor in code.tensors[:-1]:  # the last is the output
        shape, size = tensor["shape"], _bytes(tensor["dtype"])
        if len(shape) > 1 and isinstance(shape[-1], int) and size and shape[-1] * size % ROW_UNIT_BYTES:
            bad.setdefault(shape[-1] * size, []).append(tensor["name"])
    return "; ".join(
        f"row stride of {' and '.join(names)} is {stride:,} B, no multiple of {ROW_UNIT_BYTES}{_padded(stride, names, code)}"
        for stride, names in bad.items()
    )


def _padded(stride: int, names: list[str], code: Code) -> str:
    tensor = next(t for t in code.tensors if t["name"] == names[0])
    size, length = _bytes(tensor["dtype"]), tensor["shape"][-1]
    unit = ROW_UNIT_BYTES // size
    return f" (pad rows of {length:,} to {-(-length // unit) * unit:,})"


def _ldmatrix(view: _View) -> Check | None:
    if not view.products:
        return None
    count = view.counts.get("matrix_load_store", 0)
    if count:
        return Check("ldmatrix", "ldmatrix, stmatrix", True, "good", f"{view.named(opcodes(view.read, 'matrix_load_store'))} (static)")
    if view.family in ("wgmma", "tcgen05"):
        return Check("ldmatrix", "ldmatrix, stmatrix", False, "plain", f"{view.family} reads its operands from shared memory itself")
    return Check("ldmatrix", "ldmatrix, stmatrix", False, "plain", "operands are loaded from shared memory one register at a time")


def _wide_access(view: _View) -> Check | None:
    """How wide global memory is read and written by the threads."""
    if view.language != "sass":
        return None
    found = opcodes(view.read, "global_load", "global_store")
    total = sum(found.values())
    if not total:
        return Check("wide_access", "128-bit global accesses", False, "plain", "the threads do not touch global memory themselves")
    wide = sum(count for name, count in found.items() if re.search(r"\.(128|256)\b", name))
    return Check("wide_access", "128-bit global accesses", bool(wide), "plain", f"{wide:,} of {total:,} ({view.named(found)})")


def _register_realloc(view: _View) -> Check | None:
    threads, launched = view.code.config.get("threads"), view.code.threads_launched
    has = view.counts.get("register_realloc", 0)
    if has:
        return Check("register_realloc", "Register reallocation", True, "good", view.named(opcodes(view.read, "register_realloc")))
    if not (isinstance(threads, int) and launched and launched > threads):
        return None
    more = launched - threads
    words = f"{more:,} of {launched:,} threads only copy, and none gives registers up: TileLang put no setmaxnreg for these warp groups"
    return Check("register_realloc", "Register reallocation", False, "plain", words)


def _unrolled_producer(view: _View) -> Check | None:
    """A loop over tiles whose TMA loads are written out: the counts then are of the whole loop."""
    loads = sum(count for name, count in view.copies.items() if "UTMALDG" in name)
    if view.language != "sass" or not loads:
        return None
    in_loops = sum(count for loop in loops_of(view.read) if loop.depth == 0 for name, count in loop.opcodes.items() if "UTMALDG" in name)
    calls = len(re.findall(r"\btl::tma_load\w*(?:<[^()]*>)?\(", view.code.source))
    unrolled = loads - in_loops > 2 * calls > 0
    words = f"{loads:,} UTMALDG for {calls} tma_load call{'s' * (calls != 1)}, {in_loops:,} in loops"
    return Check("unrolled_producer", "Producer loop unrolled", unrolled, "plain", words)


def _serialized(view: _View) -> Check | None:
    why = view.code.serialized
    if view.family != "wgmma" or why is None:
        return None
    if why:
        reason = f"ptxas waits for every wgmma before it goes on, so nothing runs beside it: {why}"
        return Check("serialized", "Serialized wgmma", True, "bad", reason)
    return Check("serialized", "Serialized wgmma", False, "good", "ptxas lets a wgmma run on beside other work")


def _spills(view: _View) -> Check:
    count, size = view.counts.get("spill", 0), view.code.spill_bytes
    if size or (view.language == "sass" and count):
        told = f"{size:,} B a thread" if size else "the size is not known"
        return Check(
            "spills", "Spills", True, "bad", f"{told}, {count:,} loads and stores: a smaller tile or more threads need fewer registers"
        )
    if size is None and view.language != "sass":
        return Check("spills", "Spills", None, "plain", _no_sass(view.code))
    return Check("spills", "Spills", False, "good", "every value stays in registers")


def _traps(view: _View) -> Check:
    if words := stops(view.code.ptx or "", view.code.target):
        return Check("traps", "Code that traps", True, "bad", words)
    count = view.counts.get("trap", 0)
    if view.language == "cuda":
        return Check("traps", "Code that traps", None, "plain", _no_sass(view.code))
    if not count:
        return Check("traps", "Code that traps", False, "good", "no path ends the kernel")
    if view.family == "tcgen05":
        return Check("traps", "Code that traps", True, "plain", f"{count:,} guards of tensor memory, as every tcgen05 kernel has")
    return Check(
        "traps",
        "Code that traps",
        True,
        "bad",
        f"{count:,} traps: a path that the program must not take; running it ends the CUDA context",
    )


def _index_width(view: _View) -> Check | None:
    """Nothing to tell where 32 bits count every element."""
    found, title = indices(view.code.source, view.code.tensors), "Indices past 32 bits"
    if found.wrapped:
        first, *more = found.wrapped
        text = first.text if len(first.text) <= 60 else first.text[:59] + "…"
        where = f"line {first.line:,}, `{text}`" + (f", and {len(more):,} more" if more else "")
        why = "a constant index past 32 bits came out negative, so other memory is touched (tile-ai/tilelang#2560)"
        return Check("index_width", title, True, "bad", f"{where}: {why}")
    if not found.large:
        return None
    large = " and ".join(f"{tensor.name} has {tensor.elements:,} elements" for tensor in found.large)
    return Check("index_width", title, True, "plain", f"{large}: TileLang counts in 64 bits where an index may pass 32")


def _no_sass(code: Code) -> str:
    return code.missing.get("sass") or "there is no SASS"


def _dtype(code: Code) -> str:
    return str(code.tensors[0]["dtype"]) if code.tensors else str(code.problem.get("dtype", ""))


def _bytes(dtype: str) -> int:
    return 1 if dtype.startswith("float8") else DTYPE_BYTES.get(dtype, 0)
