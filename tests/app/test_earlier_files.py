"""Sweeps exported by an earlier version, and addresses in its words, open in this one."""

import csv
import json
from pathlib import Path

import pytest

from tests.app.pages import opened, texts
from tileviz.cli import main

DATA = Path(__file__).resolve().parents[1] / "data"
FILES = ("sweep.json", "sweep.csv", "sweep.t4.json")

ADDRESSES = [
    ("", {"kernel": "vector_add", "target": "cpu", "N": "10007", "dtype": "float32", "block_N": "512", "threads": "64"}),
    ("", {"kernel": "gemm", "target": "sm_90a", "M": "4096", "N": "4096", "K": "4096", "dtype": "bfloat16"}),
    ("sweep", {"kernel": "softmax", "target": "cpu", "M": "64", "N": "1000", "view": "table"}),
    ("codeview", {"kernel": "vector_add", "target": "sm_80", "N": "1048576", "dtype": "float16"}),
]


@pytest.fixture
def imported(store, monkeypatch, capsys):
    """Takes a file in by the command line; gives the sweep's id."""
    monkeypatch.setenv("TILEVIZ_HOME", str(store.home))

    def take(name: str) -> str:
        assert main(["import", "--json", str(DATA / name)]) == 0
        return json.loads(capsys.readouterr().out)["sweep"]

    return take


@pytest.mark.parametrize("name", FILES)
def test_a_sweep_of_an_earlier_version_is_shown_from_its_link(imported, name):
    page = opened("sweep", sweep=imported(name), view="table")
    said = texts(page).replace("\\", "")
    assert "39.4 µs: block_N=512 threads=64" in said, said


@pytest.mark.parametrize(("name", "form"), [("sweep.json", "json"), ("sweep.csv", "csv")])
def test_it_is_exported_with_the_same_results(imported, tmp_path, name, form):
    again = tmp_path / f"again.{form}"
    assert main(["export", imported(name), str(again), "--format", form]) == 0
    assert results(again) == results(DATA / name)


def results(path: Path) -> list[dict]:
    """Rows of an export: what was tried and what it gave."""
    if path.suffix == ".csv":
        with path.open(newline="") as file:
            return [{key: value for key, value in row.items() if value} for row in csv.DictReader(file)]
    return json.loads(path.read_text())["rows"]


@pytest.mark.parametrize(("page", "words"), ADDRESSES, ids=lambda value: value if isinstance(value, str) else value["kernel"])
def test_a_link_of_an_earlier_version_still_opens_what_it_names(store, page, words):
    shown = opened(page, **words)
    assert shown.session_state["kernel"] == words["kernel"]
    if not page:
        state = {name: str(shown.session_state[name]) for name in words if name != "target"}
        assert state == {name: value for name, value in words.items() if name != "target"}
