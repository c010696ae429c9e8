"""The Code page in a real Chromium: compile, click a line and see the other pane move, search, compare, open a link to a line; and all
of it by keys, in full screen.
"""

import re

import pytest
from playwright.sync_api import Locator, Page, expect

from tests import long_proofs
from tests.e2e.drive import SLOW_MS, run_button, see_no_trouble, settled, visit
from tests.waiting import until
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


def have_code(page: Page, server, more: str = "") -> None:
    """Opens the page, and compiles where another test has not."""
    visit(page, f"{server.url}/codeview?{SMALL}{more}")
    if not pane(page, "left").count():
        run_button(page).click()
    expect(pane(page, "left").locator(".row").first).to_be_visible(timeout=SLOW_MS)
    expect(run_button(page)).to_have_text("Compile", timeout=SLOW_MS)
    settled(page)


def test_compile_fills_the_page_with_checks_and_two_panes(server, page: Page):
    have_code(page, server)
    expect(page.get_by_text("HGMMA.64x64x16.F32").first).to_be_visible(timeout=SLOW_MS)
    expect(row(pane(page, "right"), "wgmma_ss").first).to_be_visible()
    expect(pane(page, "right").locator(".legend")).to_contain_text("Tensor core")
    see_no_trouble(page)


def test_a_click_on_a_line_lights_its_lines_in_the_other_pane_and_back(server, page: Page):
    have_code(page, server, "&left=Python&right=SASS")
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
    have_code(page, server, "&left=Python&right=SASS")
    left = pane(page, "left")
    number(row(left, "T.gemm(")).hover()
    page.mouse.down()
    left.locator(".body").evaluate("body => { body.dispatchEvent(new Event('scroll')); return new Promise(done => setTimeout(done, 100)) }")
    page.mouse.up()
    expect(lit(pane(page, "right")).filter(has_text="HGMMA.64x64x16.F32").first).to_be_visible()


def test_the_answer_to_an_earlier_click_takes_no_later_one_back(server, page: Page):
    have_code(page, server, "&left=Python&right=SASS")
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
    have_code(page, server, "&left=Python&right=SASS")
    number(row(pane(page, "left"), "T.gemm(")).click()
    expect(lit(pane(page, "right")).first).to_be_visible()
    page.get_by_role("radiogroup", name="Text on the right").get_by_role("radio", name="PTX", exact=True).click()
    expect(lit(pane(page, "right")).filter(has_text="wgmma").first).to_be_visible()


def test_search_and_the_legend_jump(server, page: Page):
    have_code(page, server, "&right=SASS")
    right = pane(page, "right")
    right.get_by_label("Search the code").fill("setmaxreg")
    expect(right.locator(".count")).to_have_text("1 of 2")
    expect(right.locator(".row.at")).to_contain_text("USETMAXREG")
    right.get_by_role("button", name="Tensor core").click()
    expect(right.locator(".row.at")).to_contain_text("HGMMA")


def test_a_link_to_a_line_opens_it_with_its_links_lit(server, page: Page):
    have_code(page, server, f"&left=Python&right=CUDA&at=Python:{LINE}")
    expect(pane(page, "left").locator(".row.at")).to_contain_text("T.gemm(")
    expect(lit(pane(page, "right")).filter(has_text="wgmma_ss").first).to_be_visible()


def test_two_configs_stand_side_by_side_and_scroll_as_one(server, page: Page):
    have_code(page, server, "&b=sm_80&tab=Diff")
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
    until(lambda: right.locator(".body").evaluate(top) == left.locator(".body").evaluate(top) > 0)
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


def body(of: Locator) -> Locator:
    return of.locator(".body")


def at(of: Locator) -> Locator:
    """The marked line."""
    return of.locator(".row.at")


def first_in_sight(of: Locator) -> str:
    """Text of the topmost line that is seen whole."""
    return body(of).evaluate(
        "b => { const top = b.getBoundingClientRect().top;"
        " return [...b.querySelectorAll('.row')].find(r => r.getBoundingClientRect().top >= top - 1).textContent }"
    )


def text_px(of: Locator) -> int:
    return int(body(of).evaluate("b => parseFloat(getComputedStyle(b).fontSize)"))


def box(of: Locator) -> tuple[int, ...]:
    found = of.locator(".pane").bounding_box()
    return tuple(round(found[name]) for name in ("x", "y", "width", "height"))


