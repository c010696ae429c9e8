"""Importance of knobs: computed in a child of the engine, kept with the sweep, never in the process that asks."""

import random

import pytest

from tests.ui import sweep_examples
from tileviz.engine import client
from tileviz.engine.jobs import importance
from tileviz.errors import BadRequest
from tileviz.store import Store

LANDSCAPE = {"a": (1, 2, 3), "b": (True, False), "c": ("x", "y")}


def timed(count: int = 200) -> list:
    draw = random.Random(0)
    configs = [{name: draw.choice(values) for name, values in LANDSCAPE.items()} | {"fixed": 7} for _ in range(count)]
    return [(config, 10.0 * config["a"] + (1.0 if config["b"] else 0.0) + 0.01 * draw.random()) for config in configs]


def test_the_knob_that_decides_matters_most_and_the_shares_sum_to_one():
    found = importance.importance(timed())
    assert list(found)[0] == "a" and set(found) == set(LANDSCAPE)
    assert sum(found.values()) == pytest.approx(1, abs=0.01)


def test_where_nothing_varies_there_is_nothing_to_say():
    assert importance.importance([({"a": 1}, 5.0)] * 9) == {}
    assert importance.importance([({"a": i % 2}, 5.0) for i in range(9)]) == {}


def test_failures_and_pruned_configs_are_left_out_and_few_configs_are_too_few(tmp_path):
    store = Store(tmp_path)
    sweep_examples.stored(store)
    ((number, found),) = importance.timed_configs(store, "s1")
    assert number == 0 and len(found) == 94
    sweep_examples.stored(store, "s2", measured=0.05)
    assert importance.timed_configs(store, "s2") == ()


def test_a_sweep_that_is_not_there_is_told_in_a_sentence(tmp_path):
    with pytest.raises(BadRequest, match="no sweep 'gone' under"):
        importance.submit(Store(tmp_path), "gone")


def test_the_engine_computes_it_in_a_child_and_stores_it_with_the_sweep(home):
    store = Store(home)
    sweep_examples.stored(store)
    job = client.wait(store, importance.submit(store, "s1"), timeout=120)
    assert job.state == "done", job.reason
    shares, of = importance.stored(store.sweep("s1").notes, 0)
    assert of == 94 and list(shares)[0] in ("block_M", "block_N") and "panel_size" not in shares
    assert importance.stored(store.sweep("s1").notes, 1) is None
