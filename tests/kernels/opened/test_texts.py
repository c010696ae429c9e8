"""What the text of a file says before anything of it runs."""

import os
from pathlib import Path

import pytest

from tileviz.errors import BadRequest
from tileviz.kernels.opened import texts

CASES = Path(__file__).with_name("cases")


@pytest.mark.parametrize(
    ("name", "content", "words"),
    [
        ("a.py", b"def broken(:\n", "is no Python: "),
        ("<i>a</i>.ipynb", b"{}", "is a notebook"),
        ("a.so", b"\x7fELF\0\0", "is a binary file"),
        ("a.py", b"name = '\xff\xfe'", "is no text in UTF-8 (byte 8)"),
        ("a.py", b"x = 1  # long\n" * 800_000, "has 11 MB"),
    ],
)
def test_what_is_no_python_file_is_refused_in_one_sentence(tmp_path, name, content, words):
    path = tmp_path / name.replace("/", "_")
    path.write_bytes(content)
    with pytest.raises(BadRequest) as refused:
        texts.text_of(path)
    assert words in refused.value.message and "\n" not in refused.value.message


def test_a_folder_a_missing_file_and_a_pipe_are_refused(tmp_path):
    os.mkfifo(tmp_path / "pipe.py")
    for path, words in (
        (tmp_path, "is a folder"),
        (tmp_path / "none.py", "there is no file"),
        (tmp_path / "pipe.py", "no ordinary file"),
    ):
        with pytest.raises(BadRequest, match=words):
            texts.text_of(path)


def test_factories_are_found_by_their_decorator_or_the_program_in_them():
    found = {name: texts.factories((CASES / f"{name}.py").read_text()) for name in ("eager", "lazy", "bare", "several")}
    assert [(f.name, f.form, f.parameters) for f in found["eager"]] == [("add", "eager", ("A", "B"))]
    assert [(f.name, f.form, f.parameters) for f in found["lazy"]] == [("double", "lazy", ("N", "M"))]
    assert [(f.name, f.form) for f in found["bare"]] == [("scale", "bare")]
    assert [f.name for f in found["several"]] == ["split", "gather_add", "negate"]


def test_a_factory_inside_a_function_has_its_whole_title_and_tritons_are_none_of_ours():
    text = "def outer():\n    @tilelang.jit\n    def inner(n): ...\n\n@triton.jit\ndef other(x): ...\n"
    [factory] = texts.factories(text)
    assert (factory.title, factory.line, factory.is_outermost) == ("outer.<locals>.inner", 2, False)
