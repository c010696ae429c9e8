"""Deleting with undo: what goes and comes back, what must stay, and that nobody waits for it."""

import sqlite3
import time
from contextlib import contextmanager
from dataclasses import replace

import pytest

from tests.store.test_store import a_trial
from tests.store.test_sweeps import REQUEST, rows, trial
from tileviz.errors import BadRequest
from tileviz.records import Artifact, TunedConfig
from tileviz.store import Store, deletion, exchange
from tileviz.store.database import MIGRATIONS
from tileviz.store.sweeps import SweepRow


@pytest.fixture
def store(tmp_path):
    return Store(tmp_path)


@pytest.fixture
def swept(store):
    """A sweep that has ended, with two trials."""
    store.create_sweep("s1", REQUEST, rows(), state="done")
    store.save_sweep_trials("s1", [((0, 5), trial("t0")), ((1,), trial("t1", status="compile_failed", timing=None, verdict=None))])
    return store


def seen(store, sweep="s1"):
    return store.sweep(sweep), store.sweep_frame(sweep), store.trials_of_sweep(sweep)


def an_artifact(store, key="abcd"):
    store.save_artifact(Artifact(key, "cpu", "int x;", "c", compiler="g++ 12"))
    return key


def left(store) -> dict[str, int]:
    """Rows of each table."""
    with store.database.connect() as connection:
        names = ("sweep", "sweep_trial", "trial", "artifact", "trash", "trash_row")
        return {name: connection.execute(f"SELECT count(*) FROM {name}").fetchone()[0] for name in names}


def test_a_deleted_sweep_is_gone_with_its_trials_and_comes_back_as_it_was(swept):
    before = seen(swept)
    (entry,) = swept.delete(["s1"])
    assert (entry.kind, entry.title) == ("sweep", "gemm on cpu, 6 configs")
    assert swept.sweep("s1") is None and swept.sweeps() == [] and swept.trial("t0") is None and swept.latest("k1") is None
    assert [found.id for found in swept.trash()] == ["s1"]
    swept.undelete(["s1"])
    assert seen(swept) == before and swept.trash() == [] and swept.trials("gemm", sweeps=False) == []


def test_a_deleted_trial_and_code_come_back_as_they_were(store):
    store.save_trial(a_trial(artifact=an_artifact(store)))
    code = store.artifact("abcd")
    store.delete(["t1", "abcd"])
    assert store.trial("t1") is None and store.artifact("abcd") is None and store.code_entries() == []
    store.undelete(["abcd", "t1"])
    assert store.trial("t1") == a_trial(artifact="abcd") and store.artifact("abcd", complete=True) == code


def test_a_sweep_at_work_is_not_deleted(store):
    job = "j1"
    store.create_sweep("s1", REQUEST, rows(), job=job)
    store.queue_sweep("s1", job, {"sweep": "s1"}, before=job)
    with pytest.raises(BadRequest, match="sweep s1 is at work; cancel it first"):
        store.delete(["s1"])
    store.cancel(job)
    store.delete(["s1"])
    assert store.sweeps() == []


def test_a_trial_of_a_sweep_and_one_at_work_stay(swept):
    with pytest.raises(BadRequest, match="trial t0 belongs to sweep s1; delete that as a whole"):
        swept.delete(["t0"])
    job = swept.submit("run", {"kernel": "gemm"})
    swept.claim(job)
    swept.save_trial(a_trial(trial="now"))
    swept.job_has(job, trial="now")
    with pytest.raises(BadRequest, match="trial now is still at work"):
        swept.delete(["now"])
    swept.finish(job, "done")
    assert swept.delete(["now"])[0].title == "gemm on cpu, ok"


