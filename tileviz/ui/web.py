"""The layers around Streamlit's server: allowed hosts, headers of every answer, the door, the end of a
session, and our looks."""

import asyncio

import streamlit as st
from starlette.datastructures import MutableHeaders
from starlette.middleware import Middleware
from starlette.middleware.trustedhost import TrustedHostMiddleware
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from streamlit import runtime
from streamlit.runtime.caching.ttl_cache import TTLCache
from streamlit.runtime.memory_session_storage import MemorySessionStorage
from streamlit.runtime.session_manager import SessionInfo, SessionManager
from streamlit.runtime.websocket_session_manager import WebsocketSessionManager

from tileviz.ui import door, look

OWN = "'self'"
POLICY = {
    "default-src": OWN,
    "script-src": f"{OWN} 'unsafe-inline' blob:",
    "style-src": f"{OWN} 'unsafe-inline'",
    "img-src": f"{OWN} data: blob:",
    "font-src": f"{OWN} data:",
    "worker-src": f"{OWN} blob:",
    "object-src": "'none'",
    "base-uri": OWN,
    "form-action": OWN,
    "frame-ancestors": "'none'",
}
"""Nothing comes from another host, and no other page may frame ours."""

HEADERS = {
    "Content-Security-Policy": "; ".join(f"{name} {value}" for name, value in POLICY.items()),
    "X-Frame-Options": "DENY",
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
}


def layers() -> list[Middleware]:
    """For `st.App`, the outermost first."""
    hosts = st.get_option("server.allowedHosts") or ["*"]
    return [
        Middleware(Headers),
        Middleware(TrustedHostMiddleware, allowed_hosts=hosts, www_redirect=False),
        Middleware(door.Door),
        Middleware(Endings),
        Middleware(look.Look),
    ]


class Headers:
    """ASGI middleware: every answer carries HEADERS."""

    def __init__(self, app: ASGIApp):
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        async def send_with(message: Message) -> None:
            if message["type"] == "http.response.start":
                MutableHeaders(scope=message).update(HEADERS)
            await send(message)

        await self.app(scope, receive, send_with)


class Endings:
    """ASGI middleware: a session whose browser is gone for good takes its uploads and downloads with it.

    Streamlit keeps the session of a closed tab for a while, so that a broken connection can come back to it, but ends it only when it next
    has another one to keep: the files of the last visitor of a day stay, and a download is deleted one look later than its session.
    """

    LOOKS_S = (1.0, 4.0)
    """After a session's time: when it is ended, and when its downloads go, which the first look only marks."""

    def __init__(self, app: ASGIApp):
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        try:
            await self.app(scope, receive, send)
        finally:
            if scope["type"] == "websocket":
                kept_s = st.get_option("server.disconnectedSessionTTL")
                for look_s in self.LOOKS_S:
                    asyncio.get_running_loop().call_later(kept_s + look_s, _end_sessions)


def _end_sessions() -> None:
    """Ends the sessions whose time is over."""
    served = runtime.get_instance()
    for _, kept in _kept_by(served._session_mgr).expire():
        kept.session.shutdown()
    served.media_file_mgr.remove_orphaned_files()


def _kept_by(manager: SessionManager) -> TTLCache[str, SessionInfo]:
    """Where Streamlit keeps the sessions of closed tabs; it has no word of its own that ends them. Raises TypeError where another release
    keeps them elsewhere."""
    storage = manager._session_storage if isinstance(manager, WebsocketSessionManager) else None
    kept = storage._cache if isinstance(storage, MemorySessionStorage) else None
    if not isinstance(kept, TTLCache):
        raise TypeError("Streamlit does not keep the sessions of closed tabs where tileviz looks for them")
    return kept
