"""What a stranger on the network or a hostile web page may do: nothing."""

import socket
import urllib.request
from collections.abc import Iterator
from urllib.error import HTTPError

import pytest
from playwright.sync_api import Browser, Page, expect

from tests import long_proofs
from tests.e2e.drive import run_button, see_no_trouble, settled, visit
from tests.serving import Server, serve
from tests.ui import sweep_examples
from tests.ui.test_door import handshake
from tests.waiting import until
from tileviz.store import Store

pytestmark = pytest.mark.e2e

TOKEN = "open sesame"
PAGES = {"": "Run", "explore": "Run", "codeview": "Compile", "sweep": "Start", "system": "Toolchain"}


@pytest.fixture(scope="module")
def locked(browser, shared_home) -> Iterator[Server]:
    """A server that asks for the token; each test's window is a new one to it."""
    running = serve(shared_home, TILEVIZ_TOKEN=TOKEN)
    yield running
    running.stop()


def test_our_own_page_may_connect(server):
    assert handshake(server, Origin=server.url) == 101


def test_a_foreign_origin_is_refused(server):
    assert handshake(server, Origin="http://evil.example") == 403


def test_a_rebound_host_is_refused(server):
    assert handshake(server, Host="evil.example", Origin="http://evil.example") == 400
    assert handshake(server, Host=f"evil.example:{server.port}") == 400


def test_only_this_machine_can_connect(server):
    own = socket.gethostbyname(socket.gethostname())
    if own.startswith("127."):
        pytest.skip("this machine has no address but the loopback's")
    with socket.socket() as probe:
        probe.settimeout(2)
        assert probe.connect_ex((own, server.port)) != 0


@pytest.mark.parametrize("stem", long_proofs.cases(list(PAGES), 0, 2))
def test_a_deep_link_works_on_a_server_that_nobody_has_visited(cold_server, page: Page, stem):
    server = cold_server()
    visit(page, f"{server.url}/{stem}")
    expect(page.get_by_text(PAGES[stem], exact=True).first).to_be_visible()
    expect(page.get_by_role("link", name="System")).to_be_visible()
    see_no_trouble(page)


def test_an_unknown_address_leads_to_explore_and_says_so(server, page: Page):
    visit(page, f"{server.url}/nowhere")
    expect(page.get_by_role("dialog")).to_contain_text("Page not found")
    expect(page.get_by_text("Run", exact=True).first).to_be_visible()


def test_a_tab_that_was_open_when_the_server_ended_comes_back_by_itself(cold_server, page: Page):
    server = cold_server()
    visit(page, f"{server.url}/system")
    server.stop()
    expect(page.locator("[data-testid=stApp]")).not_to_have_attribute("data-test-connection-state", "CONNECTED")
    cold_server(port=server.port)
    expect(page.locator("[data-testid=stApp]")).to_have_attribute("data-test-connection-state", "CONNECTED")
    settled(page)
    expect(page.get_by_role("heading", name="Toolchain", exact=True)).to_be_visible()
    see_no_trouble(page)


def test_a_tab_that_lost_its_server_and_stays_empty_is_loaded_again(cold_server, page: Page):
    server = cold_server()
    visit(page, f"{server.url}/system")
    page.add_style_tag(content="[data-testid=stMain] > * { display: none !important }")
    expect(page.get_by_role("heading", name="Toolchain", exact=True)).to_be_hidden()
    server.stop()
    expect(page.locator("[data-testid=stApp]")).not_to_have_attribute("data-test-connection-state", "CONNECTED")
    cold_server(port=server.port)
    expect(page.get_by_role("heading", name="Toolchain", exact=True)).to_be_visible()
    see_no_trouble(page)


@pytest.mark.parametrize("stem", PAGES)
def test_a_deep_link_without_the_token_shows_the_form_alone(locked, page: Page, stem):
    page.goto(f"{locked.url}/{stem}")
    expect(page.get_by_label("Token", exact=True)).to_be_focused()
    expect(page.get_by_text(PAGES[stem], exact=True)).to_have_count(0)
    give_token(page)
    expect(page.get_by_text(PAGES[stem], exact=True).first).to_be_visible()
    see_no_trouble(page)


def test_a_wrong_token_is_told_and_leaves_the_address(locked, page: Page):
    page.goto(f"{locked.url}/sweep?token=wrong&kernel=softmax")
    expect(page.get_by_role("alert")).to_have_text("This token is not right. Ask the person who started the server.")
    expect(page).to_have_url(f"{locked.url}/sweep?kernel=softmax")
    give_token(page, "wrong again")
    expect(page.get_by_role("alert")).to_be_visible()
    give_token(page)
    settled(page)
    expect(page).to_have_url(f"{locked.url}/sweep?kernel=softmax")


