"""SASS, as nvdisasm or cuobjdump print it, and the instructions in it that matter."""

import re

from tileviz.texts.base import Found, Reader, Text

OPCODES = {
    "tensor_core": "HMMA IMMA QMMA DMMA BMMA OMMA HGMMA IGMMA QGMMA BGMMA UTCHMMA UTCIMMA UTCQMMA UTCOMMA UTCMXQMMA",
    "async_copy": "LDGSTS UTMALDG UTMASTG UTMAREDG UBLKCP UBLKRED STAS UTMAPF UBLKPF",
    "matrix_load_store": "LDSM STSM LDTM STTM MOVM UTCCP UTCSHIFT",
    "barrier": (
        "BAR UCGABAR_ARV UCGABAR_WAIT SYNCS ARRIVES WARPGROUP WARPGROUPSET WARPSYNC DEPBAR LDGDEPBAR UTCBAR UTMACMDFLUSH UTMACCTL CCTL"
        " CCTLL MEMBAR FENCE ERRBAR CGAERRBAR ACQBULK PREEXIT"
    ),
    "global_load": "LDG LD",
    "global_store": "STG ST",
    "shared_load": "LDS",
    "shared_store": "STS",
    "spill": "LDL STL",
    "shuffle": "SHFL REDUX CREDUX VOTE VOTEU MATCH ELECT",
    "special_function": "MUFU",
    "register_realloc": "USETMAXREG UTCATOMSWS",
    "atomic": "ATOM ATOMG ATOMS RED REDG REDAS UREDGR",
    "branch": "BRA BRX BRXU JMP JMX CALL RET EXIT BSSY BSYNC BREAK",
    "trap": "BPT",
}

CLASSES_SHOWN = frozenset(OPCODES)

#         /*0a30*/                   HGMMA.64x128x16.F32 R24, gdesc[UR8], R24, gsb0 ;
#         /*0150*/              @!P0 BRA `(.L_x_12) ;
# but not what never runs:                @!PT LDS RZ, [RZ] ;
_INSTRUCTION = re.compile(r"\s*/\*[0-9a-f]{4,}\*/\s+(?:\{\s*)?(?:@!?U?P[0-9]\s+)?([A-Z][A-Z0-9_]*)((?:\.\w+)*)")
_CLASS = {opcode: cls for cls, opcodes in OPCODES.items() for opcode in opcodes.split()}


def instructions(line: str) -> list[Found]:
    """(start, end, class) of the line's opcode, its suffixes included, or nothing."""
    match = _INSTRUCTION.match(line)
    if match is None or match[1] not in _CLASS:
        return []
    return [(match.start(1), match.end(2), _CLASS[match[1]])]


def narrow(sass: str) -> str:
    """SASS without the wide columns that nvdisasm pads with; line for line the same instructions."""
    return _PADDED.sub(lambda m: f"/*{m[1]}*/ {(m[2] or '').strip():>4} ", sass)


#         /*0150*/              @!P0 BRA `(.L_x_12) ;
_PADDED = re.compile(r"^[ \t]+/\*([0-9a-f]{4,})\*/[ \t]+(@!?U?P\w+[ \t]+)?", re.M)

READER = Reader(
    find=instructions,
    classes=CLASSES_SHOWN,
    # .text.gemm_kernel:        /*0000*/                   LDC R1, c[0x0][0x37c] ;
    begin=re.compile(r"^.*/\*0000\*/", re.M),
    #         /*0a30*/                   IMAD.MOV.U32 R1, RZ, RZ, c[0x0][0x28] ;      .L_x_12:
    names=re.compile(r"/\*[0-9a-f]{4,}\*/|(?<![\w.])(U?[RP]|B)\d+\b|(\.L_\w*?)\d+\b|\.reuse\b"),
    #         /*0150*/              @!P0 FFMA.FTZ R1, R2, R3, R4 ;
    opcode=re.compile(r"\s*/\*[0-9a-f]{4,}\*/\s+(?:\{\s*)?(?:@!?U?P\w+\s+)?([A-Z][A-Z0-9_]*(?:\.\w+)*)"),
)

TEXTS = (
    Text(
        name="sass",
        title="SASS",
        language="sass",
        extension="sass",
        file="kernel.sass",
        reader=READER,
        made="compiled",
        make=lambda made: made.sass(),
        targets="cuda",
        shown=narrow,
    ),
)
