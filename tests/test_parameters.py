"""No function asks for more than eight things: what travels together is a record."""

import ast

import pytest

from tests.test_architecture import ROOT, modules

MOST = 8

FUNCTION = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)


def longer(path) -> dict[str, int]:
    """The functions of a file with more parameters than that, and how many; a method's `self` or `cls` is none. A tile program, which
    TileLang reads from its parameters, is left out."""
    found = {}
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, FUNCTION) and not is_tile_program(node) and parameters(node) > MOST:
            found[f"{path.relative_to(ROOT)}:{node.lineno} {getattr(node, 'name', 'lambda')}"] = parameters(node)
    return found


def parameters(node) -> int:
    asked = [a.arg for a in (*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs)]
    every = [*asked, *(a.arg for a in (node.args.vararg, node.args.kwarg) if a is not None)]
    return len(every) - (every[:1] in (["self"], ["cls"]))


def is_tile_program(node) -> bool:
    """A program of the device, under `@T.prim_func`, `@T.macro` or `@triton.jit`, or what makes one of a config, a kernel's `program` say:
    its tensors and constants are its parameters."""
    said = [ast.unparse(d) for n in ast.walk(node) for d in getattr(n, "decorator_list", ())]
    return getattr(node, "name", "") == "program" or any(name in words for words in said for name in ("prim_func", "macro", "jit"))


@pytest.mark.parametrize("path", modules(), ids=lambda path: str(path.relative_to(ROOT)))
def test_no_function_asks_for_more_than_eight_things(path):
    assert longer(path) == {}


def test_a_method_does_not_count_itself_and_a_star_counts():
    three = ast.parse("class A:\n def f(self, a, *b, c=1): pass").body[0].body[0]
    assert parameters(three) == 3
