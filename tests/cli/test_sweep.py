"""`sweep`, `show`, `export` and `import` as a person or a script uses them."""

import json

import pytest

from tests.conftest import tileviz
from tileviz.cli import arguments, sweep
from tileviz.store import StoreWithRecorded

WORDS = ("vector_add", "-p", "N=1000", "-s", "block_N=128,256,128", "-k", "threads=128", "--target", "cpu", "--no-baselines")


@pytest.fixture(scope="module")
def swept(shared_home):
    done = tileviz("sweep", *WORDS, "--strategy", "grid", "--effort", "quick", "--seed", "3", "--json")
    assert done.status == 0, done.err
    return done


def test_json_has_a_row_for_each_requested_config_and_a_bar_goes_to_stderr(swept):
    document = swept.json
    assert document["status"] == "done" and document["counts"] == {"ok": 3} and len(document["trials"]) == 3
    assert [row["config"]["block_N"] for row in document["trials"]] == [128, 256, 128]
    assert document["trials"][2]["same_as"] == 0 and document["trials"][2]["trial"] == document["trials"][0]["trial"]
    assert document["best"]["trial"] in {row["trial"] for row in document["trials"]}
    fields = {"kernel", "problem", "config", "target", "device", "status", "reason", "resources", "instructions", "verdict", "timing"}
    assert fields <= set(document["best"])
    assert "3 configs requested, 2 to compile, 1 the same code" in swept.err and "[####" in swept.err


def test_a_race_on_the_cpu_target_says_why_not_and_the_sweep_is_run(shared_home):
    done = tileviz("sweep", *WORDS, "--effort", "full", "--race-autotuner", "--json")
    assert done.status == 0 and done.json["counts"] == {"ok": 3}
    assert "no race: TileLang's AutoTuner needs an NVIDIA GPU" in done.err
    assert "needs an NVIDIA GPU" in done.json["rival"][0]["reason"]


def test_show_and_resume_of_a_finished_sweep(swept):
    sweep = swept.json["sweep"]
    shown = tileviz("show", sweep)
    assert shown.status == 0 and "3 configs requested, 3 ok" in shown.out and sweep in shown.out
    assert tileviz("show", swept.json["best"]["trial"]).status == 0
    again = tileviz("sweep", "--resume", sweep, "--json")
    assert again.status == 0
    assert [row["trial"] for row in again.json["trials"]] == [row["trial"] for row in swept.json["trials"]]


@pytest.mark.parametrize("form", ["json", "csv", "t4"])
def test_an_export_comes_back(swept, tmp_path, form):
    path = tmp_path / "sweep.txt"
    assert tileviz("export", swept.json["sweep"], "--format", form, path).status == 0
    back = tileviz("import", path, "--json")
    assert back.status == 0 and back.json["counts"] == {"ok": 3}
    shown = tileviz("show", back.json["sweep"], "--json").json
    same = lambda rows: [(row["config"], row["status"], round(row["timing"]["median_us"], 6)) for row in rows]
    assert same(shown["trials"]) == same(swept.json["trials"])
    refused = tileviz("sweep", "--resume", back.json["sweep"])
    assert refused.status == 2 and "came from a file" in refused.sentence


def test_a_space_in_which_nothing_can_run_exits_1_with_its_reasons(shared_home):
    done = tileviz("sweep", "gemm", "-p", "dtype=float16", "-s", "block_M=64,128", "--target", "cpu", "--json")
    assert done.status == 1 and set(done.json["counts"]) == {"unsupported"} and done.json["best"] is None
    text = tileviz("show", done.json["sweep"]).out
    assert "the CPU target runs float32 only" in text
    assert "knobs that were not given stand at " in done.err and "threads=128" in done.err and "--all-knobs sweeps over them" in done.err


@pytest.mark.parametrize(
    "words, said",
    [
        (("sweep",), "which kernel?"),
        (("sweep", "vector_add", "-s", "block_N"), "is not NAME=VALUE"),
        (("sweep", "vector_add", "-s", "blok_N=1"), "no knob of vector_add 'blok_N'"),
        (("sweep", "vector_add", "-k", "block_N=1,2", "--target", "cpu"), "block_N is '1,2'; give one whole number"),
        (("sweep", "vector_add", "-s", "block_N=512", "-k", "block_N=256", "--target", "cpu"), "give it with -k or with -s, not both"),
        (("sweep", "--resume", "nothing", "vector_add"), "goes on with a sweep as it was asked for"),
        (("sweep", "--resume", "nothing", "--seed", "3"), "beside it only --budget-trials, "),
        (("sweep", "vector_add", "--budget-trials", "0"), "is not a whole number above 0"),
        (("run", "vector_add", "--l2", "warm", "--flush", "write"), "--flush says how L2 is emptied"),
        (("sweep", "--resume", "nothing"), "no sweep 'nothing'"),
        (("export", "nothing", "file"), "no sweep 'nothing'"),
        (("import", "no_such_file"), "cannot read no_such_file"),
    ],
)
def test_bad_usage_is_one_sentence_and_exit_2(shared_home, words, said):
    done = tileviz(*words)
    assert done.status == 2 and said in done.err
    as_json = tileviz(*words, "--json")
    assert said in json.loads(as_json.out)["error"]


def resolved(*words):
    """The request of a sweep of GEMM on the CPU, with nothing started."""
    asked = arguments.parser().parse_args(["sweep", "gemm", "--target", "cpu", *words])
    return sweep._resolved(StoreWithRecorded(), asked)[0]


def test_only_the_knobs_that_are_named_vary_unless_all_are_asked_for(shared_home, monkeypatch):
    monkeypatch.setenv("TILEVIZ_HOME", str(shared_home))
    three = ("-s", "block_M=32,64", "-s", "block_N=32,64,128", "-s", "block_K=16", "-s", "block_K=32,64", "-k", "threads=128")
    assert resolved(*three).counted["requested"] == 18
    everything = resolved(*three, "--all-knobs")
    assert everything.counted["requested"] > 1000 and everything.values["threads"] == (128,)
    assert resolved("-k", "threads=128").counted["requested"] > 1000
