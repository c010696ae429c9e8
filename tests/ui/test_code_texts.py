"""Texts, links, differences and tables of the Code page, without a page."""

import io
import zipfile
from dataclasses import replace

import pytest

from tests.ui import code_examples
from tileviz import kernels, lens
from tileviz.engine.ladder import Rung
from tileviz.lens.diff import Row
from tileviz.lens.opening import program_row
from tileviz.ui.charts import tiles
from tileviz.ui.codeview import evidence, lowering, panes, rows, rungs, texts
from tileviz.ui.parts import script
from tileviz.ui.parts.codepane import MARKS, Text
from tileviz.ui.parts.extract import numbered

GEMM = kernels.kernel("gemm")


@pytest.fixture(scope="module")
def artifact():
    return code_examples.artifact()


def pairs(view: texts.View) -> set[tuple[int, int]]:
    return set(zip(view.links[::2], view.links[1::2], strict=True))


def test_every_text_has_a_view_and_the_python_one_has_the_lines_of_its_file(artifact):
    views = {title: texts.view(artifact, GEMM, title) for title in texts.titles(artifact)}
    assert list(views) == ["Python", "IR", "CUDA", "PTX", "SASS"]
    python = views["Python"]
    shown = dict(zip(python.numbers, python.text.split("\n"), strict=True))
    source = GEMM.source.split("\n")
    assert all(source[number - 1].removesuffix("  # fmt: skip") == text for number, text in shown.items() if number)
    assert "fmt:" not in python.text and "fmt: skip" in GEMM.source
    assert "@T.prim_func" in shown[python.top]


def test_every_text_opens_at_its_main_loop_or_first_product(artifact):
    views = {title: texts.view(artifact, GEMM, title) for title in ("CUDA", "PTX", "SASS")}
    opened = {title: view.text.split("\n")[view.top - 1] for title, view in views.items()}
    assert opened["CUDA"].strip().startswith("for (int k_1")
    assert "wgmma.mma_async" in opened["PTX"] and "HGMMA" in opened["SASS"]
    lowered = "@I.ir_module\nclass Module:\n    @T.prim_func\n    def gemm_kernel(A):\n        pass"
    assert texts.view(replace(artifact, ir=lowered), GEMM, "IR").top == 3


@pytest.mark.parametrize("name", kernels.names())
def test_the_program_of_every_kernel_opens_at_its_tiles(name):
    lines = script.program_source(kernels.kernel(name)).split("\n")
    at = program_row("\n".join(lines))
    assert lines[at - 1].strip() in ("@T.prim_func", "@T.macro") and "T.Kernel(" in "\n".join(lines[at - 1 : at + 14])


def test_words_for_formatters_are_hidden_and_links_still_meet(artifact):
    folded = replace(artifact, program=GEMM.source.replace("    transpose_B = ", "    # fmt: off\n    transpose_B = "))
    view = texts.view(folded, GEMM, "Python")
    assert folded.program != GEMM.source and "fmt:" not in view.text
    shown = dict(zip(view.numbers, view.text.split("\n"), strict=True))
    source = folded.program.split("\n")
    assert all(source[number - 1].startswith(text) for number, text in shown.items() if number)


def test_a_step_goes_to_the_next_text_that_there_is_and_around_the_end(artifact, monkeypatch):
    monkeypatch.setattr(panes.st, "session_state", {})
    there = texts.there(replace(artifact, ptx=None))
    assert there == ["Python", "IR", "CUDA", "SASS"]
    for shown, by, then in (("CUDA", 1, "SASS"), ("SASS", 1, "Python"), ("Python", -1, "SASS")):
        panes.next_text("right", there, shown)(by)
        assert panes.st.session_state["right"] == then


def test_a_text_that_the_browser_has_is_not_sent_again(artifact):
    text = Text("a\nb", "ptx", "PTX", "k.ptx", spans=((1, 0, 1, 0),), links=(1, 1), tips={"a": "A sentence."})
    assert {name for name, value in text.sent(known=True).items() if value is None} == {"text", "spans", "links", "numbers", "marks", "top"}
    assert text.sent(known=False)["spans"] == [(1, 0, 1, 0)] and text.sent(known=True)["tips"] == {"a": "A sentence."}
    assert text.sha != replace(text, links=(1, 2)).sha


