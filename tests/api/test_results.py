"""What the results of the Python API show, without an engine: made-up trials in a store of their
own."""

import subprocess
import sys
from dataclasses import replace

import pytest

import tileviz
from tests.conftest import ROOT
from tests.ui import examples
from tileviz.api.results import Compiled, Result
from tileviz.errors import BadRequest, Limitation, TilevizError, UnknownName
from tileviz.store import Store
from tileviz.ui.charts import style


@pytest.fixture
def store(tmp_path, monkeypatch) -> Store:
    monkeypatch.setenv("TILEVIZ_HOME", str(tmp_path))
    return Store()


@pytest.fixture
def result(store) -> Result:
    trial = examples.trial()
    store.save_trial(trial)
    store.save_artifact(examples.artifact(trial))
    return tileviz.load(trial.trial)


@pytest.fixture
def compiled(store) -> Compiled:
    trial = examples.compiled(instructions={"source": {"tensor_core": 1, "spill": 0}, "ptx": {"tensor_core": 8, "barrier": 3}})
    store.save_trial(trial)
    store.save_artifact(examples.artifact(trial))
    return tileviz.load(trial.trial)


def test_a_result_is_what_was_stored(result):
    assert isinstance(result, Result) and result.ok and result.latency_us == result.trial.timing.median_us
    assert result.document()["trial"] == result.id and result.config["block_M"] and result.problem["M"]


def test_a_frame_has_ours_then_each_baseline(result):
    frame = result.frame()
    assert frame["name"].tolist() == ["this config", "PyTorch eager", "torch.compile"]
    assert frame["latency_us"].tolist()[:2] == [3200.0, 5100.0] and frame["latency_us"].isna()[2]
    assert frame["ours_is"][1] == pytest.approx(5100 / 3200) and frame["reason"][2] == "no C++ compiler"


def test_a_result_says_in_one_line_how_good_it_is(result):
    assert repr(result).endswith("ok, 3.20 ms, 83.9 GFLOPS, 1.59 times as fast as PyTorch eager")


def test_a_notebook_sees_a_table_in_which_nothing_is_taken_for_html(store):
    bad = examples.baseline("x", "<script>alert(1)</script>", 10.0, 3200.0)
    shown = Result(examples.trial(baselines=(bad,)), store)._repr_html_()
    assert "<script>" not in shown and "&lt;script&gt;" in shown and shown.count("<tr>") == 3


@pytest.mark.parametrize("kind", ["latency", "samples"])
def test_a_figure_has_colours_of_its_own_where_streamlit_would_fill_in_those_of_its_theme(result, kind):
    drawn = result.figure(kind).to_json()
    assert '"type":"' in drawn and style.TEXT not in drawn and style.GROUND not in drawn


def test_a_figure_of_what_was_not_measured_says_why_there_is_none(result, store):
    with pytest.raises(Limitation, match="clocks"):
        result.figure("clocks")
    with pytest.raises(Limitation, match="no time"):
        Result(replace(result.trial, timing=None, baselines=()), store).figure()
    with pytest.raises(UnknownName, match="clocks, errors, latency, samples"):
        result.figure("pie")


def test_figures_leave_the_theme_of_a_notebook_alone():
    code = """
import plotly.io
before = plotly.io.templates.default
import tileviz
from tests.ui import examples
from tileviz.api.results import Result
Result(examples.trial(), None).figure()
assert plotly.io.templates.default == before, plotly.io.templates.default
"""
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def test_what_was_compiled_shows_its_instructions_by_text(compiled):
    assert isinstance(compiled, Compiled)
    assert compiled.frame().to_dict("list") == {"class": ["tensor_core", "barrier"], "source": [1, 0], "ptx": [8, 3]}
    assert {bar.name: list(bar.x) for bar in compiled.figure().data} == {"source": [0, 1], "ptx": [3, 8]}
    assert "tensor_core" in compiled._repr_html_() and repr(compiled).endswith("for sm_90a: ok")


