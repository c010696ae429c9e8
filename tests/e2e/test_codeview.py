"""The Code page in a real Chromium: compile, click a line and see the other pane move, search, compare, open a link to a line."""

import re

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.e2e.drive import SLOW_MS, run_button, see_no_trouble, settled, visit, wait_until
from tileviz.kernels import kernel

pytestmark = pytest.mark.e2e

SMALL = "kernel=gemm&target=sm_90a&M=128&N=128&K=512&block_M=64&block_N=64&block_K=32&num_stages=2&threads=128&variant=plain&store=direct"

LINE, COPY = (
    next(number for number, text in enumerate(kernel("gemm").source.split("\n"), 1) if words in text) for words in ("T.gemm(", "T.copy(A[")
)


def pane(page: Page, side: str) -> Locator:
    return page.locator(f".st-key-pane_{side}")


def row(of: Locator, words: str) -> Locator:
    return of.locator(".row", has_text=words)


def number(of: Locator) -> Locator:
    """The line number of a row: always in view, however long the line is."""
    return of.locator("i").first


def lit(of: Locator) -> Locator:
    return of.locator(".row.lit")


def have_code(page: Page, server) -> None:
    """Compiles where another test has not."""
    visit(page, f"{server.url}/codeview?{SMALL}")
    if not pane(page, "left").count():
        run_button(page).click()
    expect(pane(page, "left").locator(".row").first).to_be_visible(timeout=SLOW_MS)
    expect(run_button(page)).to_have_text("Compile", timeout=SLOW_MS)
    settled(page)


def test_compile_fills_the_page_with_checks_and_two_panes(server, page: Page):
    have_code(page, server)
    expect(page.get_by_text("HGMMA.64x64x16.F32").first).to_be_visible(timeout=SLOW_MS)
    expect(row(pane(page, "right"), "gemm_kernel").first).to_be_visible()
    expect(pane(page, "right").locator(".legend")).to_contain_text("Tensor core")
    see_no_trouble(page)


def test_a_click_on_a_line_lights_its_lines_in_the_other_pane_and_back(server, page: Page):
    have_code(page, server)
    visit(page, f"{server.url}/codeview?{SMALL}&left=Python&right=SASS")
    left, right = pane(page, "left"), pane(page, "right")
    number(row(left, "T.gemm(")).click()
    expect(lit(right).filter(has_text="HGMMA.64x64x16.F32").first).to_be_visible()
    expect(lit(left)).to_have_count(1)
    settled(page)
    expect(page).to_have_url(re.compile("at=Python%3A|at=Python:"))
    number(row(right, "HGMMA.64x64x16.F32").first).click()
    expect(lit(left)).to_have_text(re.compile(r"T\.gemm\("))
    settled(page)
    number(row(left, "T.copy(A[")).click()
    expect(lit(right).filter(has_text="UTMALDG").first).to_be_visible()
    expect(lit(right).filter(has_text="HGMMA")).to_have_count(0)
    see_no_trouble(page)


def test_a_repaint_between_press_and_release_loses_no_click(server, page: Page):
    have_code(page, server)
    visit(page, f"{server.url}/codeview?{SMALL}&left=Python&right=SASS")
    left = pane(page, "left")
    number(row(left, "T.gemm(")).hover()
    page.mouse.down()
    left.locator(".body").evaluate("body => { body.dispatchEvent(new Event('scroll')); return new Promise(done => setTimeout(done, 100)) }")
    page.mouse.up()
    expect(lit(pane(page, "right")).filter(has_text="HGMMA.64x64x16.F32").first).to_be_visible()


def test_the_answer_to_an_earlier_click_takes_no_later_one_back(server, page: Page):
    have_code(page, server)
    visit(page, f"{server.url}/codeview?{SMALL}&left=Python&right=SASS")
    left, right = pane(page, "left"), pane(page, "right")
    number(row(left, "T.gemm(")).click()
    settled(page)
    number(row(right, "HGMMA.64x64x16.F32").first).click()
    number(row(left, "T.copy(A[")).click()
    expect(page).to_have_url(re.compile(f"at=Python(%3A|:){COPY}"))
    settled(page)
    expect(left.locator(".row.at")).to_contain_text("T.copy(A[")
    expect(lit(right).filter(has_text="UTMALDG").first).to_be_visible()


