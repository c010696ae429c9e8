"""What a person does and sees, in words, for the tests in a real browser."""

from playwright.sync_api import Locator, Page, expect

SLOW_MS = 180_000
"""For what waits on a compiler."""

PATIENT_MS = 120_000
"""For all else: Playwright's own 5 s are short where two cores also run a browser, a server, an engine and perhaps other tests."""

expect.set_options(timeout=PATIENT_MS)


def settled(page: Page) -> None:
    """No script runs and nothing is still loading. Right after a press that is so as well: a test waits for what the press brings."""
    expect(page.locator("[data-testid=stApp]")).to_have_attribute("data-test-script-state", "notRunning", timeout=SLOW_MS)
    expect(page.locator("[data-testid=stSkeleton]")).to_have_count(0, timeout=SLOW_MS)


def visit(page: Page, url: str) -> None:
    page.goto(url)
    settled(page)


# Each of these may be there twice for a while: what the last run of the page drew stays until the next one has come to its end.


def run_button(page: Page) -> Locator:
    return page.locator(".st-key-run button").first


def press_run(page: Page) -> None:
    run_button(page).click()


def choose(page: Page, knob: str, value: str) -> None:
    choice = page.get_by_role("radiogroup", name=knob).get_by_role("radio", name=value, exact=True)
    choice.click()
    expect(choice).to_be_checked()
    settled(page)


def cell(page: Page, label: str) -> Locator:
    """One of the four figures at the top."""
    return page.locator("[data-testid=stMetric]").filter(has_text=label).first


def see_result(page: Page, word: str = "right") -> None:
    expect(cell(page, "Result")).to_contain_text(word, timeout=SLOW_MS)


def see_end(page: Page) -> None:
    """The job is over: the button offers to run again."""
    expect(run_button(page)).to_have_text("Run", timeout=SLOW_MS)
    settled(page)


def see_no_trouble(page: Page) -> None:
    expect(page.get_by_text("Page not found")).to_have_count(0)
    expect(page.get_by_text("Traceback")).to_have_count(0)
    expect(page.get_by_text("This part of the page failed")).to_have_count(0)
    expect(page.locator("[data-testid=stException]")).to_have_count(0)
