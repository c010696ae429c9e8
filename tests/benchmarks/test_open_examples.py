"""Which files count as open, and what is said of the others."""

from benchmarks import open_examples
from tileviz.kernels.opened import found
from tileviz.kernels.opened.found import Code, Found, FoundKernel


def document(*kernels: FoundKernel, **more) -> dict:
    return {
        "file": "a.py",
        "seconds": 1.0,
        "found": found.to_json(Found(file="/a.py", hash="0", kernels=kernels, **more)),
    }


def kernel(name: str, how: str = "recorded", **more) -> FoundKernel:
    return FoundKernel(name=name, title=name, file="/a.py", line=1, form="lazy", how=how, **more)


def test_a_file_is_open_where_all_arguments_of_one_kernel_are_known():
    assert open_examples.why_not(document(kernel("a"), kernel("b", "", missing=("N",)))) == ""
    closed = document(kernel("b", "", missing=("N",), why="N is not known"), troubles=("it raised",))
    assert open_examples.why_not(closed) == "b: N is not known; it raised"
    assert open_examples.why_not({"file": "a.py", "error": "no kernel"}) == "no kernel"


def test_with_targets_every_recorded_kernel_must_have_code_for_one_of_them():
    good, bad = Code(target="sm_90a", cuda_lines=3), Code(target="sm_80", reason="refused")
    assert open_examples.why_not(document(kernel("a", code=(bad, good)))) == ""
    assert open_examples.why_not(document(kernel("a", code=(good,)), kernel("b", code=(bad,)))) == "b: refused"
    assert open_examples.why_not(document(kernel("a", "read", code=(good,)), kernel("b", "read", code=(bad,)))) == ""


def test_files_are_found_by_what_stands_in_them_and_the_summary_names_the_others(tmp_path):
    examples = tmp_path / "examples"
    examples.mkdir()
    for name, text in (
        ("a.py", "@tilelang.jit\n"),
        ("b.py", "@tl.jit\n"),
        ("c.py", "import torch\n"),
    ):
        (examples / name).write_text(text)
    assert open_examples.kernel_files(tmp_path, "") == ["a.py", "b.py"]
    told = open_examples.summary({"a.py": document(kernel("a")), "b.py": {"file": "b.py", "error": "a | b"}})
    assert told.startswith("1 of 2 files open with no word of a user; 1 by recording") and "| b.py | a / b |" in told
