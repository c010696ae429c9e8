"""Files of sweeps: what is refused and where, what other tools and spreadsheets write, and what a spreadsheet makes of ours."""

import csv
import io
import json
import tomllib
from pathlib import Path

import pytest

from tests.store.test_sweeps import REQUEST
from tileviz.errors import BadRequest
from tileviz.store import Store, exchange
from tileviz.store.csv_cells import FORMULA, text_cell, text_of, value_cell, value_of
from tileviz.store.sweeps import SweepRow

CSV = """kernel,target,device,status,problem.M,knob.block_M,median_us,implausible
gemm,cpu,cpu,ok,64,32,27.0,FALSE
gemm,cpu,cpu,ok,64,64,22.0,FALSE
"""
ROW = {"ordinal": 0, "problem_index": 0, "config": {"block_M": 64}, "status": "ok", "median_us": 2.5}


@pytest.fixture
def store(tmp_path):
    return Store(tmp_path)


def document(*rows, **request) -> str:
    return json.dumps({"request": {"kernel": "gemm", "target": "cpu", "problems": [{"M": 64}], **request}, "rows": list(rows)})


def t4(*results) -> str:
    needed = {"configuration": {"bx": 32}, "times": {}, "invalidity": "correct", "correctness": 1}
    return json.dumps({"schema_version": "1.0.0", "results": [{**needed, **result} for result in results]})


def measured(name: str, value, unit: str = "") -> dict:
    return {"measurements": [{"name": name, "value": value, "unit": unit}]}


