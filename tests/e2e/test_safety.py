"""What a stranger on the network or a hostile web page may do: nothing."""

import base64
import http.client
import os
import re
import socket

import pytest
from playwright.sync_api import Page, expect

from tests.e2e.drive import see_no_trouble, settled, visit

pytestmark = pytest.mark.e2e

PAGES = {"": "Run", "explore": "Run", "codeview": "Compile", "sweep": "Start", "system": "Toolchain"}


def handshake(port: int, host: str, origin: str | None) -> int:
    """Status of opening the page's WebSocket with these headers."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=10)
    headers = {
        "Host": host, "Upgrade": "websocket", "Connection": "Upgrade", "Sec-WebSocket-Version": "13",
        "Sec-WebSocket-Key": base64.b64encode(os.urandom(16)).decode(),
    }  # fmt: skip
    if origin is not None:
        headers["Origin"] = origin
    connection.request("GET", "/_stcore/stream", headers=headers)
    status = connection.getresponse().status
    connection.close()
    return status


def test_our_own_page_may_connect(server):
    assert handshake(server.port, f"127.0.0.1:{server.port}", server.url) == 101


def test_a_foreign_origin_is_refused(server):
    assert handshake(server.port, f"127.0.0.1:{server.port}", "http://evil.example") == 403


def test_a_rebound_host_is_refused(server):
    assert handshake(server.port, "evil.example", "http://evil.example") == 403
    assert handshake(server.port, f"evil.example:{server.port}", None) == 403


def test_only_this_machine_can_connect(server):
    own = socket.gethostbyname(socket.gethostname())
    if own.startswith("127."):
        pytest.skip("this machine has no address but the loopback's")
    with socket.socket() as probe:
        probe.settimeout(2)
        assert probe.connect_ex((own, server.port)) != 0


@pytest.mark.parametrize("stem", PAGES)
def test_a_deep_link_works_on_a_server_that_nobody_has_visited(cold_server, page: Page, stem):
    server = cold_server()
    visit(page, f"{server.url}/{stem}")
    expect(page.get_by_text(PAGES[stem], exact=True).first).to_be_visible(timeout=15_000)
    expect(page.get_by_role("link", name="System")).to_be_visible()
    see_no_trouble(page)


@pytest.mark.parametrize("stem", PAGES)
def test_a_deep_link_without_the_token_shows_the_form_alone(cold_server, page: Page, stem):
    server = cold_server(TILEVIZ_TOKEN="open sesame")
    visit(page, f"{server.url}/{stem}")
    expect(page.get_by_label("Token", exact=True)).to_be_visible(timeout=15_000)
    expect(page.get_by_text(PAGES[stem], exact=True)).to_have_count(0)
    page.get_by_label("Token", exact=True).fill("open sesame")
    page.get_by_role("button", name="Open").click()
    expect(page.get_by_text(PAGES[stem], exact=True).first).to_be_visible(timeout=15_000)


def test_the_token_of_a_link_opens_the_page_and_leaves_the_address(cold_server, page: Page):
    server = cold_server(TILEVIZ_TOKEN="open sesame")
    visit(page, f"{server.url}/?token=open%20sesame&block_M=128")
    expect(page.get_by_role("radiogroup", name="block_M").get_by_role("radio", name="128")).to_be_checked(timeout=15_000)
    settled(page)
    assert "token" not in page.url and "block_M=128" in page.url
    expect(page.get_by_label("Token", exact=True)).to_have_count(0)


def test_nothing_is_fetched_from_anywhere_else(server, page: Page):
    foreign = []
    page.on(
        "request",
        lambda request: foreign.append(request.url) if not re.match(r"(http|ws)://127\.0\.0\.1|data:|blob:", request.url) else None,
    )
    visit(page, server.url)
    visit(page, f"{server.url}/system")
    assert foreign == []
