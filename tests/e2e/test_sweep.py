"""Sweep in a real Chromium: a real sweep from Start to the heatmap, a click on a cell, two browsers on one sweep."""

import random
import re
import signal

import pytest
from playwright.sync_api import Page, expect

from tests.e2e.drive import SLOW_MS, run_button, see_no_trouble, settled, visit
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


def back_to(page: Page, path: str, most: int = 8) -> None:
    """Presses Back until the address is that of another page: Explore puts each knob into the address as it comes to it."""
    for _ in range(most):
        page.go_back()
        settled(page)
        if path in page.url:
            return
    pytest.fail(f"{most} times back, and still {page.url}")


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
    sweep = started(server, page, 5000)
    asked = Store(server.home).sweep_pace(sweep).total
    context = browser.new_context(**browser_context_args)
    other = context.new_page()
    visit(other, f"{server.url}/sweep?sweep={sweep}")
    for each in (page, other):
        expect(each.locator(".st-key-sweep_watch")).to_contain_text(re.compile("^done"), timeout=SLOW_MS)
        expect(each.locator(".st-key-sweep_watch")).to_contain_text(f"{asked} of {asked} configs")
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
    for back in (lambda: page.get_by_role("link", name="Sweep").click(), lambda: back_to(page, "/sweep")):
        page.locator(".st-key-card_explore button").first.click()
        expect(run_button(page)).to_be_visible(timeout=SLOW_MS)
        settled(page)
        back()
        expect(page.get_by_text("Sweep kept")).to_be_visible(timeout=SLOW_MS)
        expect(card(page)).to_contain_text("Config 3", timeout=15_000)
        settled(page)
        expect(page).to_have_url(re.compile("sweep=kept"))
        see_no_trouble(page)


def test_a_running_sweep_counts_on_while_its_charts_stand_still(server, page: Page):
    store = Store(server.home)
    sweep_examples.stored(store, "live", measured=0.5, state="running")
    visit(page, f"{server.url}/sweep?sweep=live")
    chart = page.locator(".st-key-sweep_map .js-plotly-plot")
    expect(chart).to_be_visible(timeout=SLOW_MS)
    watch = page.locator(".st-key-sweep_watch")
    before = watch.inner_text()
    page.evaluate(
        """() => { const g = document.querySelector('.st-key-sweep_map .js-plotly-plot'); window.chart = g; window.drawn = 0;
           g.on('plotly_afterplot', () => window.drawn++) }"""
    )
    waiting = [row for row in store.sweep_frame("live") if row["status"] == "not_run"][:12]
    for row in waiting:
        trial = sweep_examples.examples.trial(
            trial=f"live{row['ordinal']}", config=row["config"], problem=sweep_examples.PROBLEM, device=sweep_examples.examples.H200,
            timing=sweep_examples.examples.timing(9000.0, timer="cupti", l2="cold"),
        )  # fmt: skip
        store.save_sweep_trials("live", [((row["ordinal"],), trial)])
        page.wait_for_timeout(300)
    expect(watch).not_to_have_text(before)
    page.wait_for_timeout(2500)
    assert page.evaluate("() => [window.drawn, window.chart.isConnected]") == [0, True], "the live view drew the chart again"
    store.finish_sweep("live", "done", "all ran")
    expect(watch).to_contain_text("done", timeout=15_000)


def test_a_server_that_is_killed_again_and_again_stops_no_sweep_and_finds_it_again(cold_server, page: Page):
    server = cold_server()
    sweep, store, luck = started(server, page, 7000), Store(server.home), random.Random(3)
    asked, seen = store.sweep(sweep).requested, set()
    for _ in range(3):
        page.wait_for_timeout(1000 * luck.uniform(0.2, 2.0))
        server.process.send_signal(signal.SIGKILL)
        server.process.wait()
        done = {row["trial"] for row in store.sweep_frame(sweep) if row["trial"]}
        assert seen <= done
        seen = done
        server = cold_server()
        visit(page, f"{server.url}/sweep?sweep={sweep}")
        expect(page.locator(".st-key-sweep_watch")).to_be_visible(timeout=SLOW_MS)
    expect(page.locator(".st-key-sweep_watch")).to_contain_text(re.compile("^done"), timeout=SLOW_MS)
    assert store.sweep(sweep).counts.get("ok") == asked
    assert len(store.trials(limit=100)) == len({row["trial"] for row in store.sweep_frame(sweep)}), "a config was measured twice"


def rows(store: Store) -> list[dict]:
    return [row for row in store.sweep_frame("click") if row["status"] == "ok"]


MAP = ".st-key-sweep_map"


CELL = """(x, y) => { const g = document.querySelector('.st-key-sweep_map .js-plotly-plot'), r = g.getBoundingClientRect(),
    l = g._fullLayout, [k, a, b] = [r.width / l.width, l.xaxis, l.yaxis], [i, j] = [a._categories.indexOf(x), b._categories.indexOf(y)],
    [w, h] = [a.l2p(1) - a.l2p(0), b.l2p(0) - b.l2p(1)]
    return [r.left + k * (a._offset + a.l2p(i) - w / 2), r.top + k * (b._offset + b.l2p(j) - h / 2), k * w, k * h] }"""
"""Left, top, width and height of a cell on the screen, in pixels."""

RINGED = """([x, y]) => { const rings = document.querySelectorAll('.st-key-sweep_map .chart-ring')
    if (rings.length !== 1) return false
    const r = rings[0].getBoundingClientRect(), cell = (CELL)(x, y)
    return [r.left, r.top, r.width, r.height].every((at, n) => Math.abs(at - cell[n]) < 2) }""".replace("CELL", CELL)

