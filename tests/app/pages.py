"""Opens a page without a browser."""

from pathlib import Path

from streamlit.testing.v1 import AppTest

ROOT = Path(__file__).resolve().parents[2]


def opened(page: str = "", **words: str) -> AppTest:
    """The app as a browser would open it: `page` is a file stem, words are the address's parameters."""
    app = AppTest.from_file(str(ROOT / "app.py"), default_timeout=120)
    for name, value in words.items():
        app.query_params[name.replace("__", ".")] = value
    app.run()
    if page:
        app.switch_page(f"pages/{page}.py").run()
    assert not app.exception, app.exception
    return app


def texts(app: AppTest) -> str:
    """Every word on the page."""
    kinds = ("title", "header", "subheader", "markdown", "caption", "warning", "error", "info", "success", "code", "text")
    return "\n".join(str(element.value) for kind in kinds for element in getattr(app, kind))
