"""Pictures of every page in both themes and at two widths: `python -m benchmarks.screenshots
OUT_DIR [--widths 820 1440]`.

The pages are those of a machine that has run nothing yet, with the recorded results on them.
`explore.png` is README's picture. Needs Playwright and a Chromium; no GPU.
"""

import argparse
import os
import shutil
import sys
import tempfile
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from pathlib import Path

from playwright.sync_api import Browser, Page, sync_playwright

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from benchmarks.page_latency import FLAGS, IDLE, browser_path, free_port, served, stop_engine  # noqa: E402

FLASH = "kernel=flash_attention&target=sm_90a"

VIEWS = {
    "explore": f"?{FLASH}",
    "sweep": "sweep?sweep=13a132c705c4",
    "codeview": f"codeview?{FLASH}",
    "system": "system",
}
"""The address of each page with a recorded result on it."""

THEMES = ("light", "dark")
WIDTHS = (820, 1440)
"""Pixels of the window."""

README_SIZE = (1400, 1000)

DRAWN = (
    "() => [...document.querySelectorAll('[data-testid=stPlotlyChart]')].every(chart =>"
    " chart.querySelector('.main-svg'))"
    " && !document.querySelector('[data-testid=stSkeleton]') && document.fonts.status === 'loaded'"
)
"""Every chart that the page has is there; a page that is still being sent is not `IDLE`."""

WHOLE = (
    "() =>"
    " Math.ceil(document.querySelector('[data-testid=stMainBlockContainer]').scrollHeight + 70)"
)
"""Pixels of a page's whole height: it scrolls inside the window, so the window is made as high."""


def main() -> int:
    words = argparse.ArgumentParser(description=__doc__.partition("\n\n")[0])
    words.add_argument("out", type=Path, help="folder for the pictures")
    words.add_argument(
        "--widths",
        type=int,
        nargs="+",
        default=WIDTHS,
        help="of the window, in pixels (default: 820 1440)",
    )
    words.add_argument(
        "--pages", nargs="+", choices=VIEWS, default=list(VIEWS), help="only these pages"
    )
    asked = words.parse_args()
    asked.out.mkdir(parents=True, exist_ok=True)
    with shown() as (browser, url):
        for path in pictures(browser, url, asked.out, asked.widths, asked.pages):
            print(path, flush=True)
    return 0


@contextmanager
def shown() -> Generator[tuple[Browser, str]]:
    """A browser, and the address of a server whose home is empty."""
    home = Path(tempfile.mkdtemp(prefix="tileviz-screenshots-"))
    os.environ.update(TILEVIZ_HOME=str(home), TILEVIZ_ENGINE_IDLE="5")
    port = free_port()
    try:
        with sync_playwright() as playwright, served(port):
            browser = playwright.chromium.launch(
                executable_path=browser_path(playwright), args=list(FLAGS)
            )
            yield browser, f"http://127.0.0.1:{port}/"
            browser.close()
    finally:
        stop_engine(home)
        shutil.rmtree(home, ignore_errors=True)


def pictures(
    browser: Browser, url: str, out: Path, widths: tuple[int, ...], pages: list[str]
) -> Iterator[Path]:
    """Takes the picture of each page, and README's."""
    for theme in THEMES:
        context = browser.new_context(color_scheme=theme)
        page = context.new_page()
        for name in pages:
            for width in widths:
                yield taken(
                    page,
                    url + VIEWS[name],
                    out / f"{name}-{theme}-{width}.png",
                    (width, 900),
                    whole=True,
                )
        if theme == "light" and "explore" in pages:
            yield taken(page, url + VIEWS["explore"], out / "explore.png", README_SIZE)
        context.close()


def taken(page: Page, url: str, path: Path, size: tuple[int, int], whole: bool = False) -> Path:
    """The picture of a page that has come to rest; `whole`: all of it, however high."""
    page.set_viewport_size({"width": size[0], "height": size[1]})
    page.goto(url)
    drawn(page)
    for _ in range(3 if whole else 0):  # a table takes its height when it is first seen
        page.set_viewport_size({"width": size[0], "height": max(size[1], page.evaluate(WHOLE))})
        drawn(page)
        page.wait_for_timeout(300)
    page.wait_for_timeout(500)  # transitions of the theme
    page.screenshot(path=path)
    return path


def drawn(page: Page) -> None:
    page.wait_for_selector("[data-testid=stMainBlockContainer] :is(h1, h2, h3)", timeout=60_000)
    for ready in (IDLE, DRAWN):
        page.wait_for_function(ready, timeout=60_000)


if __name__ == "__main__":
    sys.exit(main())
