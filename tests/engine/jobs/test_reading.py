"""Readings and the ladder, through a real engine: what they leave, and what they say where nothing can be left."""

import pytest

from tests import long_proofs
from tests.asked import resolve
from tileviz.engine import client, ladder
from tileviz.engine.jobs import reading
from tileviz.store import Store

SMALL = {"M": 128, "N": 128, "K": 128}
KNOBS = {"block_M": 64, "block_N": 64, "block_K": 32, "num_stages": 2, "threads": 128}


@pytest.fixture(scope="module")
def store(shared_home) -> Store:
    return Store(shared_home)


def request(target: str, **problem):
    return resolve("gemm", {**SMALL, **problem}, KNOBS, kind="compile", target=target, devices=[])


@pytest.mark.parametrize("target", ["sm_90a", "cpu"])
def test_a_reading_leaves_passes_and_tilelangs_report_and_no_trial(store, target):
    asked = request(target, **({"dtype": "float32"} if target == "cpu" else {}))
    assert reading.stored(store, asked.key) is None
    before = len(store.trials(limit=100))
    job = client.wait(store, reading.submit(store, asked), timeout=120)
    assert (job.state, job.reason) == ("done", "") and len(store.trials(limit=100)) == before
    found = reading.stored(store, asked.key)
    names = [each["name"] for each in found.passes]
    assert len(names) > 40 and {"Simplify", "FlattenBuffer"} <= set(names)
    assert all(bool(each["diff"]) == (each["added"] + each["removed"] > 0) for each in found.passes if each["name"] != "codegen")
    assert found.report.read_text().lstrip().lower().startswith("<!doctype html")


def test_the_layouts_of_tiles_are_told_in_numbers(store):
    asked = request("sm_80")
    client.wait(store, reading.submit(store, asked), timeout=120)
    layouts = {each["buffer"]: each for each in reading.stored(store, asked.key).layouts}
    assert set(layouts) == {"A_shared", "B_shared", "acc"}
    tile = layouts["A_shared"]
    assert (tile["kind"], tile["shape"], tile["dtype"]) == ("shared", [64, 32], "float16")
    assert sorted(n for row in tile["cells"] for n in row) == list(range(64 * 32))
    acc = layouts["acc"]
    assert acc["kind"] == "fragment" and {n for row in acc["cells"] for n in row} == set(range(128))
    assert (
        len(
            {
                (t, r)
                for threads, registers in zip(acc["cells"], acc["registers"], strict=True)
                for t, r in zip(threads, registers, strict=True)
            }
        )
        == 64 * 64
    )


def test_a_reading_that_fails_says_why(store):
    asked = resolve("gemm", SMALL, {**KNOBS, "threads": 96}, kind="compile", target="sm_80", devices=[])
    job = client.wait(store, reading.submit(store, asked), timeout=120)
    assert job.state == "failed" and "3 warps" in job.reason


@pytest.mark.parametrize("architectures", [("sm_75", "sm_90a"), long_proofs.slow((ladder.ARCHITECTURES,), id="every")], ids=["two", None])
def test_the_ladder_compiles_every_rung_and_a_failed_one_has_its_reason(store, architectures, monkeypatch):
    monkeypatch.setattr(ladder, "ARCHITECTURES", architectures)
    problem = {**SMALL, "dtype": "bfloat16"}
    steps = ladder.rungs(store, "gemm", problem, KNOBS)
    assert [rung.target for rung in steps] == list(ladder.ARCHITECTURES)
    assert "bfloat16" in steps[0].reason and not steps[0].is_open
    for job in ladder.climb(store, steps):
        client.wait(store, job, timeout=200)
    done = {rung.target: rung for rung in ladder.rungs(store, "gemm", problem, KNOBS)}
    assert all(rung.artifact or rung.reason for rung in done.values())
    shown = {"sm_90a": "HGMMA", "sm_86": "LDGSTS", "sm_120a": "UTMALDG"}
    assert all(shown[name] in done[name].artifact.sass for name in shown.keys() & set(architectures))
    assert ladder.climb(store, tuple(done.values())) == []


def test_a_config_over_the_limit_of_an_architecture_names_it(store):
    big = {"block_M": 128, "block_N": 256, "block_K": 64, "num_stages": 4, "threads": 256}
    reasons = {rung.target: rung.reason for rung in ladder.rungs(store, "gemm", {"M": 4096, "N": 4096, "K": 4096}, big)}
    assert "shared memory" in reasons["sm_89"] and reasons["sm_90a"] == ""
