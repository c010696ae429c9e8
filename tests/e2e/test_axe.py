"""axe-core on every page with a result, in both themes: nothing serious or critical.

No rule and no element is left out: with our looks Streamlit's own elements pass too. One that a later Streamlit brings is listed here by
rule and selector, with a reason.
"""

from collections.abc import Iterator

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, Page, expect

from tests import long_proofs
from tests.e2e.drive import see_no_trouble, visit
from tests.serving import Server, serve
from tileviz.store.recorded import FILE

pytestmark = pytest.mark.e2e

FLASH = "kernel=flash_attention&target=sm_90a"
PAGES = {"Explore": f"/?{FLASH}", "Sweep": "/sweep?sweep=13a132c705c4", "Code": f"/codeview?{FLASH}", "System": "/system"}

SERIOUS = ("serious", "critical")

STILL = """() => Promise.allSettled(document.getAnimations()
    .filter((each) => each.effect.getTiming().iterations < 9).map((each) => each.finished))"""
"""Waits for what fades in. An element that is drawn anew meanwhile cancels its animation: that one is over, too."""


@pytest.fixture(scope="module")
def with_recorded(browser, shared_home) -> Iterator[Server]:
    """A server with the recorded results, and nothing else."""
    running = serve(shared_home, TILEVIZ_RECORDED=str(FILE))
    yield running
    running.stop()


@pytest.fixture(scope="module")
def themed(request, browser: Browser, browser_context_args) -> Iterator[Page]:
    """One window for the pages of a theme: the browser keeps what it has read."""
    context = browser.new_context(**{**browser_context_args, "color_scheme": request.param})
    yield context.new_page()
    context.close()


@pytest.mark.parametrize(
    ("themed", "name"),
    long_proofs.cases([(theme, name) for theme in ("light", "dark") for name in PAGES], 0, 1, 2, 3, 5),
    indirect=["themed"],
)
def test_axe_finds_nothing_serious_of_ours(with_recorded, themed: Page, name: str):
    visit(themed, with_recorded.url + PAGES[name])
    expect(themed.locator("h1")).to_have_count(1)
    expect(themed.locator("[data-testid=stPlotlyChart]:not(:has(.main-svg))")).to_have_count(0)
    see_no_trouble(themed)
    themed.evaluate(STILL)
    found = Axe().run(themed, options={"resultTypes": ["violations"]}).response
    assert found["url"].startswith(with_recorded.url) and len(found["passes"]) > 10
    serious = [rule for rule in found["violations"] if rule["impact"] in SERIOUS]
    assert [(rule["id"], node["target"], node["failureSummary"]) for rule in serious for node in rule["nodes"]] == []
