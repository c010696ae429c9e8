"""Asks for the token: where one is set, the server answers only a browser that has given it.

Streamlit knows no token. A page's script can hold back what it draws; the routes for uploads and downloads, and the WebSocket, answer
everyone. So the layer around the server asks. Who gives the token, in a link or in the form, gets a cookie; without it all is refused.
"""

import hmac
import re
import secrets
from collections.abc import Mapping
from pathlib import Path
from urllib.parse import parse_qs, urlencode

import streamlit as st
from starlette.requests import ClientDisconnect, HTTPConnection, Request
from starlette.responses import HTMLResponse, PlainTextResponse, RedirectResponse, Response
from starlette.types import ASGIApp, Receive, Scope, Send

from tileviz import settings

PASS = secrets.token_urlsafe(32)
"""What the cookie holds: it is good for this process alone."""

FORM = (Path(__file__).parent / "door.html").read_text(encoding="utf-8")
NOT_RIGHT = '<p role="alert">This token is not right. Ask the person who started the server.</p>'
REFUSED = "This page needs the token: load it again and give the token."
FORM_BYTES = 4096
"""More than any token needs; a larger form is not read."""

WATCH = """<script>
window.tilevizDoor ??= setInterval(async () => {
  if (document.querySelector("[data-testid=stApp]")?.dataset.testConnectionState === "CONNECTED") return
  const answer = await fetch(location, { method: "HEAD" }).catch(() => null)
  if (answer?.status === 401) location.reload()
}, 2000)
</script>"""
"""A tab that was open when the server was started anew comes back to the form, not to Streamlit's word of a failed connection."""

PORT = re.compile(r":(\d+)$")  # localhost:8501


class Door:
    """ASGI middleware: lets through who has the cookie, hands it to who has the token, refuses the rest."""

    def __init__(self, app: ASGIApp):
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan" or not settings.token() or _is_health(scope):
            answer = self.app
        elif scope["type"] == "websocket":
            answer = self.app if _may_enter(HTTPConnection(scope)) else _refuse_socket
        else:
            answer = await _answer(Request(scope, receive)) or self.app
        await answer(scope, receive, send)


def admits(cookies: Mapping[str, str], host: str) -> bool:
    """True if a browser with these cookies may see the page; `host` is the address that it typed, with the port."""
    return not settings.token() or _same(cookies.get(_cookie(host), ""), PASS)


def watch() -> None:
    """Draws nothing that is seen."""
    if settings.token():
        st.html(WATCH, unsafe_allow_javascript=True)


async def _answer(request: Request) -> Response | None:
    """What the door itself answers; None: the request may go on."""
    given = request.query_params.get("token") if request.method in ("GET", "HEAD") else await _typed(request)
    if given is None and _may_enter(request):
        return None
    if _may_enter(request) or _same(given or "", settings.token()):
        return _let_in(request)
    if "text/html" in request.headers.get("accept", ""):
        page = FORM.replace("{variable}", settings.TOKEN).replace("{not_right}", NOT_RIGHT if given is not None else "")
        return HTMLResponse(page, status_code=401, headers={"Cache-Control": "no-store"})
    return PlainTextResponse(REFUSED, status_code=401)


def _let_in(request: Request) -> Response:
    """Back to the same address without the token, with the cookie."""
    rest = urlencode([(name, value) for name, value in request.query_params.multi_items() if name != "token"])
    path = "/" + request.url.path.lstrip("/")  # two slashes would lead to another host
    response = RedirectResponse(f"{path}?{rest}" if rest else path, status_code=303)
    secure = request.url.scheme == "https"
    response.set_cookie(_cookie(request.headers.get("host", "")), PASS, httponly=True, samesite="strict", secure=secure)
    return response


async def _typed(request: Request) -> str | None:
    """The token of the form; None where the request is no such form."""
    kind, size = request.headers.get("content-type", ""), int(request.headers.get("content-length", FORM_BYTES + 1))
    if request.method != "POST" or kind != "application/x-www-form-urlencoded" or size > FORM_BYTES:
        return None
    try:
        form = await request.body()
    except ClientDisconnect:
        return None
    return parse_qs(form.decode(errors="replace")).get("token", [""])[0]


async def _refuse_socket(scope: Scope, receive: Receive, send: Send) -> None:
    await send({"type": "websocket.close", "code": 1008, "reason": REFUSED})


def _may_enter(connection: HTTPConnection) -> bool:
    return admits(connection.cookies, connection.headers.get("host", ""))


def _is_health(scope: Scope) -> bool:
    """Whether it lives is no secret; who watches the server has no token."""
    return scope["path"].endswith("/_stcore/health")


def _cookie(host: str) -> str:
    """Cookies know no ports, so the name does: two servers of one machine, or of two behind one SSH client, stay apart."""
    port = PORT.search(host)
    return f"tileviz_{port[1]}" if port else "tileviz"


def _same(given: str, wanted: str) -> bool:
    return hmac.compare_digest(given.encode(), wanted.encode())
