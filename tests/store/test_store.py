"""The store keeps what it is given, through crashes, damage and a full disk."""

import os
import sqlite3

import pytest

from tileviz.errors import StoreError
from tileviz.measured import BaselineResult, Comparison, Roofline, Timing, Verdict
from tileviz.records import Artifact, Device, Resources, SharedBytes, Trial
from tileviz.store import Store, Watch
from tileviz.store.database import MIGRATIONS
from tileviz.store.home import network_warning, tileviz_home


@pytest.fixture
def store(tmp_path):
    return Store(tmp_path)


def a_trial(**changes) -> Trial:
    timing = Timing((1.0, 2.0, 3.0), "perf_counter", "n/a", warmup=2, stop_reason="cap of 3 samples", throttle_reasons=("thermal",))
    values = {
        "trial": "t1",
        "kernel": "gemm",
        "problem": {"M": 8, "dtype": "float32"},
        "config": {"block_M": 64, "enable_swizzle": True},
        "target": "cpu",
        "device": "cpu",
        "status": "ok",
        "key": "k1",
        "resources": Resources(registers=32, shared_bytes=SharedBytes(1024, 2048), grid=(1, 2, 3)),
        "verdict": Verdict(True, 1e-7, 1e-6, 0.0, worst_index=(1, 2)),
        "timing": timing,
        "roofline": Roofline("memory", 0.5, "4.8 TB/s"),
        "baselines": (
            BaselineResult("eager", "PyTorch eager", "ok", timing=timing, comparison=Comparison("same", 1.0, 0.99, 1.01), speedup=1.0),
        ),
        "created": 1.0,
    }
    return Trial(**{**values, **changes})


def test_a_trial_comes_back_as_it_went_in(store):
    store.save_trial(a_trial())
    assert store.trial("t1") == a_trial()


def test_a_newer_form_of_a_trial_replaces_the_older(store):
    store.save_trial(a_trial(baselines=()))
    store.save_trial(a_trial())
    assert [t.baselines[0].name for t in store.trials("gemm")] == ["eager"]


def test_latest_is_the_newest_of_a_key_on_a_device(store):
    store.save_trial(a_trial(trial="old", created=1.0))
    store.save_trial(a_trial(trial="new", created=2.0))
    store.save_trial(a_trial(trial="gpu", created=3.0, device="cuda:0"))
    assert store.latest("k1", "cpu").trial == "new"
    assert store.latest("k1").trial == "gpu"
    assert store.latest("nothing") is None


def test_a_cancelled_run_does_not_hide_the_result_before_it(store):
    store.save_trial(a_trial(trial="good", created=1.0))
    store.save_trial(a_trial(trial="stopped", created=2.0, status="cancelled", timing=None))
    assert store.latest("k1", "cpu").trial == "good"


def test_an_artifact_comes_back_with_its_texts_and_binary(store):
    artifact = Artifact("abcd", "sm_90a", "__global__", "cuda", ptx="ptx", sass="sass", cubin=b"\x7fELF", resources=Resources(registers=40))
    store.save_artifact(artifact)
    assert store.artifact("abcd", complete=True) == artifact


def test_a_source_alone_is_no_cache_hit(store):
    store.save_artifact(Artifact("abcd", "cpu", "int x;", "c"), complete=False)
    assert store.artifact("abcd", complete=True) is None
    assert store.artifact("abcd").source == "int x;"


def test_an_artifact_whose_files_were_deleted_is_no_hit(store):
    store.save_artifact(Artifact("abcd", "cpu", "int x;", "c"))
    store.files.clear()
    assert store.artifact("abcd") is None


@pytest.mark.parametrize("file", ["source.c", "lines.json"])
def test_an_artifact_whose_files_are_damaged_is_no_hit_and_may_be_made_again(store, file):
    artifact = Artifact("abcd", "cpu", "int x;", "c", lines={"source": (1,)})
    store.save_artifact(artifact)
    (store.files.folder("abcd") / file).write_bytes(b"\xff\xfe{")
    assert store.artifact("abcd", complete=True) is None
    store.save_artifact(artifact)
    assert store.artifact("abcd", complete=True) == artifact