REFUSED = {
    '{"request":{"kernel":"gemm","target":"cpu"},"rows":[]}': r"\$\.request\.problems: it is missing",
    document(): r"\$\.rows: expected a list of length >= 1",
    document(ROW, problems=[]): r"\$\.request\.problems: expected a list of length >= 1",
    document(ROW, problems=[None]): r"\$\.request\.problems\[0\]: expected an object, got null",
    document(ROW, problems={"M": 1}): r"\$\.request\.problems: expected a list, got an object",
    document(ROW, problems=[{"M": [1]}]): r"\$\.request\.problems\[0\]\['M'\]: expected true or false, a whole number, .* got a list",
    document(ROW, kernel=None): r"\$\.request\.kernel: expected text, got null",
    document({**ROW, "problem_index": 5}): r"\$\.rows\[0\]\.problem_index: there is no problem 5 of 1, counted from 0",
    document(ROW, ROW): r"\$\.rows\[1\]\.ordinal: config 0 is there twice",
    document({**ROW, "same_as": 7}): r"\$\.rows\[0\]\.same_as: there is no other config 7",
    document({**ROW, "same_as": 0}): r"\$\.rows\[0\]\.same_as: there is no other config 0",
    document({**ROW, "ordinal": 10**30}): r"\$\.rows\[0\]\.ordinal: expected a whole number <= 9223372036854775807",
    document({**ROW, "median_us": {}}): r"\$\.rows\[0\]\.median_us: expected a number, got an object",
    document({**ROW, "median_us": -1}): r"\$\.rows\[0\]\.median_us: expected a number > 0",
    document({**ROW, "median_us": 0}): r"\$\.rows\[0\]\.median_us: expected a number > 0",
    document({**ROW, "median_us": True}): r"\$\.rows\[0\]\.median_us: expected a number, got true or false",
    document({**ROW, "status": "fine"}): r"\$\.rows\[0\]\.status: 'fine' is none of ok, pruned, ",
    document({**ROW, "config": {"a": 1, "b": {}}}): r"\$\.rows\[0\]\.config\['b'\]: .* got an object",
    document({**ROW, "instructions": "no JSON"}): r"\$\.rows\[0\]\.instructions: expected an object, got text",
    document({**ROW, "instructions": {"sass": {"trap": -1}}}): r"\.instructions\['sass'\]\['trap'\]: expected a whole number >= 0",
    document({**ROW, "median_us": float("nan")}): r"line 1, column \d+: NaN is no number of JSON",
    document({**ROW, "median_us": float("inf")}): r"line 1, column \d+: Infinity is no number of JSON",
    '{"request":\n {"kernel": gemm}': r"line 2, column 13: invalid character",
    '{"request":\n {"kernel": "gemm"': r"line 2, column 19: it ends too early",
    "[" * 100_000: "expected an object, got a list",
    '{"rows":' * 100_000: "its brackets lie too deep in one another",
    '{"a": 1}': "it has neither the rows of our JSON nor the results of T4",
    '{"device_name":"x","kernel_name":"k","tune_params_keys":["a"],"cache":{': "it is a cache file of Kernel Tuner",
    t4({"invalidity": "luck"}): r"\$\.results\[0\]\.invalidity: 'luck' is none of timeout, compile, ",
    t4(measured("time", -1, "ms")): r"\$\.results\[0\]\.measurements\[0\]\.value: expected a number > 0",
    t4(measured("time", True, "ms")): r"\$\.results\[0\]\.measurements\[0\]\.value: expected a number, got true or false",
    t4(measured("time", "CompilationFailedConfig", "ms")): r"\$\.results\[0\]\.measurements\[0\]\.value: expected a number, got text",
    t4(measured("time", 1.0, "fortnights")): r"\$\.results\[0\]\.measurements\[0\]\.unit: 'fortnights' is none of s, ms, us, ns",
    CSV.replace("27.0", '"27,5"'): r"line 2, column 7 \(median_us\): expected a number, got text; it holds '27,5', and a decimal has",
    CSV.replace(",64,22", ',"6,4",22'): r"line 3, column 6 \(knob.block_M\): expected a number or text; it holds '6,4', and",
    CSV.replace(",", ";").replace("22.0", "22,0"): r"line 3, column 7 \(median_us\): expected a number, got text; it holds '22,0'",
    CSV.replace("22.0", "-1"): r"line 3, column 7 \(median_us\): expected a number > 0",
    CSV.replace("22.0", "nan"): r"line 3, column 7 \(median_us\): ",
    CSV.replace("22.0", "inf"): r"line 3, column 7 \(median_us\): ",
    CSV.replace("FALSE", "FALSCH", 1): r"line 2, column 8 \(implausible\): expected true or false, got text; it holds 'FALSCH'",
    CSV.replace("ok,64,64", "fine,64,64"): r"line 3, column 4 \(status\): 'fine' is none of ok, ",
    CSV.replace("ok,64,64", ",64,64"): r"line 3, column 4 \(status\): it is missing",
    CSV.replace("gemm,cpu,cpu,ok,64,64", "softmax,cpu,cpu,ok,64,64"): r"line 3, column 1 \(kernel\): the first line has 'gemm'",
    CSV + "gemm,cpu\n": "line 4: it has 2 cells under 8 columns",
    CSV.replace("device", "kernel"): "line 1: there are two columns kernel",
    CSV.partition("\n")[0]: "there is no line under the names of its columns",
    "a,b\n1,2\n": "it is no JSON, and its first line names no column kernel",
    " ": "it is empty",
}


@pytest.mark.parametrize("text", REFUSED, ids=range(len(REFUSED)))
def test_what_does_not_fit_is_refused_with_its_place(text):
    with pytest.raises(BadRequest, match=REFUSED[text]) as refused:
        exchange.read(text)
    assert refused.value.message.startswith("this file holds no sweep that can be read: ") and "\n" not in refused.value.message


