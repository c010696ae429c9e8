"""Sweep in a real Chromium: a real sweep from Start to the heatmap, a click on a cell, two browsers on one sweep."""

import random
import re
import signal

import pytest
from playwright.sync_api import Page, expect

from tests import long_proofs
from tests.e2e.drive import SLOW_MS, run_button, see_no_trouble, settled, visit
from tests.ui import sweep_examples
from tileviz.store import Store

pytestmark = pytest.mark.e2e


def click_cell(page: Page, x: str, y: str, off: tuple[float, float] = (0.0, 0.0)) -> None:
    """Clicks a cell of the heatmap; `off` from its middle in pixels. Plotly takes a click only for what it hovers."""
    chart = page.locator(".st-key-sweep_map .js-plotly-plot")
    for _ in range(200):
        chart.scroll_into_view_if_needed()
        at = chart.evaluate(
            """(g, [x, y]) => { const r = g.getBoundingClientRect(), l = g._fullLayout, i = l.xaxis._categories.indexOf(x),
               j = l.yaxis._categories.indexOf(y);
               return [r.left + l.xaxis._offset + l.xaxis.l2p(i), r.top + l.yaxis._offset + l.yaxis.l2p(j)] }""",
            [x, y],
        )
        page.mouse.move(at[0] + off[0] - 5, at[1] + off[1] - 5)
        page.mouse.move(at[0] + off[0], at[1] + off[1])
        page.wait_for_timeout(250)
        if chart.evaluate("(g, [x, y]) => (g._hoverdata ?? []).some(point => String(point.x) === x && String(point.y) === y)", [x, y]):
            return page.mouse.click(at[0] + off[0], at[1] + off[1])
    pytest.fail(f"the cell {x}, {y} is never hovered")


def started(server, page: Page, n: int) -> str:
    """Starts a small sweep of the whole space, as a person does, and gives its id."""
    visit(page, f"{server.url}/sweep?kernel=vector_add&target=cpu")
    page.get_by_label("N", exact=True).fill(str(n))
    page.get_by_label("N", exact=True).press("Enter")
    settled(page)
    page.get_by_role("radiogroup", name="Effort").get_by_role("radio", name="full", exact=True).click()
    expect(page.get_by_text("effort full")).to_be_visible(timeout=15_000)
    settled(page)
    page.locator(".st-key-sweep_start button").click()
    expect(page).to_have_url(re.compile("sweep=[0-9a-f]{12}"), timeout=SLOW_MS)
    return re.search("sweep=([0-9a-f]{12})", page.url)[1]


def card(page: Page):
    """The card of the open config; the one of the last run of the page may still be there."""
    return page.locator(".st-key-sweep_card").first


def watch(page: Page):
    """The line that says how the sweep goes."""
    return page.locator(".st-key-sweep_watch").first


def test_a_click_on_a_cell_opens_the_config_of_that_cell(server, page: Page):
    """Case U01, with the knob values and not a mere rerun."""
    store = Store(server.home)
    sweep_examples.stored(store, "click")
    visit(page, f"{server.url}/sweep?sweep=click")
    expect(card(page)).to_contain_text("Config 71, the best")
    expect(page.locator(".st-key-sweep_map .js-plotly-plot")).to_be_visible(timeout=SLOW_MS)
    wanted = min((r for r in rows(store) if r["config"]["block_M"] == 64 and r["config"]["block_N"] == 128), key=lambda r: r["median_us"])
    click_cell(page, "64", "128", off=(20, 14))
    expect(card(page)).to_contain_text(f"Config {wanted['ordinal']}")
    expect(page).to_have_url(re.compile(f"config={wanted['ordinal']}"))
    click_cell(page, "256", "256")
    expect(card(page)).to_contain_text("breaks a rule")
    expect(card(page)).to_contain_text("shared memory 262,144 B")
    see_no_trouble(page)


def test_a_config_opens_in_explore_with_its_knobs(server, page: Page):
    sweep_examples.stored(Store(server.home), "open", problems=[{**sweep_examples.PROBLEM, "M": 640, "dtype": "float32"}])
    visit(page, f"{server.url}/sweep?sweep=open&config=0")
    page.locator(".st-key-card_explore button").first.click()
    expect(page.get_by_label("M", exact=True)).to_have_value("640")
    expect(page.get_by_role("radiogroup", name="block_N").get_by_role("radio", name="64", exact=True)).to_be_checked()
    expect(page.get_by_role("radiogroup", name="block_K").get_by_role("radio", name="32", exact=True)).to_be_checked()
    see_no_trouble(page)


