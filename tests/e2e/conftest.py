"""A real server on a free port with a store of its own, and a real Chromium."""

import re
from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, BrowserContext, Playwright, sync_playwright

from tests.e2e.drive import PATIENT_MS
from tests.serving import Server, serve

CHROMIUM_FLAGS = (
    "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
    "--disable-component-update", "--disable-sync",
)  # fmt: skip


def pytest_collection_modifyitems(items) -> None:
    """Time for a machine that has much else to do: each wait of a browser test ends by itself."""
    for item in items:
        if item.get_closest_marker("e2e"):
            item.add_marker(pytest.mark.timeout(900))


@pytest.fixture(scope="module")
def server(browser, shared_home) -> Iterator[Server]:
    """One server for the tests of a module. The browser starts first, so that it does not count as a process of this home."""
    running = serve(shared_home)
    yield running
    running.stop()


@pytest.fixture
def cold_server(browser, home) -> Iterator:
    """Starts servers that no one has visited yet: `cold_server(TILEVIZ_TOKEN=...)`, and again at the port of one that ended."""
    started = []

    def start(port: int | None = None, **env: str) -> Server:
        started.append(serve(home, port, **env))
        return started[-1]

    yield start
    for running in started:
        running.stop()


@pytest.fixture(scope="module")
def playwright() -> Iterator[Playwright]:
    """In place of the plugin's own, which stays to the end of the run: it leaves an event loop running in the main thread, where
    `asyncio.run` of any later test fails."""
    with sync_playwright() as started:
        yield started


@pytest.fixture(scope="module")
def browser(playwright, chromium) -> Iterator[Browser]:
    """One Chromium for the tests of a module."""
    started = playwright.chromium.launch(executable_path=chromium, args=list(CHROMIUM_FLAGS), headless=True)
    yield started
    started.close()


@pytest.fixture(scope="module")
def browser_context_args() -> dict:
    return {"viewport": {"width": 1280, "height": 900}}


@pytest.fixture
def context(context: BrowserContext) -> Iterator[BrowserContext]:
    """The browser of one test, in which no page asks another host for anything, nor does what our own policy forbids."""
    context.set_default_timeout(PATIENT_MS)
    foreign = []
    own = re.compile(r"(http|ws)://127\.0\.0\.1[:/]|data:|blob:")
    context.on("request", lambda request: None if own.match(request.url) else foreign.append(request.url))
    context.on("console", lambda message: foreign.append(message.text) if "Content Security Policy" in message.text else None)
    yield context
    assert foreign == []