def test_links_meet_at_the_cuda_line(artifact):
    gemm = code_examples.line_with(GEMM.source, "T.gemm(")
    python, cuda, sass = (texts.view(artifact, GEMM, title) for title in ("Python", "CUDA", "SASS"))
    row = python.numbers.index(gemm) + 1
    keys = {key for at, key in pairs(python) if at == row}
    assert ["wgmma_ss" in cuda.text.split("\n")[key - 1] for key in keys] == [True]
    lines = sass.text.split("\n")
    lit = [lines[at - 1] for at, key in pairs(sass) if key in keys]
    assert len(lit) == 32 and all("HGMMA" in line for line in lit)


def test_a_text_without_line_information_says_so(artifact):
    assert texts.view(artifact, GEMM, "IR").note == "no line information"
    assert texts.view(artifact, GEMM, "SASS").note == ""
    old = replace(artifact, lines={}, program=None)
    assert {texts.view(old, GEMM, title).note for title in texts.titles(old)} == {"no line information"}
    assert texts.view(old, GEMM, "Python").text.count("\ndef program(") == 1


def test_a_missing_text_says_why(artifact):
    without = replace(artifact, sass=None, missing={"sass": "nvdisasm not found: pip install nvidia-cuda-nvdisasm"})
    view = texts.view(without, GEMM, "SASS")
    assert view.text is None and "pip install nvidia-cuda-nvdisasm" in view.missing
    assert "made without IR" in texts.view(replace(artifact, ir=None), GEMM, "IR").missing


def test_narrow_sass_keeps_every_line_and_every_instruction(artifact):
    narrow = texts.narrow(artifact.sass)
    assert narrow.count("\n") == artifact.sass.count("\n") and len(narrow) < 0.8 * len(artifact.sass)
    assert lens.counts(narrow, "sass") == lens.counts(artifact.sass, "sass")
    assert [" ".join(line.split()) for line in narrow.split("\n")] == [" ".join(line.split()) for line in artifact.sass.split("\n")]


def test_the_zip_has_every_text_as_the_tools_wrote_it(artifact):
    packed = zipfile.ZipFile(io.BytesIO(texts.archive(replace(artifact, cubin=b"\x7fELF"), GEMM)))
    assert sorted(packed.namelist()) == [f"gemm_sm_90a.{end}" for end in ("cu", "cubin", "ptx", "py", "sass", "tir")]
    assert packed.read("gemm_sm_90a.sass").decode() == artifact.sass
    assert packed.read("gemm_sm_90a.py").decode() == GEMM.source


def test_numbered_definitions_show_a_gap_as_no_line():
    found = numbered("A = 1\nB = 2\n\n\ndef program():\n    return A\n", ("program",))
    assert found == ((1, "A = 1"), (0, ""), (5, "def program():"), (6, "    return A"))


def test_a_difference_becomes_two_columns_of_one_length():
    changed = [Row(1, 1, "same"), Row(2, 0, "removed"), Row(0, 2, "added"), Row(3, 3, "changed")]
    left = rows.column(changed, "a\nb\nc", [(2, 0, 1, 0)], "left")
    right = rows.column(changed, "a\nx\nd", [(2, 0, 1, 4)], "right")
    assert left.text.split("\n") == ["a", "b", "", "c"] and right.text.split("\n") == ["a", "", "x", "d"]
    assert left.numbers == (1, 2, 0, 3) and right.numbers == (1, 0, 2, 3)
    assert left.marks == (2, MARKS["removed"], 3, MARKS["filler"], 4, MARKS["changed"])
    assert left.spans == ((2, 0, 1, 0),) and right.spans == ((3, 0, 1, 4),)


def test_what_went_and_what_came_stand_beside_each_other():
    changed = [Row(1, 0, "removed"), Row(2, 0, "removed"), Row(0, 1, "added"), Row(3, 2, "same"), Row(0, 3, "added"), Row(4, 0, "removed")]
    found = rows.beside(changed)
    assert [(row.left, row.right, row.kind) for row in found] == [
        (1, 1, "replaced"), (2, 0, "replaced"), (3, 2, "same"), (0, 3, "replaced"), (4, 0, "replaced"),
    ]  # fmt: skip
    left, right = rows.column(found, "a\nb\nc\nd", [], "left"), rows.column(found, "x\nc\ny", [], "right")
    assert left.marks == (1, MARKS["removed"], 2, MARKS["removed"], 4, MARKS["filler"], 5, MARKS["removed"])
    assert right.marks == (1, MARKS["added"], 2, MARKS["filler"], 4, MARKS["added"], 5, MARKS["filler"])


def test_only_changed_rows_are_kept_with_a_few_around_and_the_rest_is_counted():
    all_rows = [Row(n, n, "changed" if n == 10 else "same") for n in range(1, 21)]
    kept = rows.kept(all_rows, rows.around_changes(all_rows))
    assert kept[0] == 6 and kept[-1] == 7 and [row.left for row in kept[1:-1]] == list(range(7, 14))
    assert rows.column(kept, "\n".join("abcdefghijklmnopqrst"), [], "left").text.split("\n")[0] == "... 6 more"