def test_two_browsers_watch_one_sweep_from_start_to_its_heatmap(server, page: Page, browser, browser_context_args):
    sweep = started(server, page, 5000)
    asked = Store(server.home).sweep_pace(sweep).total
    context = browser.new_context(**browser_context_args)
    other = context.new_page()
    visit(other, f"{server.url}/sweep?sweep={sweep}")
    for each in (page, other):
        expect(watch(each)).to_contain_text(re.compile("^done"), timeout=SLOW_MS)
        expect(watch(each)).to_contain_text(f"{asked} of {asked} configs")
        expect(card(each)).to_contain_text("the best", timeout=SLOW_MS)
        expect(each.locator(".st-key-sweep_map .js-plotly-plot")).to_have_count(1, timeout=SLOW_MS)
        expect(each.locator(".st-key-sweep_map .js-plotly-plot")).to_be_visible()
        see_no_trouble(each)
    assert len([v for v in Store(server.home).sweeps("vector_add")]) == 1
    context.close()


def test_the_sweep_is_still_open_after_a_visit_to_explore_by_the_menu_and_by_the_back_button(server, page: Page):
    store = Store(server.home)
    sweep_examples.stored(store, "kept", problems=[{**sweep_examples.PROBLEM, "dtype": "float32"}])
    sweep_examples.stored(store, "later", problems=[{**sweep_examples.PROBLEM, "M": 768, "dtype": "float32"}])
    visit(page, f"{server.url}/sweep?sweep=kept&config=3")
    expect(card(page)).to_contain_text("Config 3")
    for back in (lambda: page.get_by_role("link", name="Sweep").click(), page.go_back):
        settled(page)
        page.locator(".st-key-card_explore button").first.click()
        expect(run_button(page)).to_be_visible()
        expect(page.get_by_label("N", exact=True)).to_have_value("4096")
        settled(page)
        back()
        expect(page).to_have_url(re.compile("/sweep"))
        expect(page.get_by_text("Sweep kept").first).to_be_visible(timeout=SLOW_MS)
        expect(card(page)).to_contain_text("Config 3")
        settled(page)
        expect(page).to_have_url(re.compile("sweep=kept"))
        see_no_trouble(page)


def test_a_running_sweep_counts_on_while_its_charts_stand_still(server, page: Page):
    store = Store(server.home)
    sweep_examples.stored(store, "live", measured=0.5, state="running")
    visit(page, f"{server.url}/sweep?sweep=live")
    chart = page.locator(".st-key-sweep_map .js-plotly-plot")
    expect(chart).to_be_visible(timeout=SLOW_MS)
    page.evaluate(
        """() => { const g = document.querySelector('.st-key-sweep_map .js-plotly-plot'); window.chart = g; window.drawn = 0;
           g.on('plotly_afterplot', () => window.drawn++) }"""
    )
    waiting = [row for row in store.sweep_frame("live") if row["status"] == "not_run"]
    for n, row in enumerate(waiting[:6]):
        before = watch(page).inner_text()
        trial = sweep_examples.examples.trial(
            trial=f"live{row['ordinal']}", config=row["config"], problem=sweep_examples.PROBLEM, device=sweep_examples.examples.H200,
            timing=sweep_examples.examples.timing(9000.0, timer="cupti", l2="cold"),
        )  # fmt: skip
        store.save_sweep_trials("live", [((row["ordinal"],), trial)])
        expect(watch(page)).not_to_have_text(before, use_inner_text=True)
        if n == 0:
            page.evaluate("window.drawn = 0")  # a slow browser may have been at its first drawing until then
    assert page.evaluate("() => [window.drawn, window.chart.isConnected]") == [0, True], "the live view drew the chart again"
    store.finish_sweep("live", "done", "all ran")
    expect(watch(page)).to_contain_text("done")


@pytest.mark.parametrize("kills", [1, long_proofs.slow(3)])
def test_a_server_that_is_killed_again_and_again_stops_no_sweep_and_finds_it_again(cold_server, page: Page, kills: int):
    server = cold_server()
    sweep, store, luck = started(server, page, 7000), Store(server.home), random.Random(3)
    asked, seen = store.sweep(sweep).requested, set()
    for _ in range(kills):
        page.wait_for_timeout(1000 * luck.uniform(0.2, 2.0))
        server.process.send_signal(signal.SIGKILL)
        server.process.wait()
        done = {row["trial"] for row in store.sweep_frame(sweep) if row["trial"]}
        assert seen <= done
        seen = done
        server = cold_server()
        visit(page, f"{server.url}/sweep?sweep={sweep}")
        expect(watch(page)).to_be_visible(timeout=SLOW_MS)
    expect(watch(page)).to_contain_text(re.compile("^done"), timeout=SLOW_MS)
    assert store.sweep(sweep).counts.get("ok") == asked
    assert len(store.trials(limit=100)) == len({row["trial"] for row in store.sweep_frame(sweep)}), "a config was measured twice"


def rows(store: Store) -> list[dict]:
    return [row for row in store.sweep_frame("click") if row["status"] == "ok"]
