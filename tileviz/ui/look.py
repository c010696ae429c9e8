"""Styles that a theme has no setting for, written into the page itself so that the first paint has
them.

A style that came with the page's script would change what is on the screen already: the page would jump.
"""

import functools
from pathlib import Path

import streamlit as st
from starlette.datastructures import Headers, MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

HERE = Path(__file__).parent

CONTROLS = ("Selectbox", "TextInput", "ButtonGroup", "Button", "MenuButton", "Progress", "Metric")
"""Kinds of elements of a form and a headline, by the file that Streamlit has for each; what a later Streamlit names otherwise is left out.
Without being told, a browser asks for each when the first one is drawn, while the server is busy with the results."""


class Look:
    """ASGI middleware: Streamlit's page with our looks in its head."""

    def __init__(self, app: ASGIApp):
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or "text/html" not in Headers(scope=scope).get("accept", ""):
            await self.app(scope, receive, send)
            return
        await self.app(_plain(scope), receive, _Whole(send))


class _Whole:
    """Takes an answer in parts; a page is sent on when it is whole, anything else as it comes."""

    def __init__(self, send: Send):
        self.send, self.start, self.body = send, None, b""

    async def __call__(self, message: Message) -> None:
        if message["type"] == "http.response.start" and "text/html" in Headers(raw=message["headers"]).get("content-type", ""):
            self.start = message
        elif self.start is None:
            await self.send(message)
        else:
            self.body += message.get("body", b"")
            if not message.get("more_body"):
                page = self.body.replace(b"</head>", head().encode() + b"</head>", 1)
                headers = MutableHeaders(raw=self.start["headers"])
                headers["content-length"] = str(len(page))
                await self.send(self.start)
                await self.send({"type": "http.response.body", "body": page})


def _plain(scope: Scope) -> Scope:
    """The request without what would make its answer packed, or a word that the page of an earlier version still holds."""
    unwanted = (b"accept-encoding", b"if-none-match", b"if-modified-since")
    return {**scope, "headers": [(name, value) for name, value in scope["headers"] if name not in unwanted]}


@functools.cache
def head() -> str:
    """Constant text of ours, with names of Streamlit's files."""
    style, script = ((HERE / name).read_text(encoding="utf-8") for name in ("look.css", "look.js"))
    found = chunks(Path(st.__file__).parent / "static", CONTROLS)
    links = (f'<link rel="modulepreload" crossorigin href="./{path}">' for path in found)
    return f"{''.join(links)}<style>{style}</style><script>{script}</script>"


@functools.cache
def chunks(static: Path, kinds: tuple[str, ...]) -> list[str]:
    """Streamlit's own files for these kinds of elements, as the page names them."""
    return [path.relative_to(static).as_posix() for kind in kinds for path in sorted(static.glob(f"static/js/{kind}.*.js"))]
