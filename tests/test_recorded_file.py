"""The file of recorded results that comes with tileviz: what every page relies on, not its numbers."""

import json
import lzma
import re
import sqlite3

import pytest

from tileviz import kernels
from tileviz.compiler import targets
from tileviz.engine import presets
from tileviz.store.recorded import FILE, Recorded
from tileviz.store.rows import document

pytestmark = pytest.mark.skipif(not FILE.is_file(), reason="no recorded results lie under tileviz/data")

LARGEST_BYTES = 8 << 20


@pytest.fixture(scope="module")
def there() -> Recorded:
    return Recorded(FILE)


def test_it_is_small_and_needs_no_journal_beside_it():
    assert FILE.stat().st_size < LARGEST_BYTES
    assert FILE.read_bytes()[18:20] == b"\x01\x01", "not in WAL mode: a read-only folder could not open it"
    assert not list(FILE.parent.glob("recorded.db-*"))


def test_it_is_of_gpus_alone_and_every_sweep_has_a_best(there):
    views = there.sweeps(limit=1000)
    assert views and {view.kernel for view in views} <= set(kernels.names())
    assert all(view.target.startswith("sm_") and view.best and not view.active and view.job is None for view in views)
    assert {view.device for view in views} == {device.id for device in there.devices()}


def test_every_preset_points_at_a_right_result_with_code(there):
    for tuned in there.tuned():
        trial = there.trial(tuned.trial)
        assert trial.status == "ok" and trial.verdict.ok and trial.config == tuned.config and there.sweep(tuned.sweep)
        kernel, target = kernels.kernel(tuned.kernel), targets.target(tuned.target)
        assert presets.ranked(kernel, tuned.problem, target, [tuned]) == [tuned]


def test_it_holds_no_folder_of_the_machine_it_was_made_on():
    texts = []
    with sqlite3.connect(f"{FILE.as_uri()}?mode=ro&immutable=1", uri=True) as connection:
        for table in ("sweep", "sweep_trial", "device", "artifact", "preset"):
            texts += [str(tuple(row)) for row in connection.execute(f"SELECT * FROM {table}")]
        texts += [json.dumps(document(row[0])) for row in connection.execute("SELECT doc FROM trial")]
        texts += [lzma.decompress(row[0]).decode() for row in connection.execute("SELECT content FROM packed")]
    connection.close()
    assert len(texts) > 100
    assert not {match for text in texts for match in re.findall(r"/(?:home|root|tmp|usr|opt|work|mnt)/\S*", text)}