LINES = """{
  "request": {"kernel": "µ😀", "target": "cpu", "problems": [{"M": 64}]},
  "rows": [
    {"ordinal": 0, "problem_index": 0, "config": {"µ": "\\"", "b": 1}, "status": "ok", "median_us": 2.5},
    {"ordinal": 1, "problem_index": 0, "config": {"a": "],}", "b": 2}, "status": "ok", "median_us": 3.5,
     "instructions": {"sass": {"trap": 0, "branch": 1}}, "ordinal": 1}
  ]
}"""
PLACES = (
    ("3.5,", '"fast",', "line 5, column 101, $.rows[1].median_us: expected a number, got text"),
    ('"branch": 1', '"branch": -1', "line 6, column 53, $.rows[1].instructions['sass']['branch']: expected a whole number >= 0"),
    ('"b": 1}', '"b": []}', "line 4, column 67, $.rows[0].config['b']: expected true or false"),
    ('"b": 1}', '"": 1}', "line 4, column 62, $.rows[0].config['']: its name: expected text of length >= 1"),
    ('"µ😀"', "5", "line 2, column 25, $.request.kernel: expected text, got a whole number"),
    ('"status": "ok", "median_us": 3.5', '"median_us": 3.5', "line 5, column 5, $.rows[1].status: it is missing"),
    ('"target": "cpu", ', "", "line 2, column 14, $.request.target: it is missing"),
    ('"ordinal": 1}', '"ordinal": "x"}', "line 6, column 69, $.rows[1].ordinal: expected a whole number, got text"),
    ('{"ordinal": 1,', '{"ordinal": "x",', "line 5, column 17, $.rows[1].ordinal: expected a whole number, got text"),
    ('"ordinal": 1}', '"ordinal": 0}', "line 6, column 69, $.rows[1].ordinal: config 0 is there twice"),
    ('"problem_index": 0, "config": {"a"', '"problem_index": 3, "config": {"a"', "line 5, column 37, $.rows[1].problem_index: there is no"),
    ("\n  ]\n", '\n  ],\n  "tied": {"0": ["t9"]}\n', "line 8, column 17, $.tied.0: problem 0 has no trial 't9'"),
    ("\n  ]\n", '\n  ],\n  "tied": {"one": ["t9"]}\n', "line 8, column 12, $.tied['one']: its name: expected a whole number, got text"),
)


@pytest.mark.parametrize("good, bad, said", PLACES, ids=range(len(PLACES)))
def test_the_line_and_column_of_what_does_not_fit_are_named(good, bad, said):
    exchange.read(LINES)
    assert good in LINES
    with pytest.raises(BadRequest) as refused:
        exchange.read(LINES.replace(good, bad, 1))
    assert said in refused.value.message


def test_t4_names_the_line_and_column_of_a_measurement():
    results = [{"configuration": {"bx": n}, "invalidity": "correct", **measured("time", 2.0, "ms")} for n in (1, 2)]
    text = json.dumps({"results": results}, indent=1)
    for good, bad, said in (
        ("2.0", "-1", "line 11, column 15, $.results[0].measurements[0].value: expected a number > 0"),
        ('"ms"', '"weeks"', "line 12, column 14, $.results[0].measurements[0].unit: 'weeks' is none of s, ms, us, ns"),
        ('"name": "time"', '"name": "problem_index"', "line 11, column 15, $.results[0].measurements[0].value: problem_index: there is no"),
    ):
        with pytest.raises(BadRequest) as refused:
            exchange.read(text.replace(good, bad, 1))
        assert said in refused.value.message


def times(text: str | bytes) -> list[float | None]:
    return [row.results.get("median_us") for row in exchange.read(text).rows]


@pytest.mark.parametrize(
    "unit, us", [("s", 6.2e8), ("seconds", 6.2e8), ("ms", 6.2e5), ("us", 620), ("\u00b5s", 620), ("US", 620), ("ns", 0.62), ("", 6.2e5)]
)
def test_a_time_of_t4_is_read_in_its_unit(unit, us):
    found = exchange.read(t4(measured("time", 620, unit)))
    assert found.rows[0].results["median_us"] == pytest.approx(us)
    assert found.notes == (() if unit else ("The file gives its times no unit; they were read as milliseconds, which Kernel Tuner means.",))


