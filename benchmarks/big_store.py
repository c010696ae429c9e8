"""How a store of 100,000 trials is to work with, in a real Chromium: `python -m
benchmarks.big_store [--trials N] [--json FILE]`.

Builds the store through its own interface from a sweep that is really run on the CPU, then
measures, on a small store and on the large one, from a click on a page's link in an open session to
that page's first chart; and in the large one, from choosing a sweep of 10,000 configs in the list
to its pictures. A page opened by its address in a fresh document is told beside them: most of that
wait is Streamlit's own page load, which `page_latency` has a budget for. Prints a table of each
wait and exits 1 when one is over its budget. Needs Playwright and a Chromium; no GPU.
"""

import argparse
import itertools
import json
import os
import random
import shutil
import statistics
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import asdict, dataclass, replace
from pathlib import Path

from playwright.sync_api import Browser, Page, Position, sync_playwright

from benchmarks.page_latency import (
    FLAGS,
    IDLE,
    Wait,
    browser_path,
    free_port,
    print_table,
    served,
    since_click,
    stop_engine,
)
from tileviz.engine import client, requests
from tileviz.engine.options import Measuring, Where
from tileviz.engine.sweeps import client as sweeps
from tileviz.engine.sweeps import results
from tileviz.engine.sweeps.request import Given, Searching, resolve_sweep
from tileviz.errors import TilevizError
from tileviz.kernels import kernel
from tileviz.records import Trial
from tileviz.store import Store, new_id
from tileviz.store.sweeps import SweepRow

ON_CPU = Where(target="cpu")
ALONE = Measuring(baselines=False)
SIZES = {"M": 128, "N": 128, "K": 128}
SEED_SPACE = {"block_M": [32, 64], "block_N": [32, 64], "block_K": [32]}
FIXED = {knob.name: knob.default for knob in kernel("gemm").knobs if knob.name not in SEED_SPACE}
SPACE = {name: (value,) for name, value in FIXED.items()} | {
    "block_M": tuple(16 * i for i in range(1, 11)), "block_N": tuple(16 * i for i in range(1, 11)),
    "block_K": (16, 32, 48, 64, 80),
    "num_stages": (1, 2, 3, 4, 5), "threads": (128, 256, 384, 512),
}  # fmt: skip
"""10,000 configs."""

LANDSCAPE = {"block_M": (96, 16), "block_N": (128, 16), "block_K": (48, 16), "num_stages": (3, 1)}
"""The best value of each knob, and a step of it: a made-up landscape."""

QUIET_MS = 500
"""Before a click: what a person reads first, and what a page still fetches, is over."""

SAMPLES = 50
"""Of each trial, as a sweep on a GPU takes them."""

SINGLE_RUNS = 20
BATCH = 500

FIRST_CHART_S, HEATMAP_S, SCATTER_S = 1.0, 1.0, 2.5

DRAWN = "document.querySelector('{}') !== null"


@dataclass(frozen=True)
class Stop:
    """A page, where it is, what must be on it, and the page that its link is clicked on."""

    name: str
    stem: str
    drawn: str
    """JavaScript: its first chart is there, or what stands in the place of one."""
    before: str


MAP = ".st-key-sweep_map .js-plotly-plot"
STOPS = (
    Stop("Explore", "", DRAWN.format(".js-plotly-plot .barlayer path"), before="Code"),
    Stop("Sweep", "sweep", DRAWN.format(f"{MAP} .hm image, {MAP} .scatterlayer path"),
    before="Explore"),
    Stop("Code", "codeview",
    "[...document.querySelectorAll('.st-key-pane_left *')].some(e =>"
    " e.shadowRoot?.querySelector('.row'))"
                             " || document.querySelector('.st-key-pane_left .row') !== null",
                             before="Explore"),
    Stop("System", "system",
    DRAWN.format("[data-testid=stDataFrame] canvas") + " &&"
    " document.querySelector('h1')?.innerText === 'System'"
                             " && document.querySelector('.st-key-run') === null",
                             before="Explore"),
)  # fmt: skip
"""People land on Explore. Explore itself is reached from Code: a session that has drawn no chart
yet."""

ROW_PX, HEADER_PX, TICK_PX = 33, 34, 16
"""Of the list of sweeps: the height of a row and of its header, and where the box to tick is."""

SCATTER = "[...document.querySelectorAll('.st-key-against_chart canvas')].some(c => c.width > 0)"


