"""What every answer of a real server carries, whatever was asked; and that a server without a token asks for none."""

import pytest
from streamlit.runtime.caching.ttl_cache import TTLCache
from streamlit.runtime.memory_session_storage import MemorySessionStorage
from streamlit.runtime.websocket_session_manager import WebsocketSessionManager

from tests.serving import serve
from tests.ui.test_door import ROUTES, asked, handshake
from tileviz.ui import door, web


@pytest.fixture(scope="module")
def open_server(shared_home):
    """A server without a token."""
    running = serve(shared_home, TILEVIZ_TOKEN="")
    yield running
    running.stop()


@pytest.mark.parametrize("method, path", ROUTES)
def test_every_answer_says_that_nobody_may_frame_it_and_that_nothing_comes_from_elsewhere(open_server, method, path):
    answer = asked(open_server, method, path)
    assert {name: answer.getheader(name) for name in web.HEADERS} == web.HEADERS
    assert answer.status != 401 and answer.text != door.REFUSED


def test_the_policy_names_no_host_and_no_frame():
    policy = dict(part.split(" ", 1) for part in web.HEADERS["Content-Security-Policy"].split("; "))
    assert policy["frame-ancestors"] == "'none'" and web.HEADERS["X-Frame-Options"] == "DENY"
    allowed = {word for sources in policy.values() for word in sources.split()}
    assert allowed <= {"'self'", "'none'", "'unsafe-inline'", "data:", "blob:"}
    assert web.HEADERS["Referrer-Policy"] == "no-referrer" and web.HEADERS["X-Content-Type-Options"] == "nosniff"


def test_only_the_names_of_the_settings_are_answered(open_server):
    for host in ("127.0.0.1", f"localhost:{open_server.port}", "[::1]:8501"):
        assert asked(open_server, "GET", "/", Host=host).status == 200
    for host in ("evil.example", f"evil.example:{open_server.port}", "127.0.0.1.evil.example", ""):
        assert asked(open_server, "GET", "/", Host=host).status == 400


def test_without_a_token_everything_is_served_as_ever(open_server):
    assert handshake(open_server) == 101
    assert asked(open_server, "GET", "/sweep").status == 200
    assert asked(open_server, "GET", "/?token=any").status == 200
    assert asked(open_server, "GET", "/").getheader("Set-Cookie") is None


def test_the_sessions_of_closed_tabs_are_found_where_streamlit_keeps_them_or_it_is_said_that_they_are_not_there():
    manager = WebsocketSessionManager(MemorySessionStorage(ttl_seconds=5), None, None, None)
    assert isinstance(web._kept_by(manager), TTLCache)
    manager._session_storage = object()
    with pytest.raises(TypeError, match="does not keep the sessions of closed tabs"):
        web._kept_by(manager)