def test_t4_without_a_time_has_the_median_of_its_runs_or_a_rate_or_says_so():
    runs = {"times": {"runtimes": [0.5, 0.7, 0.6]}}
    found = exchange.read(t4(runs, measured("GFLOP/s", 1234.5), measured("speed", 2.0, "TB/s"), measured("energy", 3.0, "J"), {}))
    values = [{name: row.results.get(name) for name in ("median_us", "tflops", "gbps")} for row in found.rows]
    assert values[0] == {"median_us": 600.0, "tflops": None, "gbps": None}
    assert values[1]["tflops"] == pytest.approx(1.2345) and values[2]["gbps"] == 2000.0
    assert [row.reason for row in found.rows] == ["", "", "", "no time told", "no time told"]
    assert {row.status for row in found.rows} == {"ok"}


def test_an_error_in_the_place_of_a_time_is_the_failure_it_names():
    (row,) = exchange.read(t4({"invalidity": "compile", **measured("time", "CompilationFailedConfig", "ms")})).rows
    assert row.status == "compile_failed" and "median_us" not in row.results


def test_when_and_how_long_survives_t4(store):
    given = {"timestamp": "2022-12-23 12:11:07.481548+00:00", "times": {"compilation": 1200.5, "validation": 3.5, "runtimes": [0.5]}}
    found = exchange.read(t4(given))
    store.create_sweep("s", found.request, found.rows, state="done")
    (result,) = json.loads(exchange.written(store.sweep("s"), store.sweep_frame("s"), "t4"))["results"]
    assert result["timestamp"] == "2022-12-23T12:11:07.481548+00:00"
    assert (result["times"]["compilation_time"], result["times"]["validation"]) == (1200.5, 3.5)


def test_a_time_that_a_file_does_not_tell_is_not_told_as_0(store):
    found = exchange.read(t4(measured("time", 2.0, "ms")))
    store.create_sweep("s", found.request, found.rows, state="done")
    (result,) = json.loads(exchange.written(store.sweep("s"), store.sweep_frame("s"), "t4"))["results"]
    assert result["times"]["runtimes"] == [2.0] and not {"compilation_time", "validation"} & set(result["times"])


NO_IDS = (
    CSV,
    t4(measured("time", 2.0, "ms"), measured("time", 1.0, "ms")),
    document({**ROW, "median_us": 3.5}, {**ROW, "ordinal": 1}),
)


@pytest.mark.parametrize("text", NO_IDS, ids=["CSV", "T4", "JSON"])
def test_the_best_of_a_file_without_ids_is_named(store, text):
    found = exchange.read(text)
    store.create_sweep("s", found.request, found.rows, state="done")
    best = min(store.sweep_frame("s"), key=lambda row: row["median_us"])
    assert best["trial"] and store.sweep("s").best == {0: best["trial"]}


def test_a_spreadsheets_flags_are_flags():
    told = CSV.replace("FALSE", "TRUE", 1).replace("block_M", "fast")
    found = exchange.read(told.replace(",32,", ",TRUE,").replace(",64,22", ",False,22"))
    assert [row.results["implausible"] for row in found.rows] == [1, 0]
    assert [row.config for row in found.rows] == [{"fast": True}, {"fast": False}]


@pytest.mark.parametrize(
    "content",
    [
        CSV.replace(",", ";").encode(), CSV.replace(",", "\t").encode(), CSV.encode("utf-16"), CSV.encode("utf-8-sig"),
        CSV.replace("\n", "\r\n").encode(), (CSV + "\n,,,,,,,\n").encode(),
    ],
    ids=["semicolons", "tabs", "UTF-16", "UTF-8 with its mark", "Windows", "empty lines"],
)  # fmt: skip
def test_what_a_spreadsheet_saves_is_read(content):
    assert times(content) == [27.0, 22.0]


def test_letters_that_are_not_utf_8_are_named_by_their_line():
    with pytest.raises(BadRequest, match=r"line 2, column 1: its letters are not UTF-8 \(byte 74\); save it as UTF-8"):
        exchange.read(CSV.replace("gemm", "\u00b5", 1).encode("latin-1"))