def test_the_class_filter_keeps_rows_with_that_class_on_either_side():
    all_rows = [Row(1, 1, "same"), Row(2, 0, "removed"), Row(0, 2, "added")]
    assert rows.of_class(all_rows, [(2, 0, 3, 0)], [(1, 0, 3, 0)], 0) == [True, True, False]


def test_counts_shapes_and_the_executed_estimate(artifact):
    asked = code_examples.request()
    frame = evidence.shape_frame(artifact).set_index("opcode")
    assert frame.loc["HGMMA.64x64x16.F32", "written"] == 32 and frame.loc["UTMALDG.2D", "written"] == 32
    (words,) = evidence.executed_words(artifact, asked, GEMM)
    assert "written 32 times, 131,072 FLOPs each by a warp group" in words and "about 32 of them (estimate" in words
    classes = evidence.class_frame(artifact).set_index("class")
    assert list(classes.loc["Tensor core", ["CUDA", "PTX", "SASS"]]) == [1, 32, 32]


def test_an_instruction_tells_what_it_is_on_hover(artifact):
    found = panes.tips(artifact.sass, "sass")
    assert found["HGMMA.64x64x16.F32"].startswith("wgmma, since sm_90a: A warp group of 128 threads multiplies")
    assert found["UTMALDG.2D"].startswith("TMA load, since sm_90:") and panes.tips(artifact.source, "cuda") == {}


def test_a_rung_shows_its_figures_or_its_reason(artifact):
    steps = (
        Rung("sm_90a", code_examples.request(), artifact),
        Rung("sm_75", None, reason="sm_75 has no bfloat16 arithmetic"),
        Rung("sm_80", code_examples.request()),
    )
    frame = rungs.frame(steps).set_index("architecture")
    assert frame.loc["sm_90a", "tensor core"] == "32 HGMMA.64x64x16.F32" and frame.loc["sm_90a", "registers"] == "168"
    assert frame.loc["sm_90a", "occupancy"] == "12 %, registers"
    assert (frame.loc["sm_75", "tensor core"], frame.loc["sm_80", "tensor core"]) == ("not possible", "not compiled yet")
    assert rungs.reasons(steps) == ["**sm_75**: sm\\_75 has no bfloat16 arithmetic"]


def test_the_limits_table_has_every_architecture_with_its_real_limits():
    frame = rungs.limits_frame().set_index("architecture")
    assert frame.loc["sm_89", "shared a block"] == "101,376 B" and frame.loc["sm_90a", "shared a block"] == "232,448 B"
    assert {"sm_75", "sm_80", "sm_86", "sm_89", "sm_90a", "sm_100a", "sm_120a"} <= set(frame.index)


SHARED = {"buffer": "A", "kind": "shared", "shape": [8, 64], "dtype": "float16", "registers": [],
          "replicated": 1, "expression": "index = _i",
          "cells": [[row * 64 + column for column in range(64)] for row in range(8)]}  # fmt: skip
FRAGMENT = {"buffer": "acc", "kind": "fragment", "shape": [2, 2], "dtype": "float32", "cells": [[0, 0], [33, 33]],
          "registers": [[0, 1], [0, 1]],
            "replicated": 1, "expression": ""}  # fmt: skip


def test_a_layout_is_told_in_words():
    assert lowering.layout_words(SHARED).startswith("A: 8 x 64 float16 in shared memory: 8-way bank conflicts")
    assert lowering.layout_words(FRAGMENT) == "acc: 2 x 2 float32 in registers: 2 threads, 2 registers each."


@pytest.mark.parametrize(
    "layout, picture", [(layout, picture) for layout in (SHARED, FRAGMENT) for picture in tiles.PICTURES[layout["kind"]]]
)
def test_every_picture_of_a_layout_has_a_cell_for_each_element(layout, picture):
    (heatmap,) = tiles.tile_figure(layout, picture).data
    assert [len(row) for row in heatmap.z] == [layout["shape"][1]] * layout["shape"][0]
    assert tiles.cells_of(FRAGMENT, tiles.WARP) == [[0, 0], [1, 1]]


def test_a_diff_of_a_pass_is_tinted_by_its_first_column():
    assert lowering.diff_marks("@@ -1 +1 @@\n-a\n+b\n c") == (1, MARKS["filler"], 2, MARKS["removed"], 3, MARKS["added"])