def test_code_is_text_with_its_instructions_lit_up(compiled):
    code = tileviz.show_code(compiled)
    assert str(code) == examples.CUDA_TEXT and code.language == "cuda"
    assert code.frame()["class"].tolist() == ["async_copy", "barrier", "tensor_core", "barrier"]
    shown = code._repr_html_()
    assert 'title="tensor_core"' in shown and "&lt;tl_templates/cuda" in shown and "<tl_templates" not in shown


def test_a_missing_text_says_why(compiled, result):
    with pytest.raises(Limitation, match="nvdisasm not found; pip install"):
        tileviz.show_code(compiled.id, "sass")
    with pytest.raises(Limitation, match="the target cpu has no PTX"):
        result.code("ptx")
    with pytest.raises(UnknownName, match="no text 'asm'; known: ir, program, ptx, sass, source"):
        result.code("asm")


def test_results_are_compared_with_the_first(store, result):
    slow = examples.trial(trial="t-slow", config={"block_M": 32}, timing=examples.timing(6400.0))
    store.save_trial(slow)
    found = tileviz.compare(result, "t-slow")
    frame = found.frame()
    assert frame["first_is"].isna()[0] and frame["first_is"][1] == pytest.approx(2.0)
    assert frame["verdict"].tolist() == ["the first", "the first is 2.00 times as fast as it"]
    assert frame["block_M"].tolist() == [result.config["block_M"], 32] and "block_N" not in frame
    assert len(found.figure().data[0].y) == 2 and "t-slow" in found._repr_html_()


def test_what_cannot_be_compared_says_why(store, result):
    store.save_trial(examples.trial(trial="t-gpu", timing=examples.timing(10.0, timer="cupti", l2="cold")))
    assert tileviz.compare(result, "t-gpu").frame()["verdict"][1] == "unlike timers: perf_counter and cupti"
    with pytest.raises(BadRequest, match="given twice"):
        tileviz.compare(result, result.id)
    with pytest.raises(BadRequest, match="no result 't-none'"):
        tileviz.compare(result, "t-none")


def test_code_of_two_results_is_set_side_by_side(store, compiled):
    other = replace(compiled.trial, trial="t-other", artifact="other")
    store.save_trial(other)
    changed = examples.CUDA_TEXT.replace("  __syncthreads();\n", "  __syncthreads();\n  __syncthreads();\n")
    store.save_artifact(examples.artifact(other, source=changed))
    found = tileviz.compare(compiled, "t-other").diff("source")
    assert not found.is_same and "+  __syncthreads();" in str(found) and "<pre" in found._repr_html_()
    row = found.frame().iloc[0]
    assert (row["class"], row["left"], row["right"]) == ("barrier", 1, 2)


def test_code_of_unlike_languages_is_not_compared(compiled, result):
    with pytest.raises(Limitation, match="nothing in common|no lines in common"):
        tileviz.compare(compiled, result).diff("source")


def test_a_script_can_stop_at_what_went_wrong(result, store):
    result.expect_ok()
    wrong = Result(replace(result.trial, status="wrong_result", reason="8 of 104 columns never written"), store)
    with pytest.raises(TilevizError, match="gemm .*: wrong_result: 8 of 104 columns never written"):
        wrong.expect_ok()


def test_lists_are_sequences_and_tables(store, result):
    kernels = tileviz.list_kernels()
    assert len(kernels) == len(kernels.frame()) and kernels[0] in repr(kernels) and "<table>" in kernels._repr_html_()
    assert tileviz.list_devices()[-1].id == "cpu"
    assert [found.id for found in tileviz.list_results("gemm")] == [result.id] and not len(tileviz.list_results("softmax"))
    assert repr(tileviz.list_presets("gemm")) == "presets: none"
    for ask in (tileviz.list_presets, tileviz.list_results):
        with pytest.raises(UnknownName, match="no kernel 'gem'"):
            ask("gem")