def main() -> int:
    words = argparse.ArgumentParser(description=__doc__.partition("\n\n")[0])
    words.add_argument(
        "--trials", type=int, default=100_000, help="in the large store (default: 100,000)"
    )
    words.add_argument(
        "--repeats", type=int, default=5, help="of each wait; the median counts (default: 5)"
    )
    words.add_argument(
        "--keep",
        type=Path,
        help="build the store in this folder and leave it there; one that is there is used",
    )
    words.add_argument("--json", type=Path, help="also write the figures to this file")
    asked = words.parse_args()
    home = asked.keep or Path(tempfile.mkdtemp(prefix="tileviz-big-"))
    os.environ.update(TILEVIZ_HOME=str(home), TILEVIZ_ENGINE_IDLE="20")
    try:
        waits = measured(home, asked.trials, asked.repeats)
    finally:
        stop_engine(home)
        if not asked.keep:
            shutil.rmtree(home, ignore_errors=True)
    print_table(waits)
    if asked.json:
        asked.json.write_text(
            json.dumps([{**asdict(w), "ok": w.ok} for w in waits], indent=2) + "\n"
        )
    return 0 if all(w.ok for w in waits) else 1


def measured(home: Path, trials: int, repeats: int) -> list[Wait]:
    store, port = Store(home), free_port()
    kept = store.sweep("big0") is not None
    if kept and not store.latest(
        requests.resolve("gemm", SIZES, where=ON_CPU, measuring=ALONE).key, "cpu"
    ):
        raise SystemExit(
            f"the store in {home} was built with another kernel file or other tools;"
            " delete it to build it again"
        )
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=browser_path(playwright), args=list(FLAGS)
        )
        waits = []
        if not kept:
            seed = seeded(store)
            with served(port):
                waits += first_charts(
                    browser, port, f"{len(store.trials(limit=10**6)):,} trials", repeats
                )
            built(store, seed, trials)
        size = store.size_bytes()["results"] / 1e6
        with served(port):
            waits += first_charts(browser, port, f"{trials:,} trials, {size:,.0f} MB", repeats)
        with served(port):  # one that has read no sweep
            waits += pictures(browser, port, repeats)
        browser.close()
    return waits


def seeded(store: Store) -> str:
    """A small real sweep and some single runs, so that every page has something to show. Gives the
    sweep."""
    request, space = resolve_sweep(
        "gemm",
        SIZES,
        SEED_SPACE,
        given=Given(fixed=FIXED),
        searching=Searching(effort="full"),
        where=ON_CPU,
        measuring=ALONE,
    )
    sweep = sweeps.submit(store, request, space)
    sweeps.wait(store, sweep, timeout=300)
    single = requests.resolve("gemm", SIZES, where=ON_CPU, measuring=ALONE)
    ended = client.wait(store, client.submit(store, single), timeout=120)
    first = store.trial(ended.trial) if ended.trial else None
    if first is None:
        raise TilevizError(f"the single run ended as {ended.state} without a trial: {ended.reason}")
    for number in range(SINGLE_RUNS):
        store.save_trial(replace(first, trial=new_id(), created=first.created - 3600 - number))
    return sweep


