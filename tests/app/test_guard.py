"""The guard of every page: no page without app.py, no page without the token where one is set."""

import ast
import subprocess
import sys

import pytest
from streamlit.testing.v1 import AppTest

from tests.app.pages import ROOT, opened, texts

PAGES = sorted((ROOT / "pages").glob("*.py"))
TOKEN = "a long <token> & more"


@pytest.mark.parametrize("path", PAGES, ids=lambda p: p.stem)
def test_the_guard_is_the_first_statement_of_every_page(path):
    body = ast.parse(path.read_text()).body
    assert ast.unparse(body[1]) == "from tileviz.ui import nav"
    assert isinstance(body[2], ast.With) and ast.unparse(body[2].items[0]) == "nav.guard()"
    assert len(body) == 3, "everything a page does is inside the guard"


@pytest.mark.parametrize("path", PAGES, ids=lambda p: p.stem)
def test_every_page_is_in_the_menu_under_its_file_name(path):
    from tileviz.ui import nav

    listed = {
        name.value
        for node in ast.walk(ast.parse((ROOT / "tileviz/ui/nav.py").read_text()))
        if isinstance(node, ast.Call)
        for name in node.args
        if isinstance(name, ast.Constant)
    }
    assert f"pages/{path.stem}.py" in listed
    assert nav.TOKEN_VARIABLE == "TILEVIZ_TOKEN"


@pytest.mark.parametrize("path", PAGES, ids=lambda p: p.stem)
def test_every_page_is_thin(path):
    assert len(path.read_text().splitlines()) <= 60


@pytest.mark.parametrize("path", PAGES, ids=lambda p: p.stem)
def test_a_page_reached_alone_shows_nothing_without_the_token(path, monkeypatch):
    monkeypatch.setenv("TILEVIZ_TOKEN", TOKEN)
    app = AppTest.from_file(str(path), default_timeout=20)
    app.session_state["_entry"] = True
    app.run()
    assert [t.label for t in app.text_input] == ["Token"]
    assert not app.selectbox and not app.dataframe and not app.metric


@pytest.mark.parametrize("stem", ["", *(path.stem for path in PAGES)])
def test_without_the_token_only_the_form_is_drawn(stem, monkeypatch):
    monkeypatch.setenv("TILEVIZ_TOKEN", TOKEN)
    app = opened(stem)
    assert [t.label for t in app.text_input] == ["Token"]
    assert not app.selectbox and not app.dataframe
    assert not app.error


def test_a_wrong_token_in_the_address_is_refused_and_leaves_the_address(monkeypatch):
    monkeypatch.setenv("TILEVIZ_TOKEN", TOKEN)
    app = opened(token="wrong")
    assert "This token is not right" in app.error[0].value
    assert "token" not in app.query_params
    assert not app.selectbox


def test_the_right_token_in_the_address_opens_the_page_and_leaves_the_address(monkeypatch):
    monkeypatch.setenv("TILEVIZ_TOKEN", TOKEN)
    app = opened(token=TOKEN)
    assert app.selectbox
    assert "token" not in app.query_params
    assert TOKEN not in texts(app)


def test_the_token_may_be_typed(monkeypatch):
    monkeypatch.setenv("TILEVIZ_TOKEN", TOKEN)
    app = opened()
    app.text_input[0].set_value("wrong")
    app.button[0].click().run()
    assert app.error and not app.selectbox
    app.text_input[0].set_value(TOKEN)
    app.button[0].click().run()
    assert app.selectbox


def test_an_unforeseen_failure_is_one_sentence_and_no_traceback(monkeypatch):
    from tileviz.ui import explore

    def broken(*_):
        raise RuntimeError("secret <path>")

    monkeypatch.setattr(explore, "form", broken)
    app = opened()
    assert not app.exception
    assert "This part of the page failed" in app.error[0].value
    assert "secret" not in texts(app)


def test_the_web_process_never_imports_torch_or_tilelang():
    code = (
        "import sys; import tileviz.ui.explore, tileviz.ui.system, tileviz.ui.nav, tileviz.ui.repeat, tileviz.ui.result;"
        "from tileviz import kernels; [kernels.kernel(n) for n in kernels.names()];"
        "from tileviz.engine import requests; requests.resolve('gemm', {'M': 64}, {});"
        "print([m for m in ('torch', 'tilelang', 'tvm', 'optuna') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip() == "[]"
