"""A row that this version cannot read is told, and does not take the others along."""

import pytest

from tileviz.errors import StoreError
from tileviz.records import Artifact, Device, Trial, TunedConfig
from tileviz.store import Store


@pytest.fixture
def store(tmp_path):
    return Store(tmp_path)


def spoil(store, table: str, column: str, value: str, where: str) -> None:
    with store.database.transaction() as connection:
        assert connection.execute(f"UPDATE {table} SET {column}=? WHERE {where}", (value,)).rowcount == 1


@pytest.mark.parametrize("doc", ["{}", "[]", "no json", '{"id": "cuda:0"}', "null"])
def test_a_device_that_cannot_be_read_is_left_out_and_told(store, doc):
    for name in ("cpu", "cuda:0"):
        store.save_device(Device(name, "name", "cpu"))
    spoil(store, "device", "doc", doc, "id='cuda:0'")
    assert [device.id for device in store.devices()] == ["cpu"]
    (notice,) = store.notices()
    assert notice == f"device cuda:0 in {store.database.path} cannot be read: it is damaged, or another version of tileviz wrote it"
    store.save_device(Device("cuda:0", "name", "sm_80"))
    assert len(store.devices()) == 2 and store.notices() == []


def test_a_device_of_a_later_version_is_read(store):
    store.save_device(Device("cpu", "name", "cpu", {"cores": 2}))
    spoil(store, "device", "doc", '{"id": "cpu", "name": "n", "target": "cpu", "facts": {}, "vendor": {"name": "x"}}', "id='cpu'")
    assert store.devices() == [Device("cpu", "n", "cpu")]


def test_a_trial_that_cannot_be_read_is_a_sentence_and_lists_go_on(store):
    for name in ("a", "b"):
        store.save_trial(Trial(name, "gemm", {}, {}, "cpu", "cpu", "ok", key="k"))
    spoil(store, "trial", "doc", '{"trial": "b"}', "id='b'")
    assert [trial.trial for trial in store.trials()] == ["a"]
    with pytest.raises(StoreError, match="trial b in .* cannot be read"):
        store.trial("b")
    assert store.trial("a").trial == "a"


def test_jobs_and_presets_that_cannot_be_read_are_left_out(store):
    good, bad = store.submit("run", {}), store.submit("run", {})
    spoil(store, "job", "request", "{", f"id='{bad}'")
    assert [job.id for job in store.jobs(active=True)] == [good]
    for name in ("p", "q"):
        store.save_tuned(TunedConfig(name, "gemm", {"M": ord(name)}, {}, "cpu", "cpu", 1.0))
    spoil(store, "preset", "doc", "{}", "id='q'")
    assert [tuned.id for tuned in store.tuned()] == ["p"]
    assert len(store.notices()) == 2


def test_an_artifact_that_cannot_be_read_is_compiled_again(store):
    store.save_artifact(Artifact("k", "cpu", "text", "c"))
    assert store.artifact("k").source == "text"
    for doc in ("{", "{}", '{"key": "k", "source_language": "c"}'):
        spoil(store, "artifact", "doc", doc, "key='k'")
        assert store.artifact("k") is None
