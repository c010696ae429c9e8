"""How a store of 100,000 trials is to work with, in a real Chromium: `python -m benchmarks.big_store [--trials N] [--json FILE]`.

Builds the store through its own interface from a sweep that is really run on the CPU, then measures each page's first chart, on a small
store and on the large one, and the pictures of a sweep of 10,000 configs. Prints a table of each wait with its budget and exits 1 when one
is over. Needs Playwright and a Chromium; no GPU.
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
from dataclasses import asdict, replace
from pathlib import Path

from playwright.sync_api import Browser, Page, sync_playwright

from benchmarks.page_latency import FLAGS, Wait, browser_path, free_port, print_table, served, stop_engine
from tileviz.engine import client, requests
from tileviz.engine.sweeps import client as sweeps
from tileviz.engine.sweeps.request import resolve_sweep
from tileviz.kernels import kernel
from tileviz.records import Trial
from tileviz.store import Store, new_id
from tileviz.store.sweeps import SweepRow

SIZES = {"M": 128, "N": 128, "K": 128}
SEED_SPACE = {"block_M": [32, 64], "block_N": [32, 64], "block_K": [32]}
FIXED = {knob.name: knob.default for knob in kernel("gemm").knobs if knob.name not in SEED_SPACE}
SPACE = {name: (value,) for name, value in FIXED.items()} | {
    "block_M": tuple(16 * i for i in range(1, 11)), "block_N": tuple(16 * i for i in range(1, 11)), "block_K": (16, 32, 48, 64, 80),
    "num_stages": (1, 2, 3, 4, 5), "threads": (128, 256, 384, 512),
}  # fmt: skip
"""10,000 configs."""

LANDSCAPE = {"block_M": (96, 16), "block_N": (128, 16), "block_K": (48, 16), "num_stages": (3, 1)}
"""The best value of each knob, and a step of it: a made-up landscape."""

SAMPLES = 50
"""Of each trial, as a sweep on a GPU takes them."""

SINGLE_RUNS = 20
BATCH = 500

FIRST_CHART_S, HEATMAP_S, SCATTER_S = 1.0, 1.0, 2.5

DRAWN = "document.querySelector('{}') !== null"
FIRST = {
    "Explore": ("", DRAWN.format(".js-plotly-plot .barlayer path")),
    "Sweep": ("sweep", DRAWN.format(".st-key-sweep_map .js-plotly-plot .hm image, .st-key-sweep_map .js-plotly-plot .scatterlayer path")),
    "Code": ("codeview", "[...document.querySelectorAll('.st-key-pane_left *')].some(e => e.shadowRoot?.querySelector('.row'))"
                         " || document.querySelector('.st-key-pane_left .row') !== null"),
    "System": ("system", DRAWN.format("[data-testid=stDataFrame] canvas")),
}  # fmt: skip
"""A page's address and what must be on it: its first chart, or what stands in the place of one."""

SCATTER = "[...document.querySelectorAll('.st-key-against_chart canvas')].some(c => c.width > 0)"


def main() -> int:
    words = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    words.add_argument("--trials", type=int, default=100_000, help="in the large store (default: 100,000)")
    words.add_argument("--repeats", type=int, default=5, help="of each wait; the median counts (default: 5)")
    words.add_argument("--keep", type=Path, help="build the store in this folder and leave it there; one that is there is used")
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
        asked.json.write_text(json.dumps([{**asdict(w), "ok": w.ok} for w in waits], indent=2) + "\n")
    return 0 if all(w.ok for w in waits) else 1


def measured(home: Path, trials: int, repeats: int) -> list[Wait]:
    store, port = Store(home), free_port()
    seed = seeded(store)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=browser_path(playwright), args=list(FLAGS))
        waits = []
        if not store.sweep("big0"):
            with served(port):
                waits += first_charts(browser, port, seed, f"{len(store.trials(limit=10**6)):,} trials", repeats)
            built(store, seed, trials)
        size = store.size_bytes()["results"] / 1e6
        with served(port):
            waits += first_charts(browser, port, "big0", f"{trials:,} trials, {size:,.0f} MB", repeats)
            waits += pictures(browser, port, repeats)
        browser.close()
    return waits


def seeded(store: Store) -> str:
    """A small real sweep and some single runs, so that every page has something to show. Gives the sweep."""
    request, space = resolve_sweep("gemm", SIZES, SEED_SPACE, fixed=FIXED, target="cpu", effort="full", baselines=False)
    sweep = sweeps.submit(store, request, space)
    sweeps.wait(store, sweep, timeout=300)
    single = requests.resolve("gemm", SIZES, target="cpu", baselines=False)
    job = client.submit(store, single)
    client.wait(store, job, timeout=120)
    first = store.trial(store.job(job).trial)
    for number in range(SINGLE_RUNS):
        store.save_trial(replace(first, trial=new_id(), created=first.created - 3600 - number))
    return sweep


