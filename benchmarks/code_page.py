"""How fast the Code page answers, in a real Chromium: `python benchmarks/code_page.py [--json
FILE]`.

Prints a table of each wait with its budget and exits 1 when one is over. Needs Playwright and a
Chromium; no GPU.
"""

import argparse
import json
import os
import shutil
import statistics
import sys
import tempfile
import time
from dataclasses import asdict, replace
from pathlib import Path

from playwright.sync_api import Page, sync_playwright

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from benchmarks.page_latency import (  # noqa: E402
    FLAGS,
    IDLE,
    Wait,
    browser_path,
    free_port,
    print_table,
    served,
    stop_engine,
)
from tileviz import lens  # noqa: E402
from tileviz.engine import client, requests  # noqa: E402
from tileviz.engine.options import Where  # noqa: E402
from tileviz.errors import TilevizError  # noqa: E402
from tileviz.records import Artifact  # noqa: E402
from tileviz.store import Store  # noqa: E402

TARGET = "sm_90a"
KNOBS = {
    "variant": "plain",
    "block_M": 64,
    "block_N": 64,
    "block_K": 32,
    "num_stages": 2,
    "threads": 128,
    "store": "direct",
    "enable_swizzle": True,
}
LONG, VERY_LONG = 5_000, 50_000

HELPERS = """
window.deep = (node, selector) => {
  const found = [...node.querySelectorAll(selector)]
  for (const each of node.querySelectorAll('*'))
    if (each.shadowRoot) found.push(...deep(each.shadowRoot, selector))
  return found
}
window.findRows = pane => deep(pane, '.row')
window.findLines = pane => Math.max(
  0, ...deep(pane, '.lines').map(e => parseInt(e.textContent.replace(/\\D/g, ''), 10) || 0))
window.paneOf = side => document.querySelector(`.st-key-pane_${side}`)
"""


def main() -> int:
    words = argparse.ArgumentParser(description=__doc__.partition("\n\n")[0])
    words.add_argument("--json", type=Path, help="also write the figures to this file")
    words.add_argument(
        "--repeats", type=int, default=5, help="of each wait; the median counts (default: 5)"
    )
    asked = words.parse_args()
    home = Path(tempfile.mkdtemp(prefix="tileviz-code-"))
    os.environ.update(TILEVIZ_HOME=str(home), TILEVIZ_ENGINE_IDLE="300")
    try:
        waits = measure(Store(home), asked.repeats)
    finally:
        stop_engine(home)
        shutil.rmtree(home, ignore_errors=True)
    print_table(waits)
    if asked.json:
        asked.json.write_text(
            json.dumps([{**asdict(w), "ok": w.ok} for w in waits], indent=2) + "\n"
        )
    return 0 if all(w.ok for w in waits) else 1


def measure(store: Store, repeats: int) -> list[Wait]:
    first = compiled(store, {})
    compiled(store, {"num_stages": 3})
    for number, lines in enumerate((LONG, VERY_LONG)):
        store.save_artifact(
            stretched(first, requests_for({"panel_size": 16 - 8 * number}).key, lines)
        )
    port = free_port()
    with sync_playwright() as playwright, served(port):
        browser = playwright.chromium.launch(
            executable_path=browser_path(playwright), args=list(FLAGS)
        )
        page = browser.new_context(viewport={"width": 1280, "height": 900}).new_page()
        page.add_init_script(HELPERS)
        open_view(page, port, {})
        stored = [stored_code(page, value) for value in ("3", "2") * repeats][:repeats]
        cuda, sass = unseen(page, port, repeats)
        painted, jumps = long_texts(page, port, repeats, 16, LONG)
        painted_more, jumps_more = long_texts(page, port, 1, 8, VERY_LONG)
        browser.close()
    return [
        Wait("stored code shown after the click", statistics.median(stored), 0.3, "s", len(stored)),
        Wait(
            "click to CUDA, unseen sm_90a GEMM, warm engine",
            statistics.median(cuda),
            0.8,
            "s",
            len(cuda),
        ),
        Wait(
            "click to SASS, unseen sm_90a GEMM, warm engine",
            statistics.median(sass),
            2.0,
            "s",
            len(sass),
        ),
        Wait(
            "5,000 lines of SASS beside 5,000 of PTX, painted",
            statistics.median(painted),
            1.5,
            "s",
            len(painted),
        ),
        Wait("linked jump in 5,000 lines", statistics.median(jumps), 0.25, "s", len(jumps)),
        Wait(
            "50,000 lines beside 50,000, painted",
            statistics.median(painted_more),
            5.0,
            "s",
            len(painted_more),
        ),
        Wait(
            "linked jump in 50,000 lines", statistics.median(jumps_more), 0.5, "s", len(jumps_more)
        ),
        Wait("counting 5,000 lines of SASS", counting(first), 50.0, "ms", 5),
    ]


def requests_for(config: dict, **problem):
    sizes = {"M": 512, "N": 512, "K": 512, **problem}
    return requests.resolve("gemm", sizes, {**KNOBS, **config}, kind="compile", where=Where(TARGET))


def compiled(store: Store, config: dict) -> Artifact:
    request = requests_for(config)
    ended = client.wait(store, client.submit(store, request), timeout=120)
    found = store.artifact(request.key, complete=True)
    if found is None:
        raise TilevizError(f"the compile ended as {ended.state} without its code: {ended.reason}")
    return found


