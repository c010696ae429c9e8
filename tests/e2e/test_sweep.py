"""Sweep in a real Chromium: a real sweep from Start to the heatmap, a click on a cell, two browsers on one sweep."""

import re

import pytest
from playwright.sync_api import Page, expect

from tests.e2e.drive import SLOW_MS, see_no_trouble, settled, visit
from tests.ui import sweep_examples
from tileviz.store import Store

pytestmark = pytest.mark.e2e


def click_cell(page: Page, x: str, y: str, off: tuple[float, float] = (0.0, 0.0)) -> None:
    """Clicks a cell of the heatmap; `off` from its middle in pixels."""
    chart = page.locator(".st-key-sweep_map .js-plotly-plot")
    chart.scroll_into_view_if_needed()
    at = chart.evaluate(
        """(g, [x, y]) => { const r = g.getBoundingClientRect(), l = g._fullLayout, i = l.xaxis._categories.indexOf(x),
           j = l.yaxis._categories.indexOf(y);
           return [r.left + l.xaxis._offset + l.xaxis.l2p(i), r.top + l.yaxis._offset + l.yaxis.l2p(j)] }""",
        [x, y],
    )
    page.mouse.move(at[0] + off[0] - 5, at[1] + off[1] - 5)
    page.mouse.move(at[0] + off[0], at[1] + off[1])
    page.wait_for_timeout(250)  # plotly takes a click only for what it hovers
    page.mouse.click(at[0] + off[0], at[1] + off[1])


def card(page: Page):
    return page.locator(".st-key-sweep_card")


def test_a_click_on_a_cell_opens_the_config_of_that_cell(server, page: Page):
    """Case U01, with the knob values and not a mere rerun."""
    store = Store(server.home)
    sweep_examples.stored(store, "click")
    visit(page, f"{server.url}/sweep?sweep=click")
    expect(card(page)).to_contain_text("Config 71, the best")
    expect(page.locator(".st-key-sweep_map .js-plotly-plot")).to_be_visible(timeout=SLOW_MS)
    wanted = min((r for r in rows(store) if r["config"]["block_M"] == 64 and r["config"]["block_N"] == 128), key=lambda r: r["median_us"])
    click_cell(page, "64", "128", off=(20, 14))
    expect(card(page)).to_contain_text(f"Config {wanted['ordinal']}", timeout=15_000)
    expect(page).to_have_url(re.compile(f"config={wanted['ordinal']}"))
    click_cell(page, "256", "256")
    expect(card(page)).to_contain_text("breaks a rule", timeout=15_000)
    expect(card(page)).to_contain_text("shared memory 262,144 B")
    see_no_trouble(page)


def test_a_config_opens_in_explore_with_its_knobs(server, page: Page):
    sweep_examples.stored(Store(server.home), "open", problems=[{**sweep_examples.PROBLEM, "M": 640, "dtype": "float32"}])
    visit(page, f"{server.url}/sweep?sweep=open&config=0")
    page.locator(".st-key-card_explore button").first.click()
    expect(page.get_by_label("M", exact=True)).to_have_value("640", timeout=15_000)
    expect(page.get_by_role("radiogroup", name="block_N").get_by_role("radio", name="64", exact=True)).to_be_checked()
    expect(page.get_by_role("radiogroup", name="block_K").get_by_role("radio", name="32", exact=True)).to_be_checked()
    see_no_trouble(page)


def test_two_browsers_watch_one_sweep_from_start_to_its_heatmap(server, page: Page, browser, browser_context_args):
    visit(page, f"{server.url}/sweep?kernel=vector_add&target=cpu")
    page.get_by_label("N", exact=True).fill("5000")
    page.get_by_label("N", exact=True).press("Enter")
    expect(page.get_by_text("4 to run of 16 requested")).to_be_visible(timeout=15_000)
    settled(page)
    page.locator(".st-key-sweep_start button").click()
    expect(page).to_have_url(re.compile("sweep=[0-9a-f]{12}"), timeout=15_000)
    sweep = re.search("sweep=([0-9a-f]{12})", page.url)[1]
    context = browser.new_context(**browser_context_args)
    other = context.new_page()
    visit(other, f"{server.url}/sweep?sweep={sweep}")
    for each in (page, other):
        expect(each.locator(".st-key-sweep_watch")).to_contain_text(re.compile("^done"), timeout=SLOW_MS)
        expect(each.locator(".st-key-sweep_watch")).to_contain_text("4 of 4 configs")
        expect(card(each)).to_contain_text("the best", timeout=SLOW_MS)
        expect(each.locator(".st-key-sweep_map .js-plotly-plot")).to_have_count(1, timeout=SLOW_MS)
        expect(each.locator(".st-key-sweep_map .js-plotly-plot")).to_be_visible()
        see_no_trouble(each)
    assert len([v for v in Store(server.home).sweeps("vector_add")]) == 1
    context.close()


def rows(store: Store) -> list[dict]:
    return [row for row in store.sweep_frame("click") if row["status"] == "ok"]
