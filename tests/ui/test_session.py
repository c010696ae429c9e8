"""Names of the session and the address: in one place, each once; and only there is the address touched."""

import ast
from pathlib import Path

import pytest

from tileviz.ui import session

ROOT = Path(__file__).resolve().parents[2]
MODULES = sorted([*(ROOT / "tileviz" / "ui").rglob("*.py"), *(ROOT / "pages").glob("*.py")])
ELSEWHERE = [path for path in MODULES if path.name != "session.py"]

names = pytest.mark.parametrize("path", ELSEWHERE, ids=lambda path: str(path.relative_to(ROOT)))


@names
def test_a_name_of_the_session_is_written_in_its_one_place(path):
    for node in ast.walk(ast.parse(path.read_text())):
        parts = _parts(node)
        told = [
            part for part in parts if isinstance(part, ast.JoinedStr) or (isinstance(part, ast.Constant) and isinstance(part.value, str))
        ]
        of_session = any(ast.unparse(part) == "st.session_state" for part in parts)
        assert not (of_session and told), f"line {node.lineno}: {ast.unparse(node)}"


def _parts(node) -> list[ast.AST]:
    """What is accessed and by which name; the default of a `get` is no name."""
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in ("get", "pop", "setdefault", "update"):
        return [node.func.value, *node.args[:1], *(keyword.value for keyword in node.keywords)]
    if isinstance(node, ast.Subscript):
        return [node.value, node.slice]
    return [node.left, *node.comparators] if isinstance(node, ast.Compare) else []


@names
def test_a_widget_bound_to_the_address_takes_its_name_from_there(path):
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Call) and any(keyword.arg == "bind" for keyword in node.keywords):
            key = next(keyword.value for keyword in node.keywords if keyword.arg == "key")
            assert not isinstance(key, (ast.Constant, ast.JoinedStr)), f"line {node.lineno} names {ast.unparse(key)}"


@names
def test_the_address_is_touched_by_session_and_pages_are_opened_by_links(path):
    for node in ast.walk(ast.parse(path.read_text())):
        told = ast.unparse(node) if isinstance(node, ast.Attribute) else ""
        assert told != "st.query_params", f"line {node.lineno}"
        assert told not in ("st.switch_page", "st.page_link") or path.name == "links.py", f"line {node.lineno}"


def test_no_two_names_are_the_same():
    found = [value for name, value in vars(session).items() if name.isupper() and isinstance(value, str)]
    assert len(found) == len(set(found)) > 50


def test_every_name_of_the_address_is_one_of_the_own_words():
    words = (session.KERNEL, session.TARGET, session.TRIAL, session.SWEEP, session.AT, session.FLOPS, session.BASE)
    assert set(words) <= set(session.OWN_WORDS) and len(session.OWN_WORDS) == len(set(session.OWN_WORDS))
