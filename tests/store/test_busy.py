"""The store among many writers: a lock is waited for, held for one statement at a time, and a killed writer leaves nothing to see."""

import os
import signal
import sqlite3
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import pytest

from tests.store.test_store import a_trial
from tests.store.test_sweeps import REQUEST, rows, trial
from tileviz.errors import StoreError
from tileviz.store import Store, database, sweep_rows, sweeps
from tileviz.store.sweeps import SweepRow

MANY = [SweepRow(number, number % 2, {"block_M": number}) for number in range(1000)]


@pytest.fixture
def store(tmp_path):
    return Store(tmp_path)


def is_locked(store) -> bool:
    """Whether somebody holds the write lock now."""
    other = sqlite3.connect(store.database.path, timeout=0, isolation_level=None)
    try:
        other.execute("BEGIN IMMEDIATE")
        return False
    except sqlite3.OperationalError:
        return True
    finally:
        other.close()


@pytest.fixture
def holder(store):
    """Holds the write lock from its start until it is told to let go."""
    connection = sqlite3.connect(store.database.path, isolation_level=None, check_same_thread=False)
    connection.execute("BEGIN IMMEDIATE")
    yield connection
    connection.close()


WRITERS = {
    "submit": lambda store: store.submit("run", {}),
    "a decided run": lambda store: store.submit("run", {}, trial=a_trial(trial="t9", status="pruned", timing=None)),
    "cancel": lambda store: store.cancel("j"),
    "claim": lambda store: store.claim("j"),
    "finish": lambda store: store.finish("j", "done"),
    "phase": lambda store: store.start_phase("j", "compile"),
    "recover": lambda store: store.recover_jobs(),
    "trial": lambda store: store.save_trial(a_trial(trial="t8")),
    "create a sweep": lambda store: store.create_sweep("s9", REQUEST, MANY),
    "trials of a sweep": lambda store: store.save_sweep_trials("s", [((0, 5), trial("t7"))]),
    "note": lambda store: store.note_sweep("s", notes={"lane_busy": 1.0}),
    "end of a sweep": lambda store: store.finish_sweep("s", "done"),
    "clear": lambda store: store.clear_cache(),
}


@pytest.mark.parametrize("name", WRITERS)
def test_a_writer_that_meets_a_lock_waits_for_it_and_then_writes(name, store, holder, monkeypatch):
    holder.execute("COMMIT")
    store.create_sweep("s", REQUEST, rows())
    store.submit("run", {}, job="j")
    holder.execute("BEGIN IMMEDIATE")
    monkeypatch.setattr(database, "TURN_S", 0.01)  # SQLite itself gives up soon, and is asked again
    with ThreadPoolExecutor(1) as pool:
        writing = pool.submit(WRITERS[name], store)
        time.sleep(0.1)
        assert not writing.done(), "it wrote though somebody else had the lock, or gave up"
        holder.execute("COMMIT")
        writing.result(timeout=30)


def test_a_lock_that_nobody_gives_back_is_one_sentence(store, holder, monkeypatch):
    monkeypatch.setattr(database, "TURN_S", 0.01)
    monkeypatch.setattr(database, "PATIENCE_S", 0.1)
    for writer in (WRITERS["trial"], WRITERS["phase"]):
        with pytest.raises(StoreError, match=r"stayed locked for 0.1 s by another process; try again$"):
            writer(store)


def test_what_was_read_is_too_old_to_write_after_it_so_it_is_tried_again(store, monkeypatch):
    """SQLITE_BUSY_SNAPSHOT, for which SQLite itself never waits: somebody wrote while a statement of ours was still being read."""
    for number in range(3):
        store.submit("run", {}, job=f"j{number}")
    with store.database.connect() as connection:
        reading = connection.execute("SELECT id FROM job")
        reading.fetchone()
        store.submit("run", {}, job="j9")
        with pytest.raises(sqlite3.OperationalError) as refused:
            sqlite3.Connection.execute(connection, "UPDATE job SET state='cancelled'")
        assert refused.value.sqlite_errorname == "SQLITE_BUSY_SNAPSHOT"
        monkeypatch.setattr(database.time, "sleep", lambda _: reading.close())  # while we wait, the reader is done
        connection.execute("UPDATE job SET state='cancelled'")
    assert {job.state for job in store.jobs()} == {"cancelled"}


def test_no_row_of_a_sweep_is_made_while_the_lock_is_held(store):
    def making():
        for row in MANY:
            assert row.ordinal % 100 or (not is_locked(store) and store.sweep("s") is None)
            yield row

    store.create_sweep("s", REQUEST, making())
    assert store.sweep("s").requested == len(MANY)


