"""Explore in a real Chromium against a real server and engine: the main job, end to end, on the CPU."""

import re

import pytest
from playwright.sync_api import Page, expect

from tests import long_proofs
from tests.e2e.drive import SLOW_MS, cell, choose, press_run, run_button, see_end, see_no_trouble, see_result, settled, visit
from tileviz.store import Store

pytestmark = pytest.mark.e2e

SMALL = "kernel=gemm&target=cpu&M=128&N=128&K=128"


def test_the_first_run_shows_verdict_time_baselines_and_code(server, page: Page):
    visit(page, f"{server.url}/?{SMALL}")
    expect(page.get_by_text("tileviz shows what a GPU kernel written in TileLang becomes")).to_be_visible()
    press_run(page)
    see_result(page)
    expect(cell(page, "Latency")).to_contain_text(re.compile(r"\d (µs|ms)"))
    see_end(page)
    expect(cell(page, "Against the fastest baseline")).to_contain_text(re.compile("PyTorch|torch.compile"))
    expect(page.get_by_text(re.compile("measured .*; Run measures again"))).to_be_visible()
    expect(page.locator(".js-plotly-plot")).to_have_count(2)
    expect(page.get_by_text("gemm_kernel").first).to_be_visible()
    see_no_trouble(page)


def test_a_stored_result_is_there_without_a_click_and_other_knobs_dim_it(server, page: Page):
    visit(page, f"{server.url}/?{SMALL}")
    see_result(page)
    choose(page, "block_M", "128")
    expect(page.get_by_text("not for the knobs on the left")).to_be_visible()
    expect(page.locator(".st-key-stale")).to_have_css("opacity", "0.45")
    expect(page).to_have_url(re.compile("block_M=128"))
    choose(page, "block_M", "64")
    expect(page.get_by_text("not for the knobs on the left")).to_have_count(0)


def test_the_address_holds_the_view(server, page: Page):
    visit(page, f"{server.url}/?{SMALL}")
    choose(page, "block_K", "64")
    page.get_by_label("M", exact=True).fill("96")
    page.get_by_label("M", exact=True).press("Enter")
    settled(page)
    expect(page).to_have_url(re.compile("M=96"))
    page.reload()
    settled(page)
    expect(page.get_by_label("M", exact=True)).to_have_value("96")
    expect(page.get_by_role("radiogroup", name="block_K").get_by_role("radio", name="64", exact=True)).to_be_checked()


def test_a_typed_address_with_the_pages_own_name_opens_it_with_all_it_says(server, page: Page):
    visit(page, f"{server.url}/explore?{SMALL}&block_M=128")
    expect(page.get_by_label("M", exact=True)).to_have_value("128")
    expect(page.get_by_role("radiogroup", name="block_M").get_by_role("radio", name="128", exact=True)).to_be_checked()
    see_no_trouble(page)


def test_cancel_stops_the_run(server, page: Page):
    visit(page, f"{server.url}/?kernel=gemm&target=cpu&M=1536&N=1536&K=1536")
    press_run(page)
    page.get_by_role("button", name="Cancel").click()
    expect(page.get_by_text(re.compile("^Cancelled")).first).to_be_visible()
    expect(run_button(page)).to_have_text("Run")
    assert Store(server.home).jobs(limit=1)[0].state == "cancelled"
    assert not Store(server.home).jobs(active=True)


def test_a_reload_while_it_runs_finds_the_run_again(server, page: Page):
    visit(page, f"{server.url}/?kernel=gemm&target=cpu&M=640&N=640&K=640")
    press_run(page)
    expect(page).to_have_url(re.compile("job="))
    job = re.search("job=([^&]+)", page.url)[1]
    page.reload()
    expect(page.get_by_role("button", name="Cancel").or_(cell(page, "Result")).first).to_be_visible()
    assert f"job={job}" in page.url
    see_result(page)
    see_end(page)
    assert len([j for j in Store(server.home).jobs() if j.request["problem"]["M"] == 640]) == 1


def test_two_sessions_at_once_both_get_their_own_result(server, page: Page, browser, browser_context_args):
    other_context = browser.new_context(**browser_context_args)
    other = other_context.new_page()
    visit(page, f"{server.url}/?kernel=gemm&target=cpu&M=192&N=192&K=192")
    visit(other, f"{server.url}/?kernel=vector_add&target=cpu&N=4096")
    press_run(page)
    press_run(other)
    for each in (page, other):
        see_end(each)
        see_result(each)
        see_no_trouble(each)
    expect(page.get_by_text("GEMM on cpu")).to_be_visible()
    expect(other.get_by_text("Vector add on cpu")).to_be_visible()
    other_context.close()


def test_a_late_result_never_lands_under_new_knobs(server, page: Page):
    visit(page, f"{server.url}/?kernel=gemm&target=cpu&M=320&N=320&K=320")
    press_run(page)
    choose(page, "block_M", "128")
    see_end(page)
    expect(page.get_by_text(re.compile("for block_M=64"))).to_be_visible()
    expect(page.get_by_text("not for the knobs on the left")).to_be_visible()


