"""The guard of every page: no page without app.py, no page for who did not come in by the door where a token is set."""

import ast
import subprocess
import sys

import pytest
import streamlit as st
from streamlit.testing.v1 import AppTest

from tests.app.pages import ROOT, opened, texts
from tileviz import settings
from tileviz.ui import door

PAGES = sorted((ROOT / "pages").glob("*.py"))


@pytest.mark.parametrize("path", PAGES, ids=lambda p: p.stem)
def test_the_guard_is_the_first_statement_of_every_page(path):
    body = ast.parse(path.read_text()).body
    assert ast.unparse(body[1]) == "from tileviz.ui import nav"
    assert isinstance(body[2], ast.With) and ast.unparse(body[2].items[0]) == "nav.guard()"
    assert len(body) == 3, "everything a page does is inside the guard"


@pytest.mark.parametrize("path", PAGES, ids=lambda p: p.stem)
def test_every_page_is_in_the_menu_under_its_file_name(path):
    listed = {
        name.value
        for node in ast.walk(ast.parse((ROOT / "tileviz/ui/nav.py").read_text()))
        if isinstance(node, ast.Call)
        for name in node.args
        if isinstance(name, ast.Constant)
    }
    assert f"pages/{path.stem}.py" in listed


@pytest.mark.parametrize("path", PAGES, ids=lambda p: p.stem)
def test_every_page_is_thin(path):
    assert len(path.read_text().splitlines()) <= 60


@pytest.fixture
def browser(monkeypatch):
    """A server with a token, and what the browser of a session sent: `browser(cookie=...)`. (A page test has no browser.)"""
    monkeypatch.setenv(settings.TOKEN, "a long token")
    monkeypatch.setattr(type(st.context), "headers", {"Host": "localhost:8501"})

    def sends(**cookies: str) -> None:
        monkeypatch.setattr(type(st.context), "cookies", cookies)

    return sends


@pytest.mark.parametrize("path", PAGES, ids=lambda p: p.stem)
def test_a_page_reached_alone_shows_nothing_to_who_did_not_come_in_by_the_door(path, browser):
    browser()
    app = AppTest.from_file(str(path), default_timeout=120)
    app.session_state["_entry"] = True
    shows_nothing(app.run())


@pytest.mark.parametrize("stem", ["", *(path.stem for path in PAGES)])
def test_no_page_shows_anything_to_who_did_not_come_in_by_the_door(stem, browser):
    browser(tileviz_8501="x" * len(door.PASS))
    shows_nothing(opened(stem))


def test_who_came_in_by_the_door_sees_the_page(browser):
    browser(tileviz_8501=door.PASS)
    app = opened()
    assert app.selectbox and not app.error


def shows_nothing(app: AppTest) -> None:
    assert texts(app) == door.REFUSED
    assert not app.selectbox and not app.dataframe and not app.metric and not app.text_input


def test_an_unforeseen_failure_is_one_sentence_and_no_traceback(monkeypatch):
    from tileviz.ui.form import sidebar

    def broken(*_):
        raise RuntimeError("secret <path>")

    monkeypatch.setattr(sidebar, "form", broken)
    app = opened()
    assert not app.exception
    assert "This part of the page failed" in app.error[0].value
    assert "secret" not in texts(app)


def test_the_web_process_never_imports_torch_or_tilelang():
    code = (
        "import sys; import tileviz.ui.explore.page, tileviz.ui.explore.repeat, tileviz.ui.explore.result;"
        "import tileviz.ui.nav, tileviz.ui.system;"
        "from tileviz import kernels; [kernels.kernel(n) for n in kernels.names()];"
        "from tileviz.engine import requests; requests.resolve('gemm', {'M': 64}, {});"
        "print([m for m in ('torch', 'tilelang', 'tvm', 'optuna') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip() == "[]"
