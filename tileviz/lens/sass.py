"""Finds the instructions that matter in SASS, as nvdisasm or cuobjdump print it."""

import re

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


def instructions(line: str) -> list[tuple[int, int, str]]:
    """(start, end, class) of the line's opcode, its suffixes included, or nothing."""
    match = _INSTRUCTION.match(line)
    if match is None or match[1] not in _CLASS:
        return []
    return [(match.start(1), match.end(2), _CLASS[match[1]])]
