"""The token, asked of a real server by plain requests: no address of it answers who has not given the token."""

import asyncio
import http.client
import os
import re
from base64 import b64encode
from concurrent.futures import ThreadPoolExecutor
from urllib.parse import quote, urlencode

import pytest
from starlette.datastructures import Headers

from tests.serving import Server, serve
from tileviz import settings
from tileviz.ui import door

TOKEN = "a long <token> & möre"
ROUTES = (
    ("GET", "/"), ("HEAD", "/"), ("GET", "/sweep?kernel=gemm"), ("GET", "/favicon.png"), ("GET", "/static/js/any.js"),
    ("GET", "/media/0123456789abcdef.csv"), ("PUT", "/_stcore/upload_file/session/file"), ("DELETE", "/_stcore/upload_file/session/file"),
    ("OPTIONS", "/_stcore/upload_file/session/file"), ("GET", "/_stcore/metrics"), ("GET", "/_stcore/host-config"),
    ("GET", "/component/any/index.html"), ("GET", "/_stcore/bidi-components/any/main.js"), ("POST", "/_stcore/agent/mcp"),
    ("GET", "/_stcore/health/"), ("POST", "/"),
)  # fmt: skip
"""Every kind of address that Streamlit serves."""


@pytest.fixture(scope="module")
def guarded(shared_home):
    """A server that asks for the token."""
    running = serve(shared_home, TILEVIZ_TOKEN=TOKEN)
    yield running
    running.stop()


def asked(server: Server, method: str, path: str, body: bytes | None = None, **headers: str) -> http.client.HTTPResponse:
    """The answer to one request, its body read into `text`; no redirect is followed."""
    connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=60)
    connection.request(method, path, body, {name.replace("_", "-"): value for name, value in headers.items()})
    answer = connection.getresponse()
    answer.text = answer.read().decode(errors="replace")
    connection.close()
    return answer


def entered(server: Server) -> str:
    """The cookie that the right token brings, as a browser sends it back."""
    return asked(server, "GET", f"/?token={quote(TOKEN)}").getheader("Set-Cookie").split(";")[0]


def handshake(server: Server, **headers: str) -> int:
    """Status of opening the page's WebSocket with these headers."""
    key = b64encode(os.urandom(16)).decode()
    upgrade = {"Upgrade": "websocket", "Connection": "Upgrade", "Sec_WebSocket_Version": "13", "Sec_WebSocket_Key": key}
    connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=60)
    connection.request("GET", "/_stcore/stream", headers={n.replace("_", "-"): v for n, v in (upgrade | headers).items()})
    status = connection.getresponse().status
    connection.close()
    return status


@pytest.mark.parametrize("method, path", ROUTES)
def test_no_address_answers_without_the_token(guarded, method, path):
    answer = asked(guarded, method, path)
    assert answer.status == 401
    assert answer.getheader("Set-Cookie") is None
    assert answer.text == ("" if method == "HEAD" else door.REFUSED)


def test_the_socket_opens_with_the_cookie_alone(guarded):
    assert handshake(guarded) == 403
    assert handshake(guarded, Cookie=f"tileviz_{guarded.port}={'x' * 43}") == 403
    assert handshake(guarded, Cookie=entered(guarded)) == 101


def test_whether_the_server_lives_is_no_secret(guarded):
    assert (asked(guarded, "GET", "/_stcore/health").status, asked(guarded, "GET", "/_stcore/health").text) == (200, "ok")


def test_a_link_with_the_token_leads_to_the_same_view_without_it_and_hands_out_the_cookie(guarded):
    answer = asked(guarded, "GET", f"/sweep?kernel=gemm&token={quote(TOKEN)}&space.M=1&space.M=2")
    assert (answer.status, answer.getheader("Location")) == (303, "/sweep?kernel=gemm&space.M=1&space.M=2")
    cookie = answer.getheader("Set-Cookie")
    assert re.fullmatch(rf"tileviz_{guarded.port}=[\w-]{{43}}; HttpOnly; Path=/; SameSite=strict", cookie)
    assert TOKEN not in cookie and quote(TOKEN) not in cookie
    page = asked(guarded, "GET", "/sweep", Cookie=cookie.split(";")[0])
    assert page.status == 200 and "<title>Streamlit</title>" in page.text


