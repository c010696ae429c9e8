"""Charts in a real Chromium: the ring and the keys of the heatmap, and a chart that fills the window."""

import dataclasses
import itertools
import json
import re
import urllib.parse

import pytest
from playwright.sync_api import Page, expect

from tests import long_proofs
from tests.e2e.drive import SLOW_MS, see_no_trouble, settled, visit
from tests.e2e.test_sweep import card, click_cell
from tests.ui import code_examples, examples, sweep_examples
from tileviz.measured import ErrorMap
from tileviz.store import Store
from tileviz.ui.charts import colour

pytestmark = pytest.mark.e2e


MAP, TOP = ".st-key-sweep_map", ".st-key-screen_top_chart"


CELL = """(x, y) => { const g = document.querySelector('.st-key-sweep_map .js-plotly-plot'), r = g.getBoundingClientRect(),
    l = g._fullLayout, [k, a, b] = [r.width / l.width, l.xaxis, l.yaxis], [i, j] = [a._categories.indexOf(x), b._categories.indexOf(y)],
    [w, h] = [a.l2p(1) - a.l2p(0), b.l2p(0) - b.l2p(1)]
    return [r.left + k * (a._offset + a.l2p(i) - w / 2), r.top + k * (b._offset + b.l2p(j) - h / 2), k * w, k * h] }"""
"""Left, top, width and height of a cell on the screen, in pixels."""

RINGED = """([x, y]) => { const rings = document.querySelectorAll('.st-key-sweep_map .chart-ring')
    if (rings.length !== 1) return false
    const r = rings[0].getBoundingClientRect(), cell = (CELL)(x, y)
    return [r.left, r.top, r.width, r.height].every((at, n) => Math.abs(at - cell[n]) < 2) }""".replace("CELL", CELL)

FILLED = """([width, px, chart]) => {
    const g = document.querySelector((chart || '.st-key-sweep_map') + ' .js-plotly-plot'), t = g?.querySelector('.xtick text')
    if (!t) return false
    const r = g.getBoundingClientRect(), k = r.width / g._fullLayout.width
    return r.width > width - 60 && r.width <= width && Math.abs(k * parseFloat(getComputedStyle(t).fontSize) - px) < 0.5 }"""
"""The chart is as wide as it should be, and its ticks have so many pixels."""


INK_AND_PAGE = """g => [getComputedStyle(g.querySelector('.xtick text')).fill,
    getComputedStyle(document.querySelector('[data-testid=stApp]')).backgroundColor]"""


def seen_rgb(told: str) -> colour.Rgb:
    """Of `rgb(29, 39, 51)`."""
    red, green, blue = (int(part) / 255 for part in re.findall("[0-9]+", told)[:3])
    return red, green, blue


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


def test_the_map_fills_the_window_with_text_of_a_size_that_is_remembered(server, page: Page):
    width = 820
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


def test_no_empty_place_is_left_under_the_map_beside_the_card(server, page: Page):
    page.set_viewport_size({"width": 1440, "height": 900})
    shown_map(server, page, "ring", 30)
    settled(page)
    left = page.get_by_text("Click a cell, or go there by arrow keys").bounding_box()
    facts, own = page.locator(".tile-facts").bounding_box(), card(page).bounding_box()
    assert own["x"] > left["x"] + left["width"], "beside each other"
    assert own["y"] + own["height"] - (facts["y"] + facts["height"]) < 100 and facts["y"] - (left["y"] + left["height"]) < 100


def test_the_tools_of_plotly_are_out_of_the_tab_order_until_they_are_asked_for(server, page: Page):
    shown_map(server, page, "ring", 30)
    bar = page.locator(".st-key-top_chart .modebar").first
    expect(bar).to_be_hidden()
    page.locator(f"{TOP} .js-plotly-plot").hover()
    expect(bar).to_be_hidden()  # it would lie over the names of the lines
    page.locator(TOP).get_by_role("button", name="Keys (?)").focus()
    page.keyboard.press("t")
    expect(bar).to_be_visible()
    page.locator(TOP).get_by_role("button", name="Tools").click()
    expect(bar).to_be_hidden()


def test_names_of_the_top_chart_do_not_touch_and_read_on_the_page_of_both_themes(server, page: Page):
    store = Store(server.home)
    if store.sweep("lines") is None:
        sweep_examples.stored(store, "lines")
        best = min((r for r in store.sweep_frame("lines") if r["status"] == "ok"), key=lambda r: r["median_us"])
        near = [examples.baseline(f"b{n}", f"a baseline with a long name {n}", best["median_us"] * (1 + n / 100), 200.0) for n in range(4)]
        slow = examples.baseline("slow", "SDPA math", 9_000.0, 200.0)
        known = store.trial(best["trial"])
        store.save_trial(dataclasses.replace(known, baselines=(*near, slow)))
    boxes = """g => [...g.querySelectorAll('.annotation-text, .xtick text, .ytick text, .xtitle')].map(e => {
               const r = e.getBoundingClientRect(); return [e.textContent, r.left, r.top, r.right, r.bottom] })"""
    for width, scheme in ((820, "light"), (1440, "dark")):
        page.emulate_media(color_scheme=scheme)
        page.set_viewport_size({"width": width, "height": 900})
        visit(page, f"{server.url}/sweep?sweep=lines")
        plot = page.locator(f"{TOP} .js-plotly-plot")
        expect(plot.locator(".annotation-text")).to_have_count(5, timeout=SLOW_MS)
        words, ground = (seen_rgb(found) for found in plot.evaluate(INK_AND_PAGE))
        assert colour.contrast(words, ground) >= 4.5, scheme
        found, own = plot.evaluate(boxes), plot.bounding_box()
        for (one, *a), (other, *b) in itertools.combinations(found, 2):
            assert a[2] <= b[0] or b[2] <= a[0] or a[3] <= b[1] + 1 or b[3] <= a[1] + 1, (width, one, other)
        assert all(a >= own["x"] and b <= own["x"] + own["width"] for _, a, _, b, _ in found), (width, found)


