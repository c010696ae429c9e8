"""Presets in the store: one for each kernel, target, device and problem."""

from dataclasses import replace

import pytest

from tileviz.records import TunedConfig
from tileviz.store import Store

GEMM = TunedConfig("a", "gemm", {"M": 64, "N": 64}, {"block_M": 64}, "cpu", "a CPU", 12.5, created=1.0, fingerprint={"torch": "2"})


@pytest.fixture
def store(tmp_path):
    return Store(tmp_path)


def test_a_preset_comes_back_as_it_went_in(store):
    store.save_tuned(GEMM)
    assert store.tuned() == store.tuned("gemm") == [GEMM] and store.tuned("softmax") == []


def test_the_same_problem_on_the_same_device_has_one_preset_the_last(store):
    store.save_tuned(GEMM)
    newer = replace(GEMM, id="b", problem={"N": 64, "M": 64}, median_us=11.0, created=2.0)
    store.save_tuned(newer)
    assert store.tuned() == [newer]


def test_another_problem_target_or_device_has_its_own(store):
    others = [
        replace(GEMM, id="p", problem={"M": 128, "N": 64}, created=2.0),
        replace(GEMM, id="t", target="sm_90a", created=3.0),
        replace(GEMM, id="d", device="another CPU", created=4.0),
    ]
    for tuned in (GEMM, *others):
        store.save_tuned(tuned)
    assert [tuned.id for tuned in store.tuned()] == ["d", "t", "p", "a"]


def test_a_preset_can_be_forgotten(store):
    store.save_tuned(GEMM)
    assert store.forget_tuned("a") and not store.forget_tuned("a") and store.tuned() == []
