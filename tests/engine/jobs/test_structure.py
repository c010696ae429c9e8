"""TileLang's pass visualizer through a real engine: it leaves a page, and a reason where it cannot."""

import pytest

from tests.asked import resolve
from tests.engine.jobs.test_reading import KNOBS, SMALL
from tileviz.engine import client
from tileviz.engine.jobs import structure
from tileviz.store import Store


@pytest.fixture(scope="module")
def store(shared_home) -> Store:
    return Store(shared_home)


def request(target: str, **config):
    return resolve("gemm", SMALL, {**KNOBS, **config}, kind="compile", target=target, devices=[])


def test_the_page_lies_beside_the_artifact_and_no_trial_is_left(store):
    asked = request("sm_90a")
    assert structure.stored(store, asked.key) is None
    before = len(store.trials(limit=100))
    job = client.wait(store, structure.submit(store, asked), timeout=120)
    assert (job.state, job.reason) == ("done", "") and len(store.trials(limit=100)) == before
    text = structure.stored(store, asked.key).read_text()
    assert "gemm for sm_90a" in text and "LowerTileOp" in text


def test_a_program_that_does_not_lower_says_why(store):
    job = client.wait(store, structure.submit(store, request("sm_80", threads=96)), timeout=120)
    assert job.state == "failed" and "3 warps" in job.reason
