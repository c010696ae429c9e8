"""Opcodes of SASS, as nvdisasm and cuobjdump print them."""

import pytest

from tileviz import lens


def only(line: str) -> tuple[str, str] | None:
    hits = lens.listing(line, "sass").lines[0].hits
    return (line[hits[0].start : hits[0].end], hits[0].cls) if hits else None


@pytest.mark.parametrize(
    "text, cls",
    [
        ("HMMA.884.F32.F32.STEP0", "tensor_core"),
        ("HMMA.1688.F32.TF32", "tensor_core"),
        ("HMMA.16816.F32", "tensor_core"),
        ("IMMA.16832.S8.S8", "tensor_core"),
        ("QMMA.16832.F32.E4M3.E4M3", "tensor_core"),
        ("HGMMA.64x128x16.F32", "tensor_core"),
        ("QGMMA.64x128x32.F32.E4M3.E4M3", "tensor_core"),
        ("IGMMA.64x128x32.S8.S8", "tensor_core"),
        ("UTCHMMA", "tensor_core"),
        ("LDGSTS.E.BYPASS.128", "async_copy"),
        ("UTMALDG.4D", "async_copy"),
        ("UTMASTG.2D", "async_copy"),
        ("UTMAREDG.2D.ADD", "async_copy"),
        ("LDSM.16.M88.4", "matrix_load_store"),
        ("STSM.16.MT88.4", "matrix_load_store"),
        ("LDTM.x64", "matrix_load_store"),
        ("WARPGROUP.ARRIVE", "barrier"),
        ("SYNCS.PHASECHK.TRANS64.TRYWAIT", "barrier"),
        ("LDGDEPBAR", "barrier"),
        ("UTCBAR", "barrier"),
        ("UTMACCTL.PF", "barrier"),
        ("LDG.E.64.CONSTANT", "global_load"),
        ("STG.E.128", "global_store"),
        ("LDS.U8", "shared_load"),
        ("STS.U16", "shared_store"),
        ("LDL.64", "spill"),
        ("STL", "spill"),
        ("SHFL.BFLY", "shuffle"),
        ("MUFU.EX2", "special_function"),
        ("USETMAXREG.DEALLOC.CTAPOOL", "register_realloc"),
        ("UTCATOMSWS.FIND_AND_SET.ALIGN", "register_realloc"),
        ("REDG.E.ADD.F32.FTZ.RN.STRONG.GPU", "atomic"),
        ("ATOMS.OR", "atomic"),
        ("BRA.DIV", "branch"),
        ("EXIT", "branch"),
        ("BPT.TRAP", "trap"),
    ],
)
def test_an_opcode_has_its_class_with_and_without_a_predicate(text, cls):
    assert only(f"        /*0a30*/                   {text} R24, [R2] ;") == (text, cls)
    assert only(f"        /*0a30*/              @!P0 {text} R24 ;") == (text, cls)
    assert only(f"        /*1a30*/              @UP1 {text} R24 ;    /* 0x0000000402007981 */") == (text, cls)


@pytest.mark.parametrize(
    "line",
    [
        "        /*0cf0*/              @!PT LDS RZ, [RZ] ;",
        "        /*0cf0*/                   IMAD R1, R2, R3, R4 ;",
        ".L_x_12:",
        ".text.HMMA_kernel:",
        "//--------------------- .text.gemm_kernel          --------------------------",
        "                                                   /* 0x000fe200000000ff */",
    ],
)
def test_what_never_runs_or_is_no_instruction_is_not_counted(line):
    assert only(line) is None