def test_the_token_of_a_link_opens_the_page_and_leaves_the_address(locked, page: Page):
    visit(page, f"{locked.url}/?token=open%20sesame&block_M=128")
    expect(page.get_by_role("radiogroup", name="block_M").get_by_role("radio", name="128", exact=True)).to_be_checked()
    settled(page)
    assert "token" not in page.url and "block_M=128" in page.url
    expect(page.get_by_label("Token", exact=True)).to_have_count(0)


def test_the_token_is_asked_once_for_reloads_other_tabs_and_other_pages(locked, page: Page):
    visit(page, f"{locked.url}/?token=open%20sesame")
    page.reload()
    expect(run_button(page)).to_be_visible()
    page.get_by_role("link", name="System").click()
    expect(page.get_by_role("heading", name="System", level=1)).to_be_visible()
    tab = page.context.new_page()
    visit(tab, f"{locked.url}/sweep")
    expect(tab.locator(".st-key-sweep_start")).to_be_visible()
    expect(tab.get_by_label("Token")).to_have_count(0)


def test_a_link_on_another_site_opens_the_page_with_its_token_and_later_without(locked, browser: Browser):
    """The browser keeps our cookie back when another site leads to us."""
    page = browser.new_page()
    for address in ("sweep?token=open%20sesame&kernel=softmax", "sweep?kernel=softmax"):
        page.goto("data:text/html,<p>another site")
        page.evaluate("where => { location.href = where }", f"{locked.url}/{address}")
        expect(page.locator(".st-key-sweep_start button")).to_be_visible()
        expect(page).to_have_url(f"{locked.url}/sweep?kernel=softmax")
    page.close()


def test_a_tab_of_a_server_that_was_started_anew_asks_for_the_token_again(cold_server, page: Page):
    server = cold_server(TILEVIZ_TOKEN=TOKEN)
    visit(page, f"{server.url}/system?token=open%20sesame")
    server.stop()
    cold_server(port=server.port, TILEVIZ_TOKEN=TOKEN)
    give_token(page)
    settled(page)
    expect(page.get_by_role("heading", name="Toolchain", exact=True)).to_be_visible()
    see_no_trouble(page)


def test_no_other_page_can_frame_ours(server, browser: Browser):
    page = browser.new_page()
    with page.expect_console_message(lambda message: "frame-ancestors 'none'" in message.text):
        page.set_content(f'<iframe src="{server.url}"></iframe>')
    expect(page.frame_locator("iframe").locator("[data-testid=stApp]")).to_have_count(0)
    page.close()


def test_uploads_and_downloads_need_the_token_and_go_with_their_session(cold_server, home, page: Page):
    server = cold_server(TILEVIZ_TOKEN=TOKEN, STREAMLIT_SERVER_DISCONNECTED_SESSION_TTL="1")
    sweep_examples.stored(Store(home), "files")
    visit(page, f"{server.url}/sweep?token=open%20sesame&sweep=files&view=Take it along")
    with page.expect_download() as saved:
        page.locator(".st-key-take_csv button").click()
    with page.expect_response(lambda response: response.request.method == "PUT") as sent:
        page.locator("input[type=file]").set_input_files({"name": "no.json", "mimeType": "application/json", "buffer": b"{}" * 1000})
    assert sent.value.status == 204
    download, upload, held = saved.value.url, sent.value.url, f"{server.url}/_stcore/metrics?families=cache_memory_bytes"

    with_cookie = page.context.request
    assert "knob.block_M" in with_cookie.get(download).text()
    assert "UploadedFileManager" in with_cookie.get(held).text()
    xsrf = next(cookie["value"] for cookie in page.context.cookies() if cookie["name"] == "_streamlit_xsrf")
    stranger = {"X-Xsrftoken": xsrf, "Cookie": f"_streamlit_xsrf={xsrf}"}
    for method, url in (("GET", download), ("PUT", upload), ("DELETE", upload), ("GET", held)):
        assert status(method, url, stranger) == 401

    page.close()
    until(lambda: "UploadedFileManager" not in with_cookie.get(held).text())
    until(lambda: with_cookie.get(download).status == 404)


def test_nothing_is_fetched_from_anywhere_else(server, page: Page):
    """`context` watches this, and so it does in every other test here."""
    for stem in (*PAGES, "sweep", ""):
        visit(page, f"{server.url}/{stem}")


def test_what_a_page_would_fetch_from_another_host_is_refused(server, browser: Browser):
    page = browser.new_page()
    visit(page, server.url)
    assert page.evaluate("fetch('https://fonts.gstatic.com/').then(() => 'fetched', () => 'refused')") == "refused"
    page.close()


def give_token(page: Page, token: str = TOKEN) -> None:
    page.get_by_label("Token", exact=True).fill(token)
    page.get_by_role("button", name="Open", exact=True).click()


def status(method: str, url: str, headers: dict[str, str]) -> int:
    """Of one request by who has these headers alone."""
    try:
        return urllib.request.urlopen(urllib.request.Request(url, b"x" if method == "PUT" else None, headers, method=method)).status
    except HTTPError as refused:
        return refused.code