def stored_with_every_figure(store: Store) -> list[str]:
    """A run with its clocks, errors and traffic, a reading of tiles, and a sweep; gives addresses that together draw every chart."""
    timing = examples.timing(
        180.0, timer="cupti", l2="cold", sm_clock_mhz=1900.0, sm_clocks_mhz=(1980.0, 1900.0), clock_limits=((1, 1, "power cap"),)
    )
    errors = ErrorMap((8, 8), (4, 4), ((0.1, 0.1), (9.0, 0.1)), ((0, 0), (9, 0)))
    wrong = examples.right(ok=False, wrong_count=64, wrong_fraction=0.004, errors=errors)
    run = examples.trial("gemm_bias_gelu", device=examples.H200, timing=timing, trial="figures")
    store.save_trial(run)
    store.save_trial(dataclasses.replace(run, trial="wrong", verdict=wrong, status="wrong_result"))
    code = code_examples.artifact()
    store.save_artifact(code)
    cells = [[row * 8 + column for column in range(8)] for row in range(8)]
    tile = {"buffer": "A_shared", "kind": "shared", "shape": [8, 8], "dtype": "float16", "registers": [], "replicated": 1,
            "expression": "index = _i", "cells": cells}  # fmt: skip
    store.files.write_more(code.key, {"passes.json": "[]", "layouts.json": json.dumps([tile]), "lowering.html": "<html></html>"})
    if store.sweep("ring") is None:
        sweep_examples.stored(store, "ring")
    words = urllib.parse.urlencode({**code_examples.words(code_examples.request()), "tab": "Layouts"})
    views = [f"sweep?sweep=ring&view={name}" for name in ("Table", "Progress", "Knobs", "Parallel", "Roofline")]
    return ["?trial=figures", "?trial=wrong", f"codeview?{words}", *views]


EVERY_FIGURE = {"latency", "samples", "clocks", "errors", "traffic", "tile_figure", "sweep_map", "top_chart", "effects", "parallel"}


@pytest.mark.parametrize(
    ("first", "figures"), [(1, {"latency", "samples"}), long_proofs.slow((None, EVERY_FIGURE))], ids=["one page", "all"]
)
def test_every_figure_of_a_page_fills_the_window_and_tells_its_keys(server, page: Page, first: int | None, figures: set[str]):
    met = set()
    for address in stored_with_every_figure(Store(server.home))[:first]:
        visit(page, f"{server.url}/{address}")
        drawn = page.locator("[data-testid=stPlotlyChart]")
        expect(drawn.first).to_be_visible(timeout=SLOW_MS)
        expect(page.locator("[data-testid=stPlotlyChart]:not(:has(.main-svg))")).to_have_count(0, timeout=SLOW_MS)
        boxes = page.locator("[class*=st-key-screen_]")
        assert boxes.count() == drawn.count() == page.locator("[class*=st-key-screen_] [data-testid=stPlotlyChart]").count(), address
        for box in boxes.all():
            (name,) = [each for each in box.get_attribute("class").split() if each.startswith("st-key-screen_")]
            if name in met:
                continue
            met.add(name)
            box.get_by_role("button", name="Full screen").click()
            expect(box).to_have_class(re.compile("full-on"))
            page.keyboard.press("?")
            expect(page.get_by_role("note", name="Keys")).to_contain_text("leave full screen")
            assert box.get_by_role("button", name="Larger text (+)").is_visible()
            page.keyboard.press("?")
            page.keyboard.press("Escape")
            expect(box).not_to_have_class(re.compile("full-on"))
    named = {name.removeprefix("st-key-screen_") for name in met}
    assert figures <= named


def test_the_bars_against_the_baselines_fill_the_window_at_a_size_that_is_remembered(server, page: Page):
    Store(server.home).save_trial(examples.trial(trial="bars", baselines=(examples.baseline("eager", "PyTorch eager", 5100.0, 3200.0),)))
    visit(page, f"{server.url}/?trial=bars")
    box = page.locator(".st-key-screen_latency")
    expect(box.locator(".js-plotly-plot .ytick")).to_have_count(2, timeout=SLOW_MS)
    before = box.locator(".js-plotly-plot").bounding_box()
    box.get_by_role("button", name="Full screen").click()
    page.wait_for_function(FILLED, arg=[1280, 18, ".st-key-latency"])
    page.keyboard.press("+")
    page.wait_for_function(FILLED, arg=[1280, 20, ".st-key-latency"])
    page.keyboard.press("Escape")
    page.wait_for_function(FILLED, arg=[before["width"], 12, ".st-key-latency"])
    page.keyboard.press("f")
    page.wait_for_function(FILLED, arg=[1280, 20, ".st-key-latency"])
    see_no_trouble(page)
