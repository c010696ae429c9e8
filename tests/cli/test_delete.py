"""`delete` and what cannot be imported, as a person or a script meets them."""

import json

from tests import recordings
from tests.conftest import tileviz
from tests.recordings import SQUARE
from tileviz.engine.sweeps import results
from tileviz.store import Store
from tileviz.store.sweeps import SweepRow

CSV = """kernel,target,device,status,problem.M,knob.block_M,median_us,implausible
gemm,cpu,cpu,ok,64,32,27.0,FALSE
gemm,cpu,cpu,ok,64,64,22.0,FALSE
"""


def test_a_sweep_is_deleted_listed_and_taken_back(home):
    sweep = results.bring_in_content(Store(home), CSV.encode(), "s.csv")
    done = tileviz("delete", sweep)
    assert done.status == 0 and done.out == (
        f"sweep {sweep} deleted: gemm on cpu, 2 configs\n  for 7 days `python -m tileviz delete --undo {sweep}` takes it back\n"
    )
    assert tileviz("show", sweep).status == 2
    assert [entry["id"] for entry in tileviz("delete", "--json").json["there"]] == [sweep]
    back = tileviz("delete", "--undo", sweep)
    assert back.status == 0 and back.out == f"sweep {sweep} is back: gemm on cpu, 2 configs\n"
    document = tileviz("show", sweep, "--json").json
    assert document["best"]["config"] == {"block_M": 64} and document["best"]["timing"]["median_us"] == 22.0


def test_what_must_stay_or_is_not_there_exits_2_in_a_sentence(home, tmp_path, monkeypatch):
    monkeypatch.setenv("TILEVIZ_RECORDED", str(recordings.made(tmp_path / "gpu", (SQUARE,))))
    for words, said in (
        (("delete", "r1"), "r1 comes with tileviz and cannot be deleted"),
        (("delete", "nothing"), "no sweep, trial or compiled code 'nothing'"),
        (("delete", "--undo"), "--undo takes the ids of what was deleted"),
    ):
        done = tileviz(*words)
        assert done.status == 2 and said in done.sentence


def test_a_file_that_does_not_fit_exits_2_with_its_place_and_nothing_is_stored(home, tmp_path):
    path = tmp_path / "bad.csv"
    path.write_text(CSV.replace("27.0", '"27,5"'))
    done = tileviz("import", path, "--json")
    assert done.status == 2 and "line 2, column 7 (median_us): expected a number, got text; it holds '27,5'" in done.json["error"]
    assert Store(home).sweeps() == []


def test_a_stored_sweep_of_an_unchecked_file_is_said_and_can_be_deleted(home):
    store = Store(home)
    store.create_sweep("bad", {"kernel": "gemm", "target": "cpu", "imported": "bad.json"}, [SweepRow(0, 0, {}, "ok")], state="done")
    for words in (("show", "bad"), ("export", "bad", "file"), ("show", "bad", "--keep-best")):
        done = tileviz(*words)
        assert done.status == 1 and "sweep bad cannot be shown: problems: it is missing; `python -m tileviz delete bad`" in done.sentence
    assert tileviz("delete", "bad").status == 0


def test_rates_alone_are_listed_as_rates(home, tmp_path):
    result = {"configuration": {"bx": 32}, "times": {}, "invalidity": "correct", "correctness": 1}
    rated = {**result, "measurements": [{"name": "GFLOP/s", "value": 1234.5, "unit": ""}]}
    path = tmp_path / "t4.json"
    path.write_text(json.dumps({"results": [rated, {**result, "configuration": {"bx": 64}}]}))
    sweep = tileviz("import", path, "--json").json["sweep"]
    shown = tileviz("show", sweep).out
    assert "2 configs requested, 2 ok" in shown and "rates alone, no times" in shown and "1.23 TFLOPS  bx=32" in shown
    path.write_text(json.dumps({"results": [result]}))
    untold = tileviz("show", tileviz("import", path, "--json").json["sweep"]).out
    assert "1 config requested, 1 ok" in untold and untold.count("no config gave a time") == 1