def stretched(artifact: Artifact, key: str, lines: int) -> Artifact:
    """The artifact with its PTX and SASS repeated up to so many lines, links and all."""
    texts, maps = {}, dict(artifact.lines)
    for name in ("ptx", "sass"):
        body = getattr(artifact, name).rstrip("\n").split("\n")
        times = -(-lines // len(body))
        texts[name] = "\n".join((body * times)[:lines])
        maps[name] = (artifact.lines[name][: len(body)] * times)[:lines]
    return replace(artifact, key=key, lines=maps, **texts)


def view(port: int, config: dict, **words) -> str:
    request = requests_for(config)
    values = {"kernel": "gemm", "target": TARGET, **request.problem, **request.config, **words}
    return f"http://127.0.0.1:{port}/codeview?" + "&".join(
        f"{name}={str(value).lower() if isinstance(value, bool) else value}"
        for name, value in values.items()
    )


def open_view(page: Page, port: int, config: dict, **words) -> None:
    page.goto(view(port, config, **words))
    page.wait_for_function(
        "() => paneOf('left') && paneOf('right') && findRows(paneOf('right')).length > 3",
        polling="raf",
    )
    page.wait_for_function(IDLE)


def stored_code(page: Page, stages: str) -> float:
    """From the click on another number of stages until the CUDA of that config, two barriers a
    stage, is in the pane."""
    radio = page.get_by_role("radiogroup", name="num_stages").get_by_role(
        "radio", name=stages, exact=True
    )
    radio.scroll_into_view_if_needed()
    began = time.perf_counter()
    radio.click()
    words = f"mbarrier_mem[{2 * int(stages)}]"
    page.wait_for_function(
        "() => paneOf('right') && findRows(paneOf('right')).some(row =>"
        f" row.textContent.includes('{words}'))",
        polling="raf",
    )
    took = time.perf_counter() - began
    page.wait_for_function(IDLE)
    return took


def unseen(page: Page, port: int, repeats: int) -> tuple[list[float], list[float]]:
    """(seconds to CUDA, seconds to SASS) after the click, for configs that no one has compiled."""
    cuda, sass = [], []
    for number in range(repeats + 1):
        page.goto(view(port, {}, right="CUDA", left="SASS", N=576 + 64 * number))
        page.wait_for_selector(".st-key-run button")
        page.wait_for_function(IDLE)
        wait_for_header()
        began = time.perf_counter()
        page.locator(".st-key-run button").click()
        page.wait_for_function(
            "() => paneOf('right') && findRows(paneOf('right')).length > 3",
            polling="raf",
            timeout=60_000,
        )
        cuda.append(time.perf_counter() - began)
        page.wait_for_function(
            "() => paneOf('left') && findRows(paneOf('left')).length > 3",
            polling="raf",
            timeout=60_000,
        )
        sass.append(time.perf_counter() - began)
        page.wait_for_function(IDLE)
    return cuda[1:], sass[1:]


def wait_for_header(seconds: float = 90.0) -> None:
    """The engine prepares the precompiled header of an architecture in the background after its
    first compile; then it is warm."""
    end = time.monotonic() + seconds
    while time.monotonic() < end and not any(Path(os.environ["TILEVIZ_HOME"]).rglob("*.pch")):
        time.sleep(0.2)


def long_texts(
    page: Page, port: int, repeats: int, panel_size: int, lines: int
) -> tuple[list[float], list[float]]:
    """(seconds to paint both long texts from the switch to them, seconds of a linked jump)."""
    painted, jumps = [], []
    for _ in range(repeats):
        open_view(page, port, {"panel_size": panel_size}, left="Python", right="CUDA")
        began = time.perf_counter()
        for side, text in (("left", "PTX"), ("right", "SASS")):
            page.get_by_role("radiogroup", name=f"Text on the {side}").get_by_role(
                "radio", name=text, exact=True
            ).click()
        page.wait_for_function(
            "() => ['left', 'right'].every(side => paneOf(side)"
            f" && findLines(paneOf(side)) >= {lines - 1} && findRows(paneOf(side)).length > 10)",
            polling="raf", timeout=60_000,
        )  # fmt: skip
        painted.append(time.perf_counter() - began)
        page.wait_for_function(IDLE)
        for opcode in ("wgmma.mma_async", "st.global"):
            jumps.append(jump(page, opcode))
    return painted, jumps


def jump(page: Page, words: str) -> float:
    """From a click on a line of PTX until its SASS is lit in the other pane."""
    left = page.locator(".st-key-pane_left")
    left.get_by_label("Search the code").fill(words)
    page.wait_for_function(
        "() => findRows(paneOf('left')).some(row => row.classList.contains('at') &&"
        f" row.textContent.includes('{words}'))"
    )
    page.wait_for_function(IDLE)
    before = page.evaluate(
        "() => findRows(paneOf('right')).filter(row =>"
        " row.classList.contains('lit')).map(row => row.dataset.n).join()"
    )
    began = time.perf_counter()
    page.evaluate(
        "() => findRows(paneOf('left')).find(row =>"
        " row.classList.contains('at')).querySelector('i').click()"
    )
    page.wait_for_function(
        f"() => {{ const lit = findRows(paneOf('right')).filter(row =>"
        " row.classList.contains('lit')).map(row => row.dataset.n).join()\n"
        f"return lit && lit !== '{before}' }}",
        polling="raf",
    )
    return time.perf_counter() - began


def counting(artifact: Artifact) -> float:
    """Milliseconds to count 5,000 lines of SASS, the best of five."""
    text = stretched(artifact, "", LONG).sass or ""
    took = []
    for _ in range(5):
        began = time.perf_counter()
        lens.counts(text, "sass")
        took.append((time.perf_counter() - began) * 1000)
    return min(took)


if __name__ == "__main__":
    sys.exit(main())