def test_full_screen_has_both_panes_larger_text_that_is_remembered_and_is_left_as_it_was(server, page: Page):
    have_code(page, server)
    left, right = pane(page, "left"), pane(page, "right")
    number(row(left, "T.gemm(")).click()
    settled(page)
    before, small = box(left), text_px(left)
    assert small >= 13
    page.keyboard.press("f")
    expect(left.locator(".pane.full-on")).to_be_visible()
    assert box(left)[:3] == (0, 0, 640) and box(right)[:3] == (640, 0, 640) and box(left)[3] == 900
    assert text_px(left) == text_px(right) == 18
    reached = set()
    for _ in range(30):
        page.keyboard.press("Tab")
        reached.add(page.evaluate("document.activeElement.closest('[class*=st-key-]')?.className.match(/st-key-\\w+/)[0]"))
    assert reached == {"st-key-pane_left", "st-key-pane_right"}, "what lies under full screen is out of reach"
    page.keyboard.press("a")
    page.keyboard.press("+")
    assert text_px(left) == 20 and left.locator(".row").first.evaluate("r => r.getBoundingClientRect().height") == 30
    expect(at(left)).to_contain_text("T.gemm(")
    expect(at(left)).to_be_in_viewport()
    page.keyboard.press("Escape")
    expect(page.locator(".full-on")).to_have_count(0)
    assert box(left) == before and text_px(left) == small
    page.reload()
    settled(page)
    body(right).hover()
    page.keyboard.press("f")
    expect(right.locator(".pane.full-on")).to_be_visible()
    assert text_px(right) == 20
    right.get_by_role("button", name="Full screen").click()
    expect(page.locator(".full-on")).to_have_count(0)


def test_keys_go_through_hits_panes_and_texts_and_a_line_of_help_tells_them(server, page: Page):
    have_code(page, server, "&left=Python&right=SASS")
    left, right = pane(page, "left"), pane(page, "right")
    body(right).focus()
    page.keyboard.press("f")
    page.keyboard.press("?")
    expect(page.get_by_role("note", name="Keys")).to_contain_text("next instruction")
    right.get_by_role("button", name="Tensor core").click()
    expect(right.locator(".foot")).to_contain_text(re.compile(r"Tensor core, line \d+ of 32: .*PTX ISA 9\.0: mma"))
    first = at(right).text_content()
    page.keyboard.press("n")
    expect(at(right)).not_to_have_text(first)
    page.keyboard.press("p")
    expect(at(right)).to_have_text(first)
    page.keyboard.press("a")
    expect(body(left)).to_be_focused()
    page.keyboard.press("o")
    expect(right.locator(".pane.full-on")).to_have_count(0)
    page.keyboard.press("b")
    expect(right.locator(".pane.full-on")).to_be_visible()
    assert box(right)[:3] == (0, 0, 1280)
    page.keyboard.press("[")
    expect(right.locator(".name")).to_have_text("PTX")
    page.keyboard.press("/")
    page.keyboard.type("f?wgmma")
    expect(right.locator(".find")).to_have_value("f?wgmma")
    expect(right.locator(".pane.full-on")).to_be_visible()
    page.keyboard.press("Escape")
    page.keyboard.press("f")
    expect(page.locator(".full-on")).to_have_count(0)
    expect(page).to_have_url(re.compile("right=PTX"))


def test_texts_open_at_what_matters_and_a_line_is_linked_without_a_mouse(server, page: Page):
    have_code(page, server, "&left=Python&right=SASS")
    left, right = pane(page, "left"), pane(page, "right")
    expect(row(right, "HGMMA").first).to_be_in_viewport()
    assert "@T.prim_func" in first_in_sight(left) and "HGMMA" in first_in_sight(right)
    expect(left.locator(".row", has_text="fmt:")).to_have_count(0)
    body(left).focus()
    while "T.gemm(" not in (at(left).text_content() if at(left).count() else ""):
        page.keyboard.press("ArrowDown")
    expect(body(left)).to_have_attribute("aria-activedescendant", at(left).get_attribute("id"))
    expect(lit(right)).to_have_count(0)
    page.keyboard.press("Enter")
    expect(lit(right).filter(has_text="HGMMA.64x64x16.F32").first).to_be_visible()
    expect(page).to_have_url(re.compile(f"at=Python(%3A|:){LINE}"))


