"""Nothing outside `kernels` knows a kernel's name: what is a kernel's own stands with its declaration."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from tileviz import kernels

ROOT = Path(__file__).resolve().parent.parent
PARTS = ("bench", "engine", "ui", "cli", "store", "compiler", "lens", "texts")
LONGEST_FIRST = "|".join(sorted(kernels.names(), key=len, reverse=True))
NAMES = re.compile(rf"(?<![A-Za-z0-9])(?:{LONGEST_FIRST})(?![A-Za-z0-9])")
"""A kernel's name as a word of a text or a part of an identifier: `gemm`, `run gemm`, `gemm_chains`; not `ungemmed`."""

ELSEWHERE = {
    ("texts/source.py", "gemm"): "a call in generated code",
    ("lens/checks.py", "gemm"): "T.gemm, an operation of TileLang's",
    ("compiler/operations.py", "gemm"): "T.gemm, an operation of TileLang's",
    ("cli/arguments.py", "gemm"): "an example in the help of the command line",
    ("cli/arguments.py", "softmax"): "an example in the help of the command line",
}
"""Where a word that is also a kernel's name means something else."""


def code_words(tree: ast.Module) -> Iterator[tuple[int, str]]:
    """(line, text) of each string and identifier of the code; docstrings, and texts under a field, are left out."""
    said = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    for node in ast.walk(tree):
        line = getattr(node, "lineno", 0)
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in said:
            yield line, node.value
        for name in ("id", "attr", "name", "arg", "module"):
            word = getattr(node, name, None)
            if isinstance(word, str):
                yield line, word


def named(tree: ast.Module) -> set[tuple[int, str]]:
    return {(line, name) for line, text in code_words(tree) for name in NAMES.findall(text)}


@pytest.mark.parametrize("part", PARTS)
def test_no_kernel_is_named_outside_kernels(part):
    folder = ROOT / "tileviz"
    files = sorted((folder / part).rglob("*.py"))
    assert files
    found = [
        f"{path.relative_to(ROOT)}:{line} names the kernel {name}"
        for path in files
        for line, name in sorted(named(ast.parse(path.read_text())))
        if (path.relative_to(folder).as_posix(), name) not in ELSEWHERE
    ]
    assert found == []


def test_every_word_that_means_something_else_is_still_there():
    """An entry that is no longer needed goes."""
    for (file, name), why in ELSEWHERE.items():
        tree = ast.parse((ROOT / "tileviz" / file).read_text())
        assert name in {found for _, found in named(tree)}, f"{file} no longer has {name} ({why})"


@pytest.mark.parametrize(
    ("code", "names"),
    [
        ('MODELS = {"gemm": 1}', {"gemm"}),
        ("def softmax_chains(): pass", {"softmax"}),
        ("from x import vector_add", {"vector_add"}),
        ("torch.softmax(x)", {"softmax"}),
        ('HELP = f"run gemm_bias_gelu {x}"', {"gemm_bias_gelu"}),
        ('def f():\n    """As gemm does."""  # gemm', set()),
        ('word = "ungemmed"', set()),
    ],
)
def test_a_name_is_seen_in_texts_and_identifiers_and_not_in_docstrings(code, names):
    assert {name for _, name in named(ast.parse(code))} == names