def test_sizes_are_counted_while_others_delete_their_files(store, monkeypatch):
    store.save_artifact(Artifact("abcd", "cpu", "int x;", "c"))
    real = os.walk
    monkeypatch.setattr("os.walk", lambda root: ((folder, below, [*names, "gone.tmp"]) for folder, below, names in real(root)))
    assert store.size_bytes()["artifacts"] == len("int x;")


def test_clearing_the_cache_keeps_results_and_other_folders(store, tmp_path):
    (tmp_path / "tilelang-1").mkdir()
    (tmp_path / "tilelang-1" / "kernel.so").write_bytes(b"x" * 100)
    (tmp_path / "inductor" / "triton").mkdir(parents=True)
    (tmp_path / "inductor" / "triton" / "kernel.cubin").write_bytes(b"x" * 50)
    (tmp_path / "mine.txt").write_text("keep")
    store.save_trial(a_trial())
    store.save_artifact(Artifact("abcd", "cpu", "int x;", "c"))
    assert store.size_bytes()["tilelang"] == 100 and store.size_bytes()["inductor"] == 50
    store.clear_cache()
    assert store.artifact("abcd") is None
    assert store.trial("t1") is not None
    assert (tmp_path / "mine.txt").exists()
    assert store.size_bytes()["artifacts"] == store.size_bytes()["tilelang"] == store.size_bytes()["inductor"] == 0


def test_a_job_is_claimed_once_and_keeps_the_seconds_of_its_phases(store):
    job = store.submit("run", {"kernel": "gemm"})
    assert store.job(job).queue_position == 0
    assert store.claim(job) and not store.claim(job)
    store.start_phase(job, "lower")
    store.start_phase(job, "compile")
    store.job_has(job, artifact="abcd")
    store.job_has(job, trial="t1")
    store.finish(job, "done")
    view = store.job(job)
    assert (view.state, view.trial, view.artifact) == ("done", "t1", "abcd")
    assert set(view.phases) == {"lower", "compile"}


def test_a_queued_job_is_cancelled_at_once_and_a_running_one_is_asked_to_stop(store):
    first, second = store.submit("run", {}), store.submit("run", {})
    store.claim(first)
    store.cancel(first)
    store.cancel(second)
    assert store.job(first).state == "cancelling"
    assert store.job(second).state == "cancelled"


def test_the_oldest_job_is_served_first_and_a_stop_is_seen_behind_any_number_of_others(store):
    jobs = [store.submit("run", {}) for _ in range(5)]
    store.claim(jobs[0])
    store.cancel(jobs[0])
    assert [job.id for job in store.jobs(active=True, limit=3, oldest_first=True)] == jobs[:3]
    assert [job.id for job in store.jobs(active=True, limit=3)] == jobs[:1:-1]
    assert store.asked_to_stop() == [jobs[0]]


def test_a_new_engine_queues_the_jobs_of_a_dead_one_again_but_not_for_ever(store):
    job = store.submit("run", {})
    store.claim(job)
    store.recover_jobs()
    assert store.job(job).state == "queued"
    store.claim(job)
    store.recover_jobs(died_of="MemoryError")
    assert store.job(job).state == "failed"
    assert store.job(job).reason == "the engine died twice while this ran (MemoryError); see engine.log"


def test_a_decided_trial_makes_a_done_job(store):
    job = store.submit("run", {}, trial=a_trial(status="pruned", timing=None))
    assert store.job(job).state == "done"
    assert store.trial(store.job(job).trial).status == "pruned"


def test_devices_come_back(store):
    device = Device("cuda:0", "NVIDIA H200", "sm_90a", {"sm_count": 132}, {"driver": "580"})
    store.save_device(device)
    assert store.devices() == [device]


@pytest.mark.parametrize("damage", [b"this is no database" * 400, b""])
def test_a_damaged_file_is_kept_aside_and_a_new_one_started(tmp_path, damage):
    Store(tmp_path).save_trial(a_trial())
    for part in tmp_path.glob("store.db-*"):
        part.unlink()
    (tmp_path / "store.db").write_bytes(damage)
    store = Store(tmp_path)
    assert store.trials() == []
    if damage:
        kept = list(tmp_path.glob("store.db.damaged-*"))
        assert kept and kept[0].read_bytes() == damage
        assert str(kept[0]) in store.notices()[0]


