"""PTX, and the instructions in it that matter, inline assembly included, by the opcode that opens each statement."""

import re

from tileviz.texts.base import Found, Reader, Text

# Tried from the top: a later line may be wider than an earlier one.
PATTERNS = (
    ("tensor_core", r"mma\.|wgmma\.mma_async|tcgen05\.mma|wmma\.mma"),
    ("barrier", r"cp\.async\.(?:commit_group|wait_group|wait_all|mbarrier)|cp\.async\.bulk\.(?:commit_group|wait_group)"),
    ("async_copy", r"cp\.async\.|cp\.reduce\.async\.|st\.async\.|st\.bulk\.|red\.async\."),
    ("matrix_load_store", r"ldmatrix\.|stmatrix\.|movmatrix\.|wmma\.(?:load|store)|tcgen05\.(?:ld|st|cp|shift)\."),
    ("register_realloc", r"setmaxnreg\.|tcgen05\.(?:alloc|dealloc|relinquish_alloc_permit)"),
    ("barrier", r"bar(?:rier)?\.|mbarrier\.|fence[.;]|membar\.|wgmma\.(?:fence|commit_group|wait_group)|tcgen05\.(?:fence|commit|wait)"),
    ("barrier", r"prefetch|griddepcontrol\.|tensormap\.cp_fenceproxy"),
    ("global_load", r"ld(?:\.volatile|\.weak|\.relaxed|\.acquire|\.mmio)?(?:\.(?:gpu|sys|cta|cluster))?\.global|ldu\.global"),
    ("global_store", r"st(?:\.volatile|\.weak|\.relaxed|\.release|\.mmio)?(?:\.(?:gpu|sys|cta|cluster))?\.global"),
    ("shared_load", r"ld(?:\.volatile|\.weak|\.relaxed|\.acquire)?(?:\.(?:gpu|sys|cta|cluster))?\.shared"),
    ("shared_store", r"st(?:\.volatile|\.weak|\.relaxed|\.release)?(?:\.(?:gpu|sys|cta|cluster))?\.shared"),
    ("spill", r"(?:ld|st)(?:\.volatile|\.weak)?\.local"),
    ("shuffle", r"shfl\.|redux\.|vote\.|match\.|elect\.|activemask"),
    ("special_function", r"ex2\.|lg2\.|sin\.|cos\.|tanh\.|rcp\.|sqrt\.|rsqrt\."),
    ("atomic", r"atom\.|red\."),
    ("branch", r"bra\b|brx\.|call\b|ret\b|exit\b"),
    ("trap", r"trap\b|brkpt\b"),
)

CLASSES_SHOWN = frozenset(cls for cls, _ in PATTERNS)

#   @%p1 bra $L__BB0_2;      { wgmma.mma_async.sync.aligned.m64n128k16.f32.f16.f16 ...      LAB_WAIT: mbarrier.try_wait ...
_OPCODE = re.compile(r"(?:^|[;{}:])\s*(?:@!?%?\w+\s+)?([a-z][a-z0-9_]*(?:[.:]+[\w]+)*)(?=[\s;{])")
_CLASSES = [(cls, re.compile(pattern)) for cls, pattern in PATTERNS]
_KNOWN: dict[str, str | None] = {}

# // begin inline asm    /* comment */
_COMMENT = re.compile(r"/\*.*?\*/|//[^\n]*", re.S)


def blank_comments(text: str) -> str:
    """The text with comments as spaces, so that columns stay."""
    return _COMMENT.sub(lambda match: re.sub(r"[^\n]", " ", match[0]), text)


def instructions(line: str) -> list[Found]:
    """(start, end, class) of each opcode of a class."""
    found = []
    for match in _OPCODE.finditer(line):
        cls = class_of(match[1])
        if cls:
            found.append((*match.span(1), cls))
    return found


def class_of(opcode: str) -> str | None:
    """The class of an opcode with its dots, such as `ld.global.nc.v4.f32`, or None."""
    if opcode not in _KNOWN:
        _KNOWN[opcode] = next((cls for cls, pattern in _CLASSES if pattern.match(opcode + ";")), None)
    return _KNOWN[opcode]


READER = Reader(
    prepare=blank_comments,
    find=instructions,
    classes=CLASSES_SHOWN,
    # .visible .entry gemm_kernel(
    begin=re.compile(r"^\.visible \.entry", re.M),
    # 	@%p1 bra 	$L__BB0_2;       add.s32 	%r2, %r1, 1;
    names=re.compile(r"(%[a-z]+)\d+|(\$L__\w*?)\d+(?:_\d+)?\b"),
    # 	@%p1 fma.rn.f32 	%f1, %f2, %f3, %f4;
    opcode=re.compile(r"\s*(?:\{\s*)?(?:@!?%?\w+\s+)?([a-z][a-z0-9_]*(?:\.\w+)+)(?=[\s;])"),
)

TEXTS = (
    Text(
        name="ptx",
        title="PTX",
        language="ptx",
        extension="ptx",
        file="kernel.ptx",
        reader=READER,
        made="compiled",
        make=lambda made: made.ptx(),
        targets="cuda",
    ),
)
