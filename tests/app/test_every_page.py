"""Every page over every pair of kernel, flag, dtype, place and result: no part of it fails, and what belongs there is there."""

import itertools

import pytest
from streamlit.testing.v1 import AppTest

from tests.app.every_page import BEFORE_CODE, FAILED, PLACES, REASON, RESULTS, Draw, all_pairs, draws, problem_of, put
from tests.app.pages import ROOT, texts
from tests.ui import examples
from tileviz import kernels
from tileviz.compiler import toolchain
from tileviz.engine import requests
from tileviz.ui.parts.headline import SENTENCES
from tileviz.ui.sweeps import results

VIEWS = itertools.cycle(results.TABS)
FAULT = "This part of the page failed"
DRAWS = draws()


def test_the_draws_hold_every_pair():
    names = ("page", "kernel", "flags", "dtype", "place", "result")
    values = [sorted({getattr(draw, name) for draw in DRAWS}) for name in names]
    assert set(values[1]) == set(kernels.names()) and set(values[5]) == set(RESULTS) and set(values[4]) == set(PLACES)
    for (a, of_a), (b, of_b) in itertools.combinations(zip(names, values, strict=True), 2):
        assert {(getattr(draw, a), getattr(draw, b)) for draw in DRAWS} == set(itertools.product(of_a, of_b)), f"{a} and {b}"
    assert len(DRAWS) < 36 * len(kernels.names())


def test_all_pairs_of_a_small_table():
    rows = all_pairs(("ab", "xyz", (1, 2)))
    assert {(row[0], row[1]) for row in rows} == set(itertools.product("ab", "xyz")) and {row[1:] for row in rows} == set(
        itertools.product("xyz", (1, 2))
    )


@pytest.mark.parametrize("draw", DRAWS, ids=str)
def test_a_page_is_drawn_whole(draw, store, tmp_path, monkeypatch):
    if draw.place == "gpu":
        monkeypatch.setattr(requests, "local_devices", lambda: [examples.H200, examples.CPU])
    if draw.place == "nothing runs":
        monkeypatch.setattr(toolchain, "why_nothing_runs", lambda: "no C++ compiler: apt-get install g++, or set CXX")
    address, recorded = put(draw, store, tmp_path)
    monkeypatch.setenv("TILEVIZ_RECORDED", str(recorded or "none"))
    app = AppTest.from_file(str(ROOT / "app.py"), default_timeout=120)
    app.query_params.update({**address, "view": next(VIEWS)} if draw.page == "sweep" else address)
    if draw.page:
        app.switch_page(f"pages/{draw.page}.py")
    app.run()
    said = texts(app).replace("\\", "")
    assert not app.exception, app.exception
    assert FAULT not in said
    missing = [part for part in PARTS[draw.page](draw) if part not in said and part not in labels(app)]
    assert not missing, said
    assert [c.key for c in app.segmented_control].count("flops") <= 1


def labels(app) -> set[str]:
    """Names of metrics, buttons and tabs."""
    tabs = [tab.label for tab in app.get("tab")]
    return {metric.label for metric in app.metric} | {button.label for button in app.button} | set(tabs)


def explore(draw: Draw) -> list[str]:
    button = "Running" if draw.result == "running" else "Compile" if draw.place == "elsewhere" else "Run"
    parts = [kernels.kernel(draw.kernel).title, "Problem", "Knobs", button]
    parts += ["Run is off: no C++ compiler"] * (draw.place == "nothing runs")
    if draw.result == "none":
        return [*parts, "tileviz shows what a GPU kernel"]
    if draw.result == "running":
        return [*parts, "Cancel"]
    if draw.result == "recorded":
        return [*parts, "ecorded on NVIDIA H200", "Latency", "Rate", *_causal(draw)]
    parts += [SENTENCES[draw.result], REASON] if draw.result in FAILED else []
    parts += [] if draw.result in BEFORE_CODE else ["Generated code", "Resources", "Instructions"]
    if draw.result == "ok" and draw.place != "elsewhere":
        parts += ["Latency", "Rate", "Result", *_causal(draw)]
        parts += ["Memory traffic, by formula"] * kernels.kernel(draw.kernel).card.models_traffic
        parts += ["One launch under the profiler"] * (draw.place == "gpu")
    if draw.result == "wrong_result":
        parts += ["Where the errors lie"]
    return parts


def _causal(draw: Draw) -> list[str]:
    return ["Causal FLOPs", "Causal mask aligned"] if problem_of(draw).get("causal") else []


def codeview(draw: Draw) -> list[str]:
    parts = [kernels.kernel(draw.kernel).title, "Problem", "Knobs"]
    if draw.result == "none":
        return [*parts, "**Compile** shows what TileLang makes"]
    if draw.result == "running":
        return [*parts, "Cancel"]
    if draw.result == "recorded":
        return [*parts, "ecorded on NVIDIA H200"]
    if draw.result in BEFORE_CODE:
        return [*parts, SENTENCES[draw.result], "This config on every architecture"]
    return [*parts, "Counts and resources", "Ladder", "Resources"]


def sweep(draw: Draw) -> list[str]:
    parts = [f"Sweep of {kernels.kernel(draw.kernel).title}", "Problem", "Knobs", "Search", "Start"]
    parts += ["Start is off: no C++ compiler"] * (draw.place == "nothing runs")
    parts += ["Start is off: a sweep measures"] * (draw.place == "elsewhere")
    if draw.result == "none":
        return [*parts, "A sweep tries many configs"]
    if draw.result == "recorded":
        return [*parts, "this sweep comes with tileviz"]
    parts += ["Sweep s1", *results.TABS]
    return parts + (["Cancel"] if draw.result == "running" else [])


def system(draw: Draw) -> list[str]:
    return ["System", "Example CPU", *(["NVIDIA H200"] if draw.place == "gpu" else [])]


PARTS = {"": explore, "codeview": codeview, "sweep": sweep, "system": system}
