"""The table of instructions: every example is read as the class that its row names, and every spelling finds its row."""

import pytest

from tileviz import lens
from tileviz.lens.classes import CLASSES, NAMES
from tileviz.lens.taxonomy import TAXONOMY, instruction
from tileviz.texts.sass import OPCODES


def classes(text: str, language: str) -> set[str]:
    return {name for name, count in lens.counts(text, language).items() if count}


@pytest.mark.parametrize("row", TAXONOMY, ids=lambda row: row.name)
def test_every_example_is_read_as_the_class_of_its_row(row):
    assert classes(f"        /*0a30*/                   {row.sass}", "sass") == {row.cls}
    assert classes(f"\t{row.ptx}", "ptx") == {row.cls}
    assert not row.cuda or classes(f"  {row.cuda}", "cuda") == {row.cls}


@pytest.mark.parametrize("row", TAXONOMY, ids=lambda row: row.name)
def test_every_example_finds_its_own_row(row):
    assert instruction(row.sass) is row and instruction(row.ptx) is row


def test_every_class_has_a_row_and_a_sentence():
    assert {row.cls for row in TAXONOMY} == set(NAMES)
    assert all(row.help.endswith(".") and row.help.count(".") >= 1 and row.since.startswith("sm_") for row in TAXONOMY)


def test_every_sentence_names_the_document_that_says_so():
    assert all(each.source.startswith("PTX ISA 9.0: ") and each.help.endswith(".") for each in (*TAXONOMY, *CLASSES))


def test_a_row_is_found_in_its_document_under_a_name_that_its_example_has():
    """Of instructions; the sections on local memory and control flow have names of their own."""
    named = [row for row in TAXONOMY if row.cls not in ("spill", "branch")]
    words = {row.name: row.source.removeprefix("PTX ISA 9.0: ").split(", ") for row in named}
    assert [row.name for row in named if not any(row.ptx.startswith(word) for word in words[row.name])] == []


@pytest.mark.parametrize("opcode", ["UTMAPF", "UBLKPF", "CCTL", "MEMBAR", "ERRBAR", "ACQBULK", "STAS"])
def test_a_rare_opcode_without_a_row_is_none_or_of_its_own_class(opcode):
    row = instruction(f"{opcode}.X R1 ;")
    assert row is None or opcode in OPCODES[row.cls].split()


@pytest.mark.parametrize("spelling", ["", "FFMA R1, R2, R3, R4 ;", "add.s32 %r1, %r2, %r3;", "BARRIER ;", "LDGX ;"])
def test_what_is_no_instruction_of_the_table_is_none(spelling):
    assert instruction(spelling) is None


def test_a_longer_beginning_wins():
    assert instruction("cp.async.bulk.wait_group.read 0;").name == "wait for copies"
    assert instruction("wgmma.mma_async.sync.aligned.m64n128k16.f32.f16.f16").name == "wgmma"