def test_who_is_known_keeps_no_token_in_the_address_either(guarded):
    answer = asked(guarded, "GET", "/system?token=anything", Cookie=entered(guarded))
    assert (answer.status, answer.getheader("Location")) == (303, "/system")


@pytest.mark.parametrize("path", ["//evil.example/", "///evil.example/", "/%5Cevil.example/"])
def test_a_link_leads_to_no_other_host(guarded, path):
    answer = asked(guarded, "GET", f"{path}?token={quote(TOKEN)}")
    assert (answer.status, answer.getheader("Location")) == (303, "/" + path.lstrip("/"))


@pytest.mark.parametrize("given", ["", "wrong", TOKEN[:-1], TOKEN + " ", "ÿ" * 5000])
def test_a_wrong_token_brings_the_form_and_no_cookie(guarded, given):
    form = {"Content_Type": "application/x-www-form-urlencoded", "Accept": "text/html"}
    for answer in (
        asked(guarded, "GET", f"/?token={quote(given)}", Accept="text/html"),
        asked(guarded, "POST", "/", urlencode({"token": given[:500]}).encode(), **form),
    ):
        assert (answer.status, answer.getheader("Set-Cookie"), answer.getheader("Cache-Control")) == (401, None, "no-store")
        assert "This token is not right" in answer.text
        assert given not in ("wrong", TOKEN[:-1]) or given not in answer.text


def test_the_form_is_shown_without_a_word_of_a_wrong_token_at_first(guarded):
    answer = asked(guarded, "GET", "/sweep", Accept="text/html,*/*")
    assert answer.status == 401 and "<form" in answer.text
    assert "not right" not in answer.text and settings.TOKEN in answer.text


def test_the_form_takes_the_token_at_any_address(guarded):
    answer = asked(
        guarded, "POST", "/codeview?kernel=gemm", urlencode({"token": TOKEN}).encode(), Content_Type="application/x-www-form-urlencoded"
    )
    assert (answer.status, answer.getheader("Location")) == (303, "/codeview?kernel=gemm")
    assert asked(guarded, "GET", "/codeview", Cookie=answer.getheader("Set-Cookie").split(";")[0]).status == 200


def test_a_form_larger_than_any_token_is_not_read(guarded):
    answer = asked(
        guarded, "POST", "/", b"token=" + b"x" * door.FORM_BYTES, Content_Type="application/x-www-form-urlencoded", Accept="text/html"
    )
    assert answer.status == 401 and "not right" not in answer.text


def test_a_form_whose_sender_leaves_brings_no_traceback(monkeypatch):
    monkeypatch.setenv(settings.TOKEN, TOKEN)
    headers = {"host": "localhost", "content-type": "application/x-www-form-urlencoded", "content-length": "100"}
    scope = {"type": "http", "method": "POST", "path": "/", "query_string": b"", "headers": Headers(headers).raw}
    said = []

    async def gone():
        return {"type": "http.disconnect"}

    async def send(message):
        said.append(message)

    with ThreadPoolExecutor(1) as thread:  # a browser of other tests may have left this thread an event loop that runs
        thread.submit(asyncio.run, door.Door(None)(scope, gone, send)).result()
    assert said[0]["status"] == 401


def test_two_servers_of_one_host_do_not_take_each_others_cookie():
    assert door._cookie("gpu-machine:8501") != door._cookie("gpu-machine:8502") != door._cookie("gpu-machine")
    assert door._cookie("[::1]:8501") == "tileviz_8501"


def test_where_no_token_is_set_everybody_may_enter(monkeypatch):
    monkeypatch.delenv(settings.TOKEN, raising=False)
    assert door.admits({}, "localhost:8501")
    monkeypatch.setenv(settings.TOKEN, TOKEN)
    assert not door.admits({}, "localhost:8501")
    assert door.admits({"tileviz_8501": door.PASS}, "localhost:8501")
    assert not door.admits({"tileviz_8502": door.PASS}, "localhost:8501")
