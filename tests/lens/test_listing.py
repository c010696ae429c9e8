"""Every case of cases/ reads as its golden file says; the goldens were counted by hand against grep before they were kept."""

import json
from collections import Counter
from pathlib import Path

import pytest

from tileviz import lens
from tileviz.errors import UnknownName

CASES = sorted(path for path in (Path(__file__).parent / "cases").iterdir() if path.is_file() and path.suffix != ".json")
LANGUAGE_OF = {".cu": "cuda", ".c": "c", ".ptx": "ptx", ".sass": "sass"}


def read(name: str) -> lens.Listing:
    path = Path(__file__).parent / "cases" / name
    return lens.listing(path.read_text(), LANGUAGE_OF[path.suffix])


@pytest.mark.parametrize("case", CASES, ids=lambda path: path.name)
def test_a_case_reads_as_its_golden_file_says(case):
    golden = json.loads(case.with_name(case.name + ".json").read_text())
    found = read(case.name)
    assert found.counts == golden["counts"]
    assert Counter(line.text[hit.start : hit.end] for line in found.lines for hit in line.hits) == golden["instructions"]


@pytest.mark.parametrize("case", CASES, ids=lambda path: path.name)
def test_counts_are_those_of_the_listing_and_lines_are_the_text(case):
    text, language = case.read_text(), LANGUAGE_OF[case.suffix]
    found = lens.listing(text, language)
    assert lens.counts(text, language) == found.counts
    assert "\n".join(line.text for line in found.lines) == text
    assert [line.number for line in found.lines] == list(range(1, len(found.lines) + 1))
    assert sum(found.counts.values()) == sum(len(line.hits) for line in found.lines)


@pytest.mark.parametrize("case", CASES, ids=lambda path: path.name)
def test_hits_of_a_line_are_in_order_and_do_not_overlap(case):
    for line in read(case.name).lines:
        ends = [0, *(hit.end for hit in line.hits)]
        assert all(start >= end for start, end in zip([hit.start for hit in line.hits], ends, strict=False)), line


def test_the_volta_text_has_three_products_no_ldmatrix_and_no_async_copy():
    counts = read("sm70_gemm.cu").counts
    assert (counts["tensor_core"], counts["matrix_load_store"], counts["async_copy"]) == (3, 0, 0)


def test_attention_on_hopper_has_sixteen_products_eight_for_each_gemm():
    assert read("sm90a_attention.sass").counts["tensor_core"] == 16
    assert {
        line.text[hit.start : hit.end] for line in read("sm90a_attention.cu").lines for hit in line.hits if hit.cls == "tensor_core"
    } == {
        "wgmma_ss",
        "wgmma_rs",
    }


def test_static_counts_of_the_same_gemm_differ_by_how_it_was_unrolled():
    assert read("sm90a_gemm.sass").counts["tensor_core"] == 8 and read("sm90a_gemm.sass").counts["async_copy"] == 64
    assert read("sm80_gemm.sass").counts["tensor_core"] == 192


def test_one_tma_store_is_not_three():
    assert read("sm100a_tcgen05.cu").counts["async_copy"] == 3, "two loads and one store; tma_store_arrive and tma_store_wait are waits"


def test_counts_name_only_classes_that_the_language_can_show_in_their_order():
    assert "branch" not in lens.counts("", "cuda") and "branch" in lens.counts("", "sass")
    for language in lens.LANGUAGES:
        order = [each.name for each in lens.CLASSES]
        assert list(lens.counts("", language)) == [name for name in order if name in lens.counts("", language)]


def test_an_unknown_language_says_which_there_are():
    with pytest.raises(UnknownName, match="known: c, cuda, ptx, sass"):
        lens.listing("", "fortran")


@pytest.mark.parametrize("language, case", [("sass", "sm90a_attention.sass"), ("ptx", "sm90a_gemm.ptx"), ("cuda", "sm80_gemm.cu")])
def test_five_thousand_lines_are_read_line_by_line(language, case):
    lines = (Path(__file__).parent / "cases" / case).read_text().splitlines()
    text = "\n".join((lines * (5000 // len(lines) + 1))[:5000])
    assert len(lens.listing(text, language).lines) == 5000