def test_others_write_between_the_parts_of_a_large_sweep_and_see_it_only_when_it_is_whole(store, monkeypatch):
    seen, real = [], store.database._timed_write

    def between(*asked):
        seen.append((is_locked(store), store.sweep("s"), store.sweeps(), store.sweeps(active=True)))
        return real(*asked)

    monkeypatch.setattr(store.database, "_timed_write", between)
    store.create_sweep("s", REQUEST, MANY, job="j")
    assert len(seen) == 1 + len(MANY) // sweep_rows.ROWS_AT_ONCE and all(each == (False, None, [], []) for each in seen)
    assert store.sweep("s") is None, "its job is not there yet"
    store.submit("sweep", {"sweep": "s"}, job="j")
    view = store.sweep("s")
    assert (view.state, view.requested, view.job) == ("queued", len(MANY), "j") and [v.id for v in store.sweeps(active=True)] == ["s"]
    assert len(store.sweep_frame("s")) == len(MANY)


@pytest.mark.parametrize("after", [1, 2, 6, 11])
def test_a_writer_that_is_killed_leaves_nothing_to_see_and_its_rest_is_cleared(store, tmp_path, after, monkeypatch):
    """kill -9 after so many statements: head, ten parts of the rows, and never the last that shows it."""
    pid = os.fork()
    if pid == 0:
        own = Store(tmp_path)
        real, done = own.database._timed_write, []

        def dies(*asked):
            if len(done) == after:
                os.kill(os.getpid(), signal.SIGKILL)
            done.append(real(*asked))

        own.database._timed_write = dies
        own.create_sweep("half", REQUEST, MANY)
        os._exit(0)
    assert os.waitpid(pid, 0)[1] == signal.SIGKILL
    assert store.sweep("half") is None and store.sweeps() == []
    store.create_sweep("whole", REQUEST, MANY, state="done")
    assert count(store, "half") == min(len(MANY), (after - 1) * sweep_rows.ROWS_AT_ONCE), "the process might still be at work"
    monkeypatch.setattr(sweeps, "ABANDONED_S", 0.0)
    store.recover_jobs()
    assert count(store, "half") == 0 and count(store, "whole") == len(MANY)
    with store.database.connect() as connection:
        assert [tuple(row) for row in connection.execute("SELECT id, state FROM sweep")] == [("whole", "done")]


def count(store, sweep) -> int:
    with store.database.connect() as connection:
        return connection.execute("SELECT count(*) FROM sweep_trial WHERE sweep=?", (sweep,)).fetchone()[0]


def test_a_sweep_that_waits_for_its_engine_is_not_taken_for_the_rest_of_a_killed_process(store, monkeypatch):
    monkeypatch.setattr(sweeps, "ABANDONED_S", 0.0)
    store.create_sweep("s", REQUEST, MANY, job="j")
    store.submit("sweep", {"sweep": "s"}, job="j")
    store.cancel("j")
    store.recover_jobs()
    assert store.sweep("s").state == "cancelled" and count(store, "s") == len(MANY)


def test_eight_threads_that_each_start_sweeps_beside_a_busy_one_all_succeed(store):
    over = threading.Event()

    def spin():
        while not over.is_set():
            sum(range(1000))

    def start(number):
        for turn in range(3):
            name = f"{number}-{turn}"
            store.create_sweep(name, REQUEST, MANY[:300], job=name)
            store.queue_sweep(name, name, {"sweep": name}, before=name)

    busy = threading.Thread(target=spin)
    busy.start()
    try:
        with ThreadPoolExecutor(8) as pool:
            list(pool.map(start, range(8)))
    finally:
        over.set()
        busy.join()
    views = store.sweeps(active=True)
    assert len(views) == 24 and {view.requested for view in views} == {300} and {view.state for view in views} == {"queued"}


def test_many_processes_that_open_a_new_home_at_once_all_can(tmp_path):
    home = tmp_path / "new"
    children = []
    for number in range(8):
        pid = os.fork()
        if pid == 0:
            try:
                Store(home).submit("run", {}, job=f"j{number}")
            except BaseException:
                os._exit(1)
            os._exit(0)
        children.append(pid)
    assert [os.waitpid(pid, 0)[1] for pid in children] == [0] * 8
    assert len(Store(home).jobs()) == 8


def test_of_two_who_queue_a_sweep_at_once_one_does(store):
    store.create_sweep("s", REQUEST, rows(), job="j")
    assert store.queue_sweep("s", "j", {"sweep": "s"}, before="j")
    store.start_sweep("s", job="j")
    store.finish_sweep("s", "done")
    with ThreadPoolExecutor(8) as pool:
        queue = lambda n: store.queue_sweep("s", f"again{n}", {"sweep": "s"}, before="j", changed={**REQUEST, "n": n})
        won = list(pool.map(queue, range(8)))
    assert won.count(True) == 1
    view = store.sweep("s")
    assert (view.state, view.job, view.request["n"]) == ("queued", f"again{won.index(True)}", won.index(True))
    assert {job.id for job in store.jobs()} == {"j", view.job}


def test_the_longest_lock_is_counted(store):
    before = store.database.longest_lock_s
    with store.database.transaction():
        time.sleep(0.05)
    assert store.database.longest_lock_s >= max(before, 0.05)
