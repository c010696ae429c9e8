"""A command that cancels what goes on without its own, and an output that nobody reads any more."""

import json
import time

import pytest

from tests.cli.test_stopping import sleeping_compiler
from tests.conftest import tileviz_process
from tileviz.cli import sweep
from tileviz.cli.main import main
from tileviz.cli.terminal import ReaderLeft
from tileviz.engine import client
from tileviz.store import Store

SWEEP = {"kernel": "gemm", "target": "cpu", "device": "cpu", "problems": [{"M": 64}], "values": {}, "budget": {}, "strategy": "grid"}


@pytest.fixture
def store(tmp_path, monkeypatch):
    """Two jobs and a sweep that no engine takes up."""
    monkeypatch.setenv("TILEVIZ_HOME", str(tmp_path))
    monkeypatch.setattr(client, "ensure_engine", lambda home: None)
    store = Store(tmp_path)
    store.submit("run", {"kernel": "gemm", "problem": {"M": 64}}, job="j1")
    store.create_sweep("s1", SWEEP, (), job="j2")
    store.queue_sweep("s1", "j2", {"kind": "sweep", "sweep": "s1", "kernel": "gemm"}, before="j2")
    return store


def said(capsys, *words: str) -> tuple[int, str, str]:
    status = main(list(words))
    out, err = capsys.readouterr()
    return status, out, err


def test_a_run_and_a_sweep_are_cancelled_by_their_ids(store, capsys):
    assert said(capsys, "cancel", "j1", "s1")[:2] == (0, "j1 is cancelled\ns1 is cancelled\n")
    assert store.job("j1").state == store.job("j2").state == store.sweep("s1").state == "cancelled"


def test_without_an_id_it_lists_what_waits_or_runs(store, capsys):
    assert said(capsys, "cancel")[1] == "j1  run gemm M=64: queued\ns1  sweep gemm: queued\n"
    found = json.loads(said(capsys, "cancel", "--json")[1])["active"]
    assert [(entry["id"], entry["kind"]) for entry in found] == [("j1", "run"), ("s1", "sweep")]


def test_what_is_not_there_or_has_ended_is_a_sentence_and_nothing_is_cancelled(store, capsys):
    status, _, err = said(capsys, "cancel", "j1", "nothing")
    assert status == 2 and "no sweep or run 'nothing'" in err and store.job("j1").state == "queued"
    said(capsys, "cancel", "j1")
    status, _, err = said(capsys, "cancel", "j1")
    assert status == 2 and "j1 is cancelled already" in err


def test_a_sweep_whose_reader_left_goes_on_and_says_how_to_stop_it(monkeypatch):
    monkeypatch.setattr(sweep, "reader_left", lambda: True)
    with pytest.raises(ReaderLeft, match="sweep s1 goes on: .*show s1.*cancel s1"):
        sweep._look_for_reader("s1")
    monkeypatch.setattr(sweep, "reader_left", lambda: False)
    sweep._look_for_reader("s1")


def test_a_run_whose_reader_left_ends_its_command_with_a_sentence_and_can_be_cancelled(home, tmp_path, capsys):
    process = tileviz_process("run", "vector_add", "-p", "N=7123", "--device", "cpu", CXX=sleeping_compiler(tmp_path))
    process.stdout.close()
    err = process.stderr.read()
    assert process.wait(timeout=30) == 1 and "nobody reads the output any more" in err and "Traceback" not in err
    job = err.split("python -m tileviz cancel ")[1].split("`")[0]
    assert Store(home).job(job).active
    began = time.monotonic()
    assert said(capsys, "cancel", job)[:2] == (0, f"{job} is cancelled\n") and time.monotonic() - began < 15
