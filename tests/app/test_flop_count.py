"""Causal attention on the pages: how its mask lies, and TFLOPS by either count of its FLOPs."""

import pytest

from tests.app.pages import opened, texts
from tests.ui import examples, sweep_examples
from tileviz.measured import Roofline
from tileviz.store.sweeps import SweepRow

UNLIKE = {"B": 1, "H": 2, "Sq": 6, "Sk": 4, "D": 64, "causal": True}
"""Halved it counts 6 x 2 pairs a head; the mask leaves 10."""


@pytest.fixture
def causal(store):
    found = examples.trial(
        "flash_attention", problem=UNLIKE, tflops=12.0, gbps=3.0,
        roofline=Roofline("compute", 0.24, "50 TFLOPS", 0.48, "25 TFLOPS"), baselines=(),
    )  # fmt: skip
    store.save_trial(found)
    return found


def rate(app):
    return next(metric for metric in app.metric if metric.label == "Rate")


def test_a_causal_result_says_how_its_mask_is_aligned_and_what_pytorch_does(causal):
    words = texts(opened(trial=causal.trial))
    assert "Causal mask aligned bottom-right" in words and "aligns top-left" in words and "the first 2 rows see no key" in words


def test_its_tflops_follow_the_chosen_count(causal):
    app = opened(trial=causal.trial)
    assert rate(app).value == "12.0 TFLOPS" and "24 \\% datasheet" not in rate(app).delta
    app.segmented_control(key="flops").set_value("exact").run()
    assert rate(app).value == "10.0 TFLOPS" and rate(app).delta == "20 % datasheet, 40 % measured"
    assert "exact pairs; halved, as papers" in rate(app).help.lower()


def test_a_link_may_ask_for_the_exact_count(causal):
    assert rate(opened(trial=causal.trial, flops="exact")).value == "10.0 TFLOPS"


def test_a_link_with_another_word_is_told_so(causal):
    app = opened(kernel="flash_attention", flops="doubled")
    assert "flops is 'doubled'" in texts(app).replace("\\", "")


def test_without_a_mask_there_is_no_choice(store):
    store.save_trial(examples.trial("flash_attention", problem={}))
    app = opened(kernel="flash_attention")
    assert "aligned" not in texts(app) and "flops" not in [c.key for c in app.segmented_control]


def test_a_sweep_counts_as_the_control_says(store):
    values = {"block_M": (64, 128)}
    asked = sweep_examples.request(problems=[{**UNLIKE, "dtype": "float16", "scale": None}], values=values, kernel="flash_attention")
    measured = {"trial": "t0", "median_us": 100.0, "tflops": 12.0, "gbps": 3.0, "ended": 1.0}
    rows = [SweepRow(n, 0, {"block_M": m}, "ok", "", None, {**measured, "trial": f"t{n}"}) for n, m in enumerate(values["block_M"])]
    store.create_sweep("s1", asked, rows, state="done")
    app = opened("sweep", sweep="s1", kernel="flash_attention")
    assert "Causal mask aligned bottom-right" in texts(app) and rate(app).value == "12.0 TFLOPS"
    app.segmented_control(key="flops").set_value("exact").run()
    assert rate(app).value == "10.0 TFLOPS"
