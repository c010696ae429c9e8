"""`open`: the table, the JSON document and the exit status."""

from pathlib import Path

from tests.conftest import tileviz

CASES = Path(__file__).parents[1] / "kernels" / "opened" / "cases"


def test_open_prints_a_table_and_a_sentence_for_what_is_missing():
    done = tileviz("open", str(CASES / "read.py"), "--timeout", "30")
    assert done.status == 0
    table, _, sentences = done.out.partition("\n\n")
    assert table.splitlines()[0].split() == ["kernel", "line", "sizes", "knobs", "tensors", "check"]
    assert "N=16 M=32 dtype=float32" in table and "X[16, 32] float32, Y[16, 32] float32 out" in table
    assert "never_called: rows, columns not known" in sentences
    assert "a_module_that_is_nowhere is not installed and was stood in for" in sentences


def test_open_in_json_is_the_record_alone():
    done = tileviz("open", str(CASES / "lazy.py"), "--json", "--timeout", "30")
    assert done.status == 0 and [kernel["name"] for kernel in done.json["kernels"]] == ["double"]


def test_what_cannot_be_opened_is_one_sentence_and_status_2(tmp_path):
    for words, said in (
        (("open", str(tmp_path)), "is a folder"),
        (("open", str(tmp_path / "none.py")), "there is no file"),
        (("open", str(CASES / "lazy.py"), "--compile", "sm_1"), "sm_1"),
        (("open", str(CASES / "lazy.py"), "--compile", "cpu"), "takes a CUDA target"),
    ):
        done = tileviz(*words)
        assert done.status == 2 and said in done.sentence