def built(store: Store, seed: str, trials: int) -> None:
    """Sweeps of 10,000 configs, each row and each trial like those that were really measured, with
    other times."""
    view, rows = results.there(store, seed), store.sweep_frame(seed, statuses=("ok",))
    real, began = (
        list(filter(None, (store.trial(row["trial"]) for row in rows))),
        time.perf_counter(),
    )
    request = {**view.request, "values": {name: list(found) for name, found in SPACE.items()}}
    luck, configs = (
        random.Random(0),
        [dict(zip(SPACE, found, strict=True)) for found in itertools.product(*SPACE.values())],
    )
    for number in range(-(-trials // len(configs))):
        own = configs[: trials - number * len(configs)]
        store.create_sweep(
            f"big{number}",
            request,
            (SweepRow(i, 0, config) for i, config in enumerate(own)),
            state="running",
        )
        for batch in batches(own):
            store.save_sweep_trials(
                f"big{number}", [((i,), likeness(luck, real, config)) for i, config in batch]
            )
        store.finish_sweep(f"big{number}", "done", "all ran", seconds=600.0)
        print(
            f"{min(trials, (number + 1) * len(configs)):,} trials written in"
            f" {time.perf_counter() - began:.0f} s",
            flush=True,
        )


def batches(configs: list[dict]) -> Iterator[list[tuple[int, dict]]]:
    numbered = list(enumerate(configs))
    for start in range(0, len(numbered), BATCH):
        yield numbered[start : start + BATCH]


def likeness(luck: random.Random, real: list[Trial], config: dict) -> Trial:
    """A trial like a real one, slower by its distance from the best of the landscape."""
    trial = luck.choice(real)
    distance = sum(abs(config[name] - best) / step for name, (best, step) in LANDSCAPE.items())
    times = (1 + 0.07 * distance) * (1 + 0.05 * luck.random())
    timing = trial.timing and replace(
        trial.timing,
        samples_us=tuple(us * times for us in trial.timing.samples_us[:SAMPLES]),
        earlier_us=(),
    )
    counts = {
        text: {name: count + config["block_M"] for name, count in found.items()}
        for text, found in trial.instructions.items()
    }
    return replace(
        trial,
        trial=new_id(),
        config=config,
        key=new_id(),
        timing=timing,
        instructions=counts,
        created=time.time(),
    )


def first_charts(browser: Browser, port: int, of: str, repeats: int) -> list[Wait]:
    """Each page by a click on its link and by its address, in a server and a browser that have
    drawn it before."""
    page, waits = new_page(browser), []
    pages = {stop.name: stop for stop in STOPS}
    for stop in STOPS:
        opened(page, port, stop)
    for stop in STOPS:
        took = [clicked(page, port, pages[stop.before], stop) for _ in range(repeats)]
        waits.append(
            Wait(
                f"{stop.name}, from the click on its link, {of}",
                statistics.median(took),
                FIRST_CHART_S,
                "s",
                repeats,
            )
        )
    for stop in STOPS:
        took = [opened(page, port, stop) for _ in range(repeats)]
        waits.append(
            Wait(f"{stop.name}, by its address, {of}", statistics.median(took), None, "s", repeats)
        )
    page.context.close()
    return waits


def new_page(browser: Browser) -> Page:
    return browser.new_context(viewport={"width": 1280, "height": 900}).new_page()


def opened(page: Page, port: int, stop: Stop, **more: str) -> float:
    """Seconds from a page's address in a fresh document, and so in a new session, to its first
    chart."""
    words = {"kernel": "gemm", "target": "cpu", **({} if more else SIZES), **more}
    page.goto("about:blank")
    began = time.perf_counter()
    page.goto(
        f"http://127.0.0.1:{port}/{stop.stem}?" + "&".join(f"{n}={v}" for n, v in words.items()),
        wait_until="commit",
    )
    page.wait_for_function(f"() => {stop.drawn}", polling="raf", timeout=60_000)
    return time.perf_counter() - began


def clicked(page: Page, port: int, before: Stop, stop: Stop) -> float:
    """Seconds from the click on a page's link to its first chart, in a session that stands still on
    another page and never saw this."""
    opened(page, port, before)
    page.wait_for_function(IDLE)
    page.wait_for_timeout(QUIET_MS)
    return since_click(
        page, page.get_by_test_id("stTopNavLink").filter(has_text=stop.name), f"() => {stop.drawn}"
    )


def pictures(browser: Browser, port: int, repeats: int) -> list[Wait]:
    """Sweeps of 10,000 configs that this server has not read yet: from the click in the list to the
    heatmap, and to the scatter of one."""
    page, heatmaps, scatters = new_page(browser), [], []
    for place in range(repeats):
        opened(page, port, STOPS[1], sweep="big0")
        page.wait_for_function(IDLE)
        heatmaps.append(chosen(page, place))
        page.wait_for_function(IDLE)
        tab = page.get_by_role("tab", name="Resources")
        tab.scroll_into_view_if_needed()
        scatters.append(since_click(page, tab, f"() => {SCATTER}"))
    page.context.close()
    return [
        Wait(
            "heatmap of an unread sweep of 10,000, from the list",
            statistics.median(heatmaps),
            HEATMAP_S,
            "s",
            repeats,
        ),
        Wait(
            "scatter of 10,000 from the click on its tab",
            statistics.median(scatters),
            SCATTER_S,
            "s",
            repeats,
        ),
    ]


def chosen(page: Page, place: int) -> float:
    """Seconds from the click on a row of the list of sweeps to a heatmap with other colours than
    the one before."""
    page.get_by_text("All sweeps").click()
    rows = page.locator(".st-key-sweep_list .dvn-scroller")
    rows.wait_for()
    page.wait_for_timeout(QUIET_MS)
    page.evaluate(
        f"() => {{ window.before = document.querySelector('{MAP} .hm image').href.baseVal }}"
    )
    at: Position = {"x": TICK_PX, "y": HEADER_PX + (place + 0.5) * ROW_PX}
    seen = (
        f"() => [...document.querySelectorAll('{MAP} .hm image')].some(i =>"
        " i.href.baseVal && i.href.baseVal !== window.before)"
    )
    return since_click(page, rows, seen, position=at)


if __name__ == "__main__":
    sys.exit(main())