def test_damage_in_the_middle_of_the_file_is_noticed(tmp_path):
    store = Store(tmp_path)
    for number in range(200):
        store.save_trial(a_trial(trial=f"t{number}"))
    with store.database.connect() as connection:
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    path = tmp_path / "store.db"
    content = bytearray(path.read_bytes())
    content[8192 : len(content) // 2] = b"\xff" * (len(content) // 2 - 8192)
    path.write_bytes(bytes(content))
    again = Store(tmp_path)
    assert again.notices()
    assert list(tmp_path.glob("store.db.damaged-*"))


def test_a_full_disk_is_one_sentence_and_loses_nothing(store):
    store.save_trial(a_trial())
    with store.database.connect() as connection:
        pages = connection.execute("PRAGMA page_count").fetchone()[0]

    original = sqlite3.connect

    def small(*args, **kwargs):
        connection = original(*args, **kwargs)
        connection.execute(f"PRAGMA max_page_count={pages}")
        return connection

    sqlite3.connect = small
    try:
        with pytest.raises(StoreError, match="disk that holds .* is full; free some space"):
            store.save_trial(a_trial(trial="t2", detail="x" * 1_000_000))
    finally:
        sqlite3.connect = original
    assert [t.trial for t in store.trials()] == ["t1"]


def test_a_full_disk_is_told_when_sqlite_cannot_make_its_files_beside_the_store(store, tmp_path, monkeypatch):
    refused = sqlite3.OperationalError("disk I/O error")
    refused.sqlite_errorcode = sqlite3.SQLITE_IOERR | 19 << 8  # SQLITE_IOERR_SHMSIZE, as a full tmpfs gives it
    monkeypatch.setattr(store.database, "opened", lambda: (_ for _ in ()).throw(refused))
    with pytest.raises(StoreError, match="disk I/O error") as told:
        store.trials()
    assert "is full" not in told.value.message  # there is room: it is something else
    there = os.statvfs(tmp_path)
    monkeypatch.setattr(os, "statvfs", lambda _: os.statvfs_result((*there[:4], 0, *there[5:])))
    with pytest.raises(StoreError, match="disk that holds .* is full; free some space"):
        store.trials()


def test_a_home_called_full_is_not_taken_for_a_full_disk(tmp_path, monkeypatch):
    store = Store(tmp_path / "full")
    refused = PermissionError(13, "Permission denied", str(store.database.path))
    monkeypatch.setattr(store.database, "opened", lambda: (_ for _ in ()).throw(refused))
    with pytest.raises(StoreError, match="cannot write to .*/full/store.db"):
        store.trials()


def test_a_file_of_a_newer_version_is_refused_and_left_alone(tmp_path):
    Store(tmp_path)
    with sqlite3.connect(tmp_path / "store.db") as connection:
        connection.execute(f"PRAGMA user_version={len(MIGRATIONS) + 1}")
    with pytest.raises(StoreError, match="newer tileviz"):
        Store(tmp_path)
    assert not list(tmp_path.glob("*.damaged-*"))


def test_a_home_that_cannot_be_made_is_one_sentence(tmp_path, monkeypatch):
    (tmp_path / "file").write_text("in the way")
    monkeypatch.setenv("TILEVIZ_HOME", str(tmp_path / "file" / "home"))
    with pytest.raises(StoreError, match="set TILEVIZ_HOME"):
        tileviz_home()


def test_a_local_folder_gets_no_network_warning(tmp_path):
    assert network_warning(tmp_path) is None


def test_a_watch_notices_what_another_connection_writes(store):
    watch = Watch(store, at_least_every_s=60)
    assert watch.changed()
    assert not watch.changed()
    store.submit("run", {})
    assert watch.changed()
    watch.forget()
    assert watch.changed()


def test_a_trial_written_by_another_version_is_read_as_far_as_it_is_known(store):
    store.save_trial(a_trial())
    with store.database.connect() as connection:
        connection.execute("UPDATE trial SET doc=json_set(doc, '$.future', 1, '$.verdict.future', 2)")
    assert store.trial("t1") == a_trial()


def test_two_processes_write_at_once_and_nothing_is_lost(store, tmp_path):
    children = []
    for number in range(3):
        pid = os.fork()
        if pid == 0:
            own = Store(tmp_path)
            for i in range(30):
                own.save_trial(a_trial(trial=f"{number}-{i}"))
            os._exit(0)
        children.append(pid)
    assert all(os.waitpid(pid, 0)[1] == 0 for pid in children)
    assert len(store.trials(limit=200)) == 90