def test_cuda_of_an_architecture_that_is_not_here_can_be_read_and_searched(server, page: Page):
    visit(page, f"{server.url}/?kernel=gemm&target=sm_90a")
    expect(run_button(page)).to_have_text("Compile")
    press_run(page)
    expect(page.locator(".legend").get_by_text("Tensor core")).to_be_visible(timeout=60_000)
    expect(run_button(page)).to_have_text("Compile", timeout=SLOW_MS)
    settled(page)
    page.get_by_label("Search the code").fill("wgmma")
    expect(page.locator(".count")).to_have_text(re.compile(r"1 of \d+"))
    expect(page.locator(".row.at")).to_contain_text("wgmma")
    page.get_by_role("button", name="Next match").click()
    expect(page.locator(".count")).to_have_text(re.compile(r"2 of \d+"))
    page.locator(".legend button").first.click()
    expect(page.locator(".row.at")).to_have_count(1)
    see_no_trouble(page)


def test_a_row_of_the_last_runs_opens_it(server, page: Page):
    visit(page, f"{server.url}/?kernel=gemm&target=cpu&M=77")
    table = page.locator(".st-key-last_runs [data-testid=stDataFrame]")
    expect(table.locator("canvas").first).to_be_visible()
    table.click(position={"x": 16, "y": 36 + 18})
    expect(page).to_have_url(re.compile("trial="))
    settled(page)
    expect(page.get_by_label("M", exact=True)).not_to_have_value("77")
    see_no_trouble(page)


def test_html_in_a_stored_text_is_shown_as_text(server, page: Page):
    from tests.ui import examples

    nasty = "<img src=x onerror=window.hacked=1><script>window.hacked=1</script>"
    trial = examples.trial(problem={"M": 48}, trial="nasty", reason=nasty, status="wrong_result")
    store = Store(server.home)
    store.save_trial(trial)
    store.save_artifact(examples.artifact(trial, source=f"int a; // {nasty}\n{nasty}\n"))
    visit(page, f"{server.url}/?kernel=gemm&target=cpu&M=48")
    expect(page.get_by_text("window.hacked=1").first).to_be_visible()
    assert page.evaluate("window.hacked") is None
    assert page.locator("img[src=x]").count() == 0


def test_the_keyboard_comes_back_to_run_and_the_end_is_said(server, page: Page):
    visit(page, f"{server.url}/?kernel=gemm&target=cpu&M=112&N=112&K=112")
    run_button(page).focus()
    page.keyboard.press("Enter")
    see_end(page)
    expect(page.get_by_role("status").filter(has_text="Done: right, ")).to_have_count(1)
    expect(run_button(page)).to_be_focused()
    assert run_button(page).evaluate("button => getComputedStyle(button).outlineStyle") == "solid"


def test_who_went_elsewhere_while_it_ran_is_left_there(server, page: Page):
    visit(page, f"{server.url}/?kernel=gemm&target=cpu&M=144&N=144&K=144")
    press_run(page)
    page.get_by_label("K", exact=True).focus()
    see_end(page)
    expect(page.get_by_label("K", exact=True)).to_be_focused()


def test_the_help_of_a_knob_is_named_by_the_knob(server, page: Page):
    visit(page, f"{server.url}/?{SMALL}")
    expect(page.get_by_role("button", name="Help for block_M", exact=True)).to_have_count(1)
    expect(page.get_by_role("button", name="Help", exact=True)).to_have_count(0)


def test_in_a_narrow_window_the_form_opens_by_its_button_and_figures_stand_two_by_two(server, page: Page):
    page.set_viewport_size({"width": 820, "height": 900})
    visit(page, f"{server.url}/?{SMALL}")
    see_result(page)
    kernel = page.get_by_role("combobox", name="Kernel")
    expect(kernel).not_to_be_in_viewport()
    names = ("Result", "Latency", "Rate", "Against the fastest baseline")
    boxes = [cell(page, name).bounding_box() for name in names]
    assert boxes[0]["y"] == boxes[1]["y"] < boxes[2]["y"] == boxes[3]["y"]
    assert boxes[0]["x"] == boxes[2]["x"] < boxes[1]["x"] == boxes[3]["x"]
    page.get_by_role("button", name="Expand sidebar").click()
    expect(kernel).to_be_in_viewport()
    expect(kernel).to_have_value("gemm")
    page.get_by_role("button", name="Collapse sidebar").click()
    expect(kernel).not_to_be_in_viewport()
    page.set_viewport_size({"width": 1280, "height": 900})
    expect(kernel).to_be_in_viewport()
    see_no_trouble(page)


@pytest.mark.parametrize("width", long_proofs.cases([820, 1280], 0))
def test_what_is_on_the_screen_stays_where_it_is_while_the_page_comes(server, page: Page, width: int):
    page.set_viewport_size({"width": width, "height": 900})
    page.add_init_script(
        "window.moved = 0; new PerformanceObserver((list) => {"
        " for (const shift of list.getEntries()) if (!shift.hadRecentInput) moved += shift.value"
        "}).observe({ type: 'layout-shift', buffered: true })"
    )
    visit(page, f"{server.url}/?{SMALL}")
    see_result(page)
    assert page.evaluate("moved") < 0.1