def built(store: Store, seed: str, trials: int) -> None:
    """Sweeps of 10,000 configs, each row and each trial like those that were really measured, with other times."""
    view, rows = store.sweep(seed), store.sweep_frame(seed, statuses=("ok",))
    real, began = list(filter(None, (store.trial(row["trial"]) for row in rows))), time.perf_counter()
    request = {**view.request, "values": {name: list(found) for name, found in SPACE.items()}}
    luck, configs = random.Random(0), [dict(zip(SPACE, found, strict=True)) for found in itertools.product(*SPACE.values())]
    for number in range(-(-trials // len(configs))):
        own = configs[: trials - number * len(configs)]
        store.create_sweep(f"big{number}", request, (SweepRow(i, 0, config) for i, config in enumerate(own)), state="running")
        for batch in batches(own):
            store.save_sweep_trials(f"big{number}", [((i,), likeness(luck, real, config)) for i, config in batch])
        store.finish_sweep(f"big{number}", "done", "all ran", seconds=600.0)
        print(f"{min(trials, (number + 1) * len(configs)):,} trials written in {time.perf_counter() - began:.0f} s", flush=True)


def batches(configs: list[dict]) -> Iterator[list[tuple[int, dict]]]:
    numbered = list(enumerate(configs))
    for start in range(0, len(numbered), BATCH):
        yield numbered[start : start + BATCH]


def likeness(luck: random.Random, real: list[Trial], config: dict) -> Trial:
    """A trial like a real one, slower by its distance from the best of the landscape."""
    trial = luck.choice(real)
    distance = sum(abs(config[name] - best) / step for name, (best, step) in LANDSCAPE.items())
    times = (1 + 0.07 * distance) * (1 + 0.05 * luck.random())
    timing = replace(trial.timing, samples_us=tuple(us * times for us in trial.timing.samples_us[:SAMPLES]), earlier_us=())
    counts = {text: {name: count + config["block_M"] for name, count in found.items()} for text, found in trial.instructions.items()}
    return replace(trial, trial=new_id(), config=config, key=new_id(), timing=timing, instructions=counts, created=time.time())


def first_charts(browser: Browser, port: int, sweep: str, of: str, repeats: int) -> list[Wait]:
    """Each page opened by its address in a server and a browser that have drawn it before."""
    page, waits = browser.new_context(viewport={"width": 1280, "height": 900}).new_page(), []
    for name, (stem, drawn) in FIRST.items():
        address = f"http://127.0.0.1:{port}/{stem}?kernel=gemm&target=cpu&" + "&".join(f"{n}={v}" for n, v in SIZES.items())
        if name == "Sweep":
            address += f"&sweep={sweep}"
        opened(page, address, drawn)
        took = [opened(page, address, drawn) for _ in range(repeats)]
        waits.append(Wait(f"{name}, first chart, {of}", statistics.median(took), FIRST_CHART_S, "s", repeats))
    page.context.close()
    return waits


def opened(page: Page, address: str, drawn: str) -> float:
    page.goto("about:blank")
    began = time.perf_counter()
    page.goto(address, wait_until="commit")
    page.wait_for_function(f"() => {drawn}", polling="raf", timeout=60_000)
    return time.perf_counter() - began


def pictures(browser: Browser, port: int, repeats: int) -> list[Wait]:
    """A sweep of 10,000 configs that this server has not read yet, from the click in the list to its heatmap, and to its scatter."""
    page, heatmaps, scatters = browser.new_context(viewport={"width": 1280, "height": 900}).new_page(), [], []
    for number in range(1, repeats + 1):
        address = f"http://127.0.0.1:{port}/sweep?kernel=gemm&target=cpu&sweep=big{number}"
        heatmaps.append(opened(page, address, FIRST["Sweep"][1]))
        page.wait_for_function("() => document.querySelector('[data-testid=stApp]')?.dataset.testScriptState === 'notRunning'")
        tab = page.get_by_role("tab", name="Resources")
        tab.scroll_into_view_if_needed()
        page.evaluate("() => addEventListener('click', () => { window.clickedAt = performance.now() }, { capture: true, once: true })")
        tab.click()
        took = page.wait_for_function(f"() => {SCATTER} && performance.now() - window.clickedAt", polling="raf", timeout=60_000)
        scatters.append(took.json_value() / 1000)
    page.context.close()
    return [
        Wait("heatmap of an unread sweep of 10,000, page and all", statistics.median(heatmaps), HEATMAP_S, "s", repeats),
        Wait("scatter of 10,000 from the click on its tab", statistics.median(scatters), SCATTER_S, "s", repeats),
    ]


if __name__ == "__main__":
    sys.exit(main())