TEXTS = ("=cmd|' /C calc'!A0", "+1", "-O3 -lineinfo", "@sum", "\tx", "\rx", "'=x", "''", "'plain", '"', '"x"', "a,b;c\nd", "1,5", "")


@pytest.mark.parametrize("text", TEXTS)
def test_a_text_is_no_formula_in_a_spreadsheet_and_comes_back(text):
    assert not text_cell(text).startswith(FORMULA) and text_of(text_cell(text)) == text
    assert not value_cell(text).startswith(FORMULA) and value_of(value_cell(text)) == text


@pytest.mark.parametrize("value", [True, False, None, 0, -5, 2.5, 1e-07, 2**62, "5", "-5", "true", "TRUE", "1e5", "NaN", "007", "+5"])
def test_a_value_comes_back_as_what_it_was(value):
    again = value_of(value_cell(value))
    assert again == value and type(again) is type(value)


def test_a_csv_with_texts_of_every_kind_comes_back_and_its_numbers_are_numbers(store):
    rows = [SweepRow(n, 0, {"flags": text, "shift": -5}, "compile_failed", text) for n, text in enumerate(TEXTS)]
    store.create_sweep("s", {**REQUEST, "kernel": "=kernel", "device": "@home", "problems": [{"M": -1, "of": "+x"}]}, rows, state="done")
    text = exchange.written(store.sweep("s"), store.sweep_frame("s"), "csv")
    read = list(csv.DictReader(io.StringIO(text, newline="")))
    numbers = ("knob.shift", "problem.M")
    assert not [cell for line in read for name, cell in line.items() if cell.startswith(FORMULA) and name not in numbers]
    assert {line["knob.shift"] for line in read} == {"-5"}
    found = exchange.read(text)
    assert [(row.config, row.reason) for row in found.rows] == [(row.config, row.reason) for row in rows]
    assert (found.request["kernel"], found.request["device"], found.request["problems"]) == ("=kernel", "@home", [{"M": -1, "of": "+x"}])


def test_a_csv_of_older_versions_is_read(store):
    """They wrote texts as they were, flags as true, and every sweep with a device column."""
    old = CSV.replace("FALSE", "false").replace("knob.block_M", "knob.tl.device_compile_flags").replace(",32,", ",-O3,")
    assert exchange.read(old).rows[0].config == {"tl.device_compile_flags": "-O3"}


def test_the_page_and_the_command_line_take_files_of_the_same_size():
    config = tomllib.loads((Path(__file__).parents[2] / ".streamlit" / "config.toml").read_text())
    assert config["server"]["maxUploadSize"] == exchange.MOST_MB
    with pytest.raises(BadRequest, match=f"this file is larger than {exchange.MOST_MB} MB, the most that is read"):
        exchange.read(bytes(exchange.MOST_MB * 2**20 + 1))


def test_a_stored_sweep_of_an_unchecked_file_says_what_keeps_it_from_being_read(store):
    store.create_sweep("good", REQUEST, [SweepRow(0, 0, {"block_M": 1}, "ok", results={"median_us": 1.0})])
    assert exchange.why_unreadable(store.sweep("good").request, store.sweep_columns("good")) == ""
    bad = {"text": {"median_us": "27,5"}, "flag": {"implausible": "FALSE"}, "place": {}}
    for name, results in bad.items():
        store.create_sweep(name, REQUEST, [SweepRow(0, 9 if name == "place" else 0, {}, "ok", results=results)])
    said = {name: exchange.why_unreadable(store.sweep(name).request, store.sweep_columns(name)) for name in bad}
    assert "implausible: expected true or false, got text" in said["flag"]
    assert "median_us: expected a number, got text" in said["text"] and "there is no problem 9 of 2" in said["place"]
    assert exchange.why_unreadable({"kernel": "gemm", "target": "cpu"}) == "problems: it is missing"
