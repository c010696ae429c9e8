"""Diffs of real code: names do not count, changed counts come first, nothing is lost."""

from pathlib import Path

import pytest

from tileviz.lens.diff import Change, Row, diff, unified

CASES = Path(__file__).parent / "cases"


def text(case: str, file: str = "kernel.sass") -> str:
    return (CASES / case / file).read_text()


def test_registers_labels_and_addresses_do_not_count():
    left = ".L_x_1:\n        /*0a30*/                   IADD3 R4, R5, UR6, RZ ;\n        /*0a40*/              @!P0 BRA `(.L_x_1) ;"
    right = (
        ".L_x_7:\n        /*0b30*/                   IADD3 R14, R15.reuse, UR7, RZ ;\n        /*0b40*/              @!P3 BRA `(.L_x_7) ;"
    )
    assert diff(left, right, "sass").is_same


def test_ptx_names_do_not_count_but_constants_do():
    left, right = "\tadd.s32 \t%r2, %r1, 1;\n@%p1 bra \t$L__BB0_2;", "\tadd.s32 \t%r9, %r8, 2;\n@%p3 bra \t$L__BB0_4;"
    assert [row.kind for row in diff(left, right, "ptx").rows] == ["changed", "same"]


def test_an_opcode_is_aligned_with_its_own_kind():
    left = "        /*0000*/  MOV R1, 0x1 ;\n        /*0010*/  HGMMA.64x128x16.F32 R24, gdesc[UR8], R24 ;"
    right = "        /*0000*/  HGMMA.64x128x16.F32 R24, gdesc[UR8], R24, gsb0 ;"
    assert diff(left, right, "sass").rows == (Row(1, 0, "removed"), Row(2, 1, "changed"))


def test_changed_counts_say_what_went_and_what_came():
    left = "        /*0000*/  HGMMA.64x128x16 R24, gdesc[UR8], R24 ;\n" * 16 + "        /*0000*/  FFMA R1, R2, R3, R4 ;"
    right = "        /*0000*/  HGMMA.64x32x16 R24, gdesc[UR8], R24 ;\n" * 48
    assert [change.words for change in diff(left, right, "sass").changes] == ["+48 HGMMA.64x32x16", "-16 HGMMA.64x128x16", "-1 FFMA"]
    assert diff(left, right, "sass").changes[1] == Change("HGMMA.64x128x16", "tensor_core", 16, 0)


@pytest.mark.parametrize("file, language", [("kernel.sass", "sass"), ("kernel.ptx", "ptx"), ("source.cu", "cuda")])
@pytest.mark.parametrize(
    "left, right", [("gemm_sm_80", "gemm_sm_90a"), ("attention_sm_90a", "attention_sm_100a"), ("gemm_sm_80", "gemm_sm_80")]
)
def test_every_line_of_both_texts_stands_in_the_rows_once_and_in_order(left, right, file, language):
    a, b = text(left, file), text(right, file)
    rows = diff(a, b, language).rows
    assert [row.left for row in rows if row.left] == list(range(1, a.count("\n") + 2))
    assert [row.right for row in rows if row.right] == list(range(1, b.count("\n") + 2))
    assert all((row.left == 0) == (row.kind == "added") and (row.right == 0) == (row.kind == "removed") for row in rows)


def test_two_architectures_of_one_config_differ_in_what_matters():
    words = [change.words for change in diff(text("gemm_sm_80"), text("gemm_sm_90a"), "sass").changes]
    assert {"-256 HMMA.16816.F32", "+32 HGMMA.64x64x16.F32", "-128 LDSM.16.M88.4", "+32 UTMALDG.2D"} <= set(words)
    assert "MMA" in words[0] and "MMA" in words[1]


def test_a_text_against_itself_changes_nothing():
    found = diff(text("gemm_sm_80"), text("gemm_sm_80"), "sass")
    assert found.is_same and found.changes == () and unified(text("gemm_sm_80"), text("gemm_sm_80"), found.rows) == ""


def test_the_unified_text_has_lines_of_both_and_little_around():
    left, right = "\n".join(f"line {n};" for n in range(40)), "\n".join(f"line {n};" if n != 20 else "another;" for n in range(40))
    shown = unified(left, right, diff(left, right, "cuda").rows).split("\n")
    assert shown == [
        "@@ line 18 and 18 @@",
        " line 17;",
        " line 18;",
        " line 19;",
        "-line 20;",
        "+another;",
        " line 21;",
        " line 22;",
        " line 23;",
    ]


def test_five_thousand_lines_are_aligned():
    a, b = text("gemm_sm_80") * 7, text("gemm_sm_90a") * 5
    assert not diff(a, b, "sass").is_same