def test_another_text_takes_the_lit_lines_over(server, page: Page):
    have_code(page, server)
    visit(page, f"{server.url}/codeview?{SMALL}&left=Python&right=SASS")
    number(row(pane(page, "left"), "T.gemm(")).click()
    expect(lit(pane(page, "right")).first).to_be_visible()
    page.get_by_role("radiogroup", name="Text on the right").get_by_role("radio", name="PTX", exact=True).click()
    expect(lit(pane(page, "right")).filter(has_text="wgmma").first).to_be_visible()


def test_search_and_the_legend_jump(server, page: Page):
    have_code(page, server)
    visit(page, f"{server.url}/codeview?{SMALL}&right=SASS")
    right = pane(page, "right")
    right.get_by_label("Search the code").fill("setmaxreg")
    expect(right.locator(".count")).to_have_text("1 of 2")
    expect(right.locator(".row.at")).to_contain_text("USETMAXREG")
    right.get_by_role("button", name="Tensor core").click()
    expect(right.locator(".row.at")).to_contain_text("HGMMA")


def test_a_link_to_a_line_opens_it_with_its_links_lit(server, page: Page):
    have_code(page, server)
    visit(page, f"{server.url}/codeview?{SMALL}&left=Python&right=CUDA&at=Python:{LINE}")
    expect(pane(page, "left").locator(".row.at")).to_contain_text("T.gemm(")
    expect(lit(pane(page, "right")).filter(has_text="wgmma_ss").first).to_be_visible()


def test_two_configs_stand_side_by_side_and_scroll_as_one(server, page: Page):
    have_code(page, server)
    visit(page, f"{server.url}/codeview?{SMALL}&b=sm_80&tab=Diff")
    left, right = page.locator(".st-key-diff_A"), page.locator(".st-key-diff_B")
    compile_other = page.locator(".st-key-compile_b button")
    expect(compile_other.or_(left.locator(".row")).first).to_be_visible(timeout=SLOW_MS)
    if compile_other.count():
        compile_other.click()
    expect(left.locator(".row").first).to_be_visible(timeout=SLOW_MS)
    settled(page)
    expect(page.get_by_text(re.compile(r"-32 HGMMA\.64x64x16\.F32"))).to_be_visible()
    expect(left.locator(".row.m-removed").first).to_be_visible()
    left.locator(".body").evaluate("body => body.scrollTo(0, 3000)")
    expect(right.locator(".row.m-added, .row.m-filler").first).to_be_visible()
    top = "body => body.scrollTop"
    wait_until(lambda: right.locator(".body").evaluate(top) == left.locator(".body").evaluate(top) > 0)
    see_no_trouble(page)


def test_hostile_text_stays_text(server, page: Page):
    have_code(page, server)
    shouted = []
    page.on("dialog", lambda dialog: (shouted.append(dialog.message), dialog.dismiss()))
    visit(page, f"{server.url}/codeview?{SMALL}&right=SASS")
    hostile = '<img src=x onerror="alert(1)">'
    pane(page, "right").get_by_label("Search the code").fill(hostile)
    expect(pane(page, "right").locator(".count")).to_have_text("0 of 0")
    visit(page, f"{server.url}/codeview?{SMALL}&at={hostile}:1&b={hostile}&left={hostile}")
    expect(pane(page, "left").locator(".row").first).to_be_visible()
    assert shouted == [] and page.locator("img[src=x]").count() == 0


def test_the_way_from_explore_keeps_the_knobs(server, page: Page):
    have_code(page, server)
    visit(page, f"{server.url}/?{SMALL}")
    page.get_by_role("link", name="Open in Code").click()
    expect(row(pane(page, "left"), "T.gemm(")).to_be_visible(timeout=SLOW_MS)
    expect(page).to_have_url(re.compile("codeview.*target=sm_90a"))
    see_no_trouble(page)