def test_search_takes_regular_expressions_and_panes_stay_level_in_the_size_that_was_chosen(server, page: Page):
    have_code(page, server, "&left=Python&right=SASS")
    left, right = pane(page, "left"), pane(page, "right")
    search, count = right.get_by_label("Search the code"), right.locator(".count")
    search.fill(r"UTMALDG|setmaxreg\.try")
    expect(count).to_have_text("0 of 0")
    right.get_by_role("button", name="Regular expression").click()
    expect(count).to_have_text("1 of 33")
    search.fill("setmax(")
    expect(count).to_have_text("no valid pattern")
    search.fill("")
    expect(count).to_have_text("")
    assert left.locator(".heads").bounding_box()["height"] < right.locator(".heads").bounding_box()["height"]
    assert body(left).bounding_box()["y"] == body(right).bounding_box()["y"] and box(left)[1::2] == box(right)[1::2]
    usual = box(left)[3]
    left.get_by_role("separator", name="Height of the pane").press("ArrowUp")
    left.get_by_role("separator", name="Width of the left pane").press("ArrowLeft")
    chosen = box(left), box(right)
    assert box(left)[3] == box(right)[3] == usual - 40 and box(left)[2] < box(right)[2] - 40
    page.reload()
    settled(page)
    expect(row(right, "HGMMA").first).to_be_visible()
    assert (box(left)[2:], box(right)[2:]) == (chosen[0][2:], chosen[1][2:])


def test_the_next_change_of_a_difference_is_one_key_away(server, page: Page):
    have_code(page, server, "&b=sm_80&tab=Diff")
    if page.locator(".st-key-compile_b").count():
        page.locator(".st-key-compile_b button").click()
    left, right = page.locator(".st-key-diff_A"), page.locator(".st-key-diff_B")
    expect(left.locator(".row").first).to_be_visible(timeout=SLOW_MS)
    settled(page)
    body(left).focus()
    page.keyboard.press("f")
    page.keyboard.press("d")
    expect(left.locator(".foot")).to_contain_text(re.compile(r"Change \d+ of \d+"))
    expect(at(left)).to_have_class(re.compile("m-(removed|filler|changed)"))
    expect(right.locator(".pane.full-on")).to_be_visible()


CONTRAST = """(root) => {
  const canvas = document.createElement("canvas").getContext("2d", { willReadFrequently: true })
  const rgb = (...layers) => {
    canvas.fillStyle = "#000"; canvas.fillRect(0, 0, 1, 1)
    for (const layer of layers) { canvas.fillStyle = layer; canvas.fillRect(0, 0, 1, 1) }
    return [...canvas.getImageData(0, 0, 1, 1).data].slice(0, 3)
  }
  const light = c => c.map(v => v / 255).map(v => v <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4)
    .reduce((sum, v, i) => sum + v * [0.2126, 0.7152, 0.0722][i], 0)
  const found = {}
  for (const el of root.querySelectorAll(".row > i, .row span, .lines, .note, .foot, .legend button, .name")) {
    const grounds = []
    for (let at = el; at; at = at.parentElement) grounds.unshift(getComputedStyle(at).backgroundColor)
    const below = rgb(...grounds), ink = rgb(...grounds, getComputedStyle(el).color)
    const [a, b] = [light(below), light(ink)].sort((x, y) => y - x)
    const name = el.tagName + "." + el.className + " in " + el.parentElement.className, ratio = (a + 0.05) / (b + 0.05)
    found[name] = Math.min(found[name] ?? 99, Math.round(ratio * 100) / 100)
  }
  return found
}"""


@pytest.mark.parametrize("scheme", long_proofs.cases(["light", "dark"], 1))
def test_everything_in_a_pane_reads(server, page: Page, scheme):
    page.emulate_media(color_scheme=scheme)
    have_code(page, server, "&left=Python&right=SASS")
    number(row(pane(page, "left"), "T.gemm(")).click()
    expect(lit(pane(page, "right")).first).to_be_visible()
    for side in ("left", "right"):
        found = pane(page, side).locator(".pane").evaluate(CONTRAST)
        assert len(found) > 5 and {name: ratio for name, ratio in found.items() if ratio < 4.5} == {}
