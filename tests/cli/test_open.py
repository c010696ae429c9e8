"""`open`: the table, the JSON document and the exit status."""

import time
from pathlib import Path

import psutil

from tests.conftest import tileviz, tileviz_process

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


def test_a_command_that_is_killed_leaves_no_process_and_no_file(tmp_path):
    command = tileviz_process("open", str(CASES / "hangs.py"), "--timeout", "300", TMPDIR=str(tmp_path))
    seen = waited(lambda: psutil.Process(command.pid).children(recursive=True))
    command.kill()
    command.communicate()
    waited(lambda: not any(process.is_running() and process.status() != psutil.STATUS_ZOMBIE for process in seen))
    waited(lambda: not [*tmp_path.iterdir()])


def waited(condition, seconds: float = 60.0):
    """What the condition gives once it is met."""
    end = time.monotonic() + seconds
    while not (given := condition()):
        assert time.monotonic() < end, "it did not come to pass"
        time.sleep(0.1)
    return given