def test_code_of_several_trials_or_of_a_preset_stays(store):
    key = an_artifact(store)
    for name in ("t1", "t2"):
        store.save_trial(a_trial(trial=name, artifact=key))
    with pytest.raises(BadRequest, match="the code abcd is that of 2 trials .t1, t2"):
        store.delete([key])
    store.delete(["t2"])
    store.save_tuned(TunedConfig("p1", "gemm", {"M": 8}, {"block_M": 64}, "cpu", "a CPU", 2.0, trial="t1"))
    with pytest.raises(BadRequest, match="the code abcd is that of preset p1; `presets --forget p1` first"):
        store.delete([key])
    store.forget_tuned("p1")
    assert [entry.trials for entry in store.code_entries()] == [1]
    store.delete([key])
    assert store.trial("t1").artifact == key and store.artifact(key) is None


def test_one_that_must_stay_or_is_not_there_leaves_all_where_they_are(swept):
    for ids, said in ((["s1", "t0"], "belongs to sweep"), (["s1", "nothing"], "no sweep, trial or compiled code 'nothing'")):
        with pytest.raises(BadRequest, match=said):
            swept.delete(ids)
    assert swept.sweep("s1") is not None and swept.trash() == []
    with pytest.raises(BadRequest, match="'s1' is not among what was deleted and kept; there: nothing"):
        swept.undelete(["s1"])


def test_trials_that_another_sweep_has_stay_with_it_and_come_back_with_either(swept):
    found = exchange.read(exchange.written(swept.sweep("s1"), swept.sweep_frame("s1"), "json"))
    swept.create_sweep("s2", found.request, found.rows, state="done")
    swept.delete(["s1"])
    assert swept.trial("t0") is not None
    swept.delete(["s2"])
    assert swept.trial("t0") is None
    swept.undelete(["s1"])
    assert set(swept.trials_of_sweep("s1")) == {"t0", "t1"}


def test_an_emptied_trash_leaves_nothing_behind(swept):
    an_artifact(swept)
    swept.delete(["s1", "abcd"])
    assert swept.empty_trash() == 2 and set(left(swept).values()) == {0}
    assert not swept.files.folder("abcd").exists()


def test_the_trash_is_kept_for_a_week(swept, monkeypatch):
    swept.save_trial(a_trial(trial="later"))
    swept.delete(["s1"])
    now = time.time()
    monkeypatch.setattr(deletion.time, "time", lambda: now + deletion.KEPT_S - 60)
    swept.delete(["later"])
    assert {entry.id for entry in swept.trash()} == {"s1", "later"}
    monkeypatch.setattr(deletion.time, "time", lambda: now + deletion.KEPT_S + 60)
    an_artifact(swept)
    swept.delete(["abcd"])
    assert {entry.id for entry in swept.trash()} == {"later", "abcd"}


def test_code_that_was_compiled_again_outlives_the_trash(store):
    an_artifact(store)
    store.delete(["abcd"])
    an_artifact(store)
    store.empty_trash()
    assert store.artifact("abcd", complete=True) is not None


def test_code_whose_files_were_cleared_is_not_taken_back(store):
    an_artifact(store)
    store.delete(["abcd"])
    store.clear_cache()
    with pytest.raises(BadRequest, match="the files of the code abcd were cleared"):
        store.undelete(["abcd"])


def test_a_deletion_that_died_half_way_is_taken_back_or_emptied(swept, monkeypatch):
    with monkeypatch.context() as patch:
        patch.setattr(Store, "_move_trials", lambda self, sweep: None)
        swept.delete(["s1"])
    assert swept.sweep("s1") is None and swept.trial("t0") is not None
    swept.undelete(["s1"])
    assert set(swept.trials_of_sweep("s1")) == {"t0", "t1"}
    with monkeypatch.context() as patch:
        patch.setattr(Store, "_move_trials", lambda self, sweep: None)
        swept.delete(["s1"])
    swept.empty_trash()
    assert set(left(swept).values()) == {0}


def test_a_sweep_that_is_taken_back_while_it_is_deleted_is_whole(swept, tmp_path, monkeypatch):
    before, other, packed = seen(swept), Store(tmp_path), deletion._packed

    def taken_back_in_between(connection, source, ids, entry):
        if "t1" in ids:
            other.undelete(["s1"])
        return packed(connection, source, ids, entry)

    monkeypatch.setattr(deletion, "BATCH", 1)
    monkeypatch.setattr(deletion, "_packed", taken_back_in_between)
    swept.delete(["s1"])
    assert seen(swept) == before and left(swept)["trash"] == left(swept)["trash_row"] == 0


