"""SIGKILL again and again, of the engine and of the command that watches it, at random moments of one sweep: nothing measured is
lost, nothing is measured twice, nothing is left running."""

import os
import random
import re
import signal
import time
from collections import Counter

import pytest

from tests import long_proofs
from tests.asked import resolve_sweep
from tests.conftest import none_left, tileviz_process
from tests.waiting import until
from tileviz.engine import client as jobs
from tileviz.engine.processes import starts
from tileviz.engine.sweeps import client
from tileviz.store import Store

CONFIGS = 400
MORE = 8
"""Configs that the sweep goes on with after the last kill."""
SEED = 5
KILLS = ("command", "engine that starts", "engine at work", "command") * 5
"""A command is killed within two seconds of its start, an engine while it warms up, or up to a second after it has measured something."""


def ask_anew(home) -> None:
    """Starts an engine as a new request does, after however many deaths in a row."""
    starts.may_start_once(home)
    jobs.ensure_engine(home)


@pytest.fixture
def store(home):
    return Store(home)


def measured(store, sweep) -> dict[int, tuple]:
    """What is stored of each config that has a result: its trial, its time, and when it ended."""
    rows = store.sweep_frame(sweep, instructions=False)
    return {row["ordinal"]: (row["trial"], row["median_us"], row["ended"]) for row in rows if row["status"] != "not_run"}


def measure_more(store, sweep, configs: int) -> None:
    """Waits until so many configs more have a result."""
    before = len(measured(store, sweep))
    until(lambda: len(measured(store, sweep)) >= before + configs)


@pytest.mark.parametrize("kills", [KILLS[:3], long_proofs.slow((KILLS,), id="twenty")], ids=["three", None])
def test_kills_at_random_moments_lose_nothing_and_repeat_nothing(store, home, kills):
    request, space = resolve_sweep(
        "vector_add", {"N": 1000}, {"block_N": list(range(200, 200 + CONFIGS))}, fixed={"threads": 128}, target="cpu", effort="full",
        baselines=False, strategy="grid", finalists=0,
    )  # fmt: skip
    sweep = client.submit(store, request, space)
    luck, victims, seen, hits = random.Random(SEED), list(kills), {}, Counter()
    luck.shuffle(victims)
    for victim in victims:
        command = tileviz_process("sweep", "--resume", sweep, "--json") if victim == "command" else None
        ask_anew(home)
        if victim == "engine at work":
            measure_more(store, sweep, 1)
        time.sleep(luck.uniform(0.0, {"command": 2.0, "engine that starts": 3.0, "engine at work": 1.0}[victim]))
        hits[victim] += store.sweep(sweep).active
        if command is not None:
            command.send_signal(signal.SIGKILL)
            command.communicate()
        else:
            until(lambda: ask_anew(home) or jobs.engine_pid(home))
            os.kill(jobs.engine_pid(home), signal.SIGKILL)
            left = none_left(home)
            assert not left, f"left running after the engine was killed: {[p.cmdline() for p in left]}"
        now = measured(store, sweep)
        assert seen.items() <= now.items(), "a result is gone, or was measured again"
        seen = now
    print(f"\nkills while the sweep ran: {dict(hits)}; {len(seen)} of {CONFIGS} configs measured by then")
    assert sum(hits.values()) == len(kills), "the sweep was over too soon for this test"
    client.resume(store, sweep)
    measure_more(store, sweep, MORE)
    client.cancel(store, sweep)
    assert client.wait(store, sweep, timeout=120).state == "cancelled"
    after = measured(store, sweep)
    assert seen.items() <= after.items() and store.sweep(sweep).requested == CONFIGS
    assert store.sweep(sweep).counts == {"ok": len(after), "not_run": CONFIGS - len(after)}
    assert len(store.trials(limit=10 * CONFIGS)) == len(after), "a config was measured twice, or by halves"
    told = Counter(re.findall(rf"sweep {sweep}: config (\d+) ok", (home / "engine.log").read_text()))
    assert max(told.values()) == 1, "a config that was done was run again"