FILLED = """([width, px]) => { const g = document.querySelector('.st-key-sweep_map .js-plotly-plot'), t = g?.querySelector('.xtick text')
    if (!t) return false
    const r = g.getBoundingClientRect(), k = r.width / g._fullLayout.width
    return r.width > width - 60 && r.right <= width && Math.abs(k * parseFloat(getComputedStyle(t).fontSize) - px) < 0.5 }"""
"""The chart is as wide as the window, and its ticks have so many pixels."""


def see_ring(page: Page, x: str, y: str) -> None:
    """The one ring lies on the cell."""
    page.wait_for_function(RINGED, arg=[x, y])


def shown_map(server, page: Page, sweep: str, config: int) -> None:
    if Store(server.home).sweep(sweep) is None:
        sweep_examples.stored(Store(server.home), sweep)
    visit(page, f"{server.url}/sweep?sweep={sweep}&config={config}")
    expect(page.locator(f"{MAP} .chart-ring")).to_be_visible(timeout=SLOW_MS)


def test_a_click_rings_the_cell_and_fades_no_number_and_the_address_brings_the_ring_back(server, page: Page):
    shown_map(server, page, "ring", 30)
    see_ring(page, "64", "256")
    inks = """g => [...g.querySelectorAll('.textpoint text')].map(t => { const s = getComputedStyle(t);
              return [t.textContent, s.fill, s.fillOpacity, s.opacity] })"""
    plot = page.locator(f"{MAP} .js-plotly-plot")
    before = plot.evaluate(inks)
    assert len(before) == 9 and {(fade, whole) for _, _, fade, whole in before} == {("1", "1")}
    click_cell(page, "128", "128")
    expect(page).to_have_url(re.compile("config=59"))
    see_ring(page, "128", "128")
    settled(page)
    assert plot.evaluate(inks) == before
    assert page.locator(f"{MAP} .hoverlayer .hovertext").count() == 0, "a label would hide neighbours"
    expect(page.locator(".st-key-screen_sweep_map .chart-told")).to_contain_text("block_M=128 block_N=128: 261 \u00b5s")
    page.reload()
    see_ring(page, "128", "128")
    expect(card(page)).to_contain_text("Config 59")
    see_no_trouble(page)


def test_arrow_keys_go_from_cell_to_cell_and_open_what_they_come_to(server, page: Page):
    shown_map(server, page, "ring", 30)
    page.locator(f"{MAP} .stPlotlyChart").focus()
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowDown")
    see_ring(page, "128", "128")
    expect(card(page)).to_contain_text("Config 59")
    expect(page).to_have_url(re.compile("config=59"))
    page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowDown")  # there is no row under it
    see_ring(page, "128", "64")
    expect(card(page)).to_contain_text("Config 47")
    see_no_trouble(page)


@pytest.mark.parametrize("width", (820, 1440))
def test_the_map_fills_the_window_with_text_of_a_size_that_is_remembered(server, page: Page, width):
    page.set_viewport_size({"width": width, "height": 900})
    shown_map(server, page, "ring", 30)
    box = page.locator(".st-key-screen_sweep_map")
    page.locator(f"{MAP} .stPlotlyChart").focus()
    page.keyboard.press("f")
    expect(box).to_have_class(re.compile("full-on"))
    assert box.bounding_box() == {"x": 0, "y": 0, "width": width, "height": 900}
    for key, px in (("-", 16), ("+", 24)):
        for _ in range(9):
            page.keyboard.press(key)
        page.wait_for_function(FILLED, arg=[width, px])
    page.keyboard.press("ArrowDown")
    see_ring(page, "64", "128")
    left, top, wide, high = page.evaluate(f"([x, y]) => ({CELL})(x, y)", ["256", "64"])
    page.mouse.move(left + wide / 2 - 5, top + high / 2)
    page.mouse.move(left + wide / 2, top + high / 2)
    expect(box.locator(".chart-told")).to_contain_text("block_M=256 block_N=64")
    page.mouse.click(left + wide / 2, top + high / 2)
    expect(page).to_have_url(re.compile("config=83"))
    page.keyboard.press("?")
    expect(page.get_by_role("note", name="Keys")).to_contain_text("next cell")
    page.keyboard.press("Escape")
    expect(box).not_to_have_class(re.compile("full-on"))
    see_ring(page, "256", "64")
    page.reload()
    see_ring(page, "256", "64")
    page.locator(".st-key-screen_sweep_map").get_by_role("button", name="Full screen").click()
    expect(box).to_have_class(re.compile("full-on"))
    page.wait_for_function(FILLED, arg=[width, 24])
    see_no_trouble(page)


def test_at_820_the_card_stands_under_the_map_with_its_figures_whole(server, page: Page):
    page.set_viewport_size({"width": 820, "height": 900})
    shown_map(server, page, "ring", 30)
    chart, beside = page.locator(f"{MAP} .js-plotly-plot").bounding_box(), card(page).bounding_box()
    assert beside["y"] > chart["y"] + chart["height"] and beside["width"] > 320
    for value in card(page).locator("[data-testid=stMetricValue]").all():
        assert value.evaluate("e => [...e.querySelectorAll('*')].every(part => part.scrollWidth <= part.clientWidth)"), value.inner_text()


def test_the_tools_of_plotly_are_out_of_the_tab_order_until_they_are_asked_for(server, page: Page):
    shown_map(server, page, "ring", 30)
    bar = page.locator(".st-key-top_chart .modebar").first
    expect(bar).to_be_hidden()
    page.locator(".st-key-screen_top_chart").get_by_role("button", name="Keys (?)").focus()
    page.keyboard.press("t")
    expect(bar).to_be_visible()