def test_a_sweep_whose_trials_still_go_while_it_is_taken_back_is_whole(swept, tmp_path, monkeypatch):
    before, other, back = seen(swept), Store(tmp_path), Store._take_trials_back
    swept.delete(["s1"])
    still = ["s1"]

    def deleted_in_between(store, entry):
        back(store, entry)
        if still:
            other._move_trials(still.pop())

    monkeypatch.setattr(Store, "_take_trials_back", deleted_in_between)
    swept.undelete(["s1"])
    assert seen(swept) == before and left(swept)["trash"] == left(swept)["trash_row"] == 0


def test_a_trial_that_another_sweep_has_again_meanwhile_stays(swept, tmp_path, monkeypatch):
    swept.create_sweep("s2", REQUEST, [replace(row, results={"trial": "t0"}) for row in rows()[:1]], state="done")
    before, other, packed = seen(swept), Store(tmp_path), deletion._packed
    swept.delete(["s1"])

    def taken_back_in_between(connection, source, ids, entry):
        if source == "trial" and other.sweep("s1") is None:
            other.undelete(["s1"])
        return packed(connection, source, ids, entry)

    monkeypatch.setattr(deletion, "_packed", taken_back_in_between)
    swept.delete(["s2"])
    assert seen(swept) == before


def test_what_began_to_be_deleted_for_good_is_not_taken_back_in_part(swept, monkeypatch):
    swept.delete(["s1"])
    with monkeypatch.context() as killed:
        killed.setattr(Store, "_move_trials", lambda *_: (_ for _ in ()).throw(KeyboardInterrupt))
        with pytest.raises(KeyboardInterrupt):
            swept.empty_trash()
    assert swept.trash() == []
    with pytest.raises(BadRequest, match="not among what was deleted"):
        swept.undelete(["s1"])
    swept.empty_trash(deletion.KEPT_S)
    assert set(left(swept).values()) == {0}


def test_no_transaction_of_a_large_deletion_changes_more_than_a_batch(store, monkeypatch):
    """So others wait some milliseconds for the lock, however large the sweep is."""
    many = 3 * deletion.BATCH + 1
    store.create_sweep("big", REQUEST, [SweepRow(n, 0, {"n": n}, "ok") for n in range(many)], state="done")
    store.save_sweep_trials("big", [((n,), trial(f"b{n}")) for n in range(many)])
    changed, statements, transaction = [], [], store.database.transaction

    @contextmanager
    def counted():
        with transaction() as connection:
            told = []
            connection.set_trace_callback(told.append)
            yield connection
            connection.set_trace_callback(None)
            changed.append(connection.total_changes)
            statements.append(len(told))

    write = store.database.write
    monkeypatch.setattr(store.database, "transaction", counted)
    monkeypatch.setattr(store.database, "write", lambda *told: changed.append(write(*told)))
    store.delete(["big"])
    store.undelete(["big"])
    assert len(store.trials_of_sweep("big")) == many
    store.delete(["big"])
    store.empty_trash()
    assert set(left(store).values()) == {0}
    assert max(statements) <= 5, "a busy thread may come in before each"
    assert max(changed) <= 2 * deletion.BATCH + 3 and sum(changed) > 7 * many, "a row is put in one table and taken from another"


def test_a_store_of_the_schema_before_gains_the_trash(tmp_path):
    old = sqlite3.connect(tmp_path / "store.db")
    old.executescript("".join(MIGRATIONS[:4]) + "PRAGMA user_version=4;")
    old.close()
    store = Store(tmp_path)
    store.save_trial(a_trial())
    store.delete(["t1"])
    assert [entry.id for entry in Store(tmp_path).trash()] == ["t1"]
