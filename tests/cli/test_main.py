"""Errors become one sentence and an exit status."""

import json

import pytest

from tileviz.cli import main
from tileviz.cli.main import COMMANDS
from tileviz.errors import BadValue, CompileFailed, StoreError


def failing(error):
    def command(asked):
        raise error

    return command


@pytest.fixture(autouse=True)
def own_home(tmp_path, monkeypatch):
    monkeypatch.setenv("TILEVIZ_HOME", str(tmp_path / "home"))
    monkeypatch.delenv("TILEVIZ_DEBUG", raising=False)


@pytest.mark.parametrize(
    ("error", "status"), [(BadValue("M is 0"), 2), (CompileFailed("g++ said no", "line 3: error"), 1), (StoreError("disk full"), 1)]
)
def test_an_expected_error_is_its_own_sentence(error, status, monkeypatch, capsys):
    monkeypatch.setitem(COMMANDS, "kernels", failing(error))
    assert main(["kernels", "--json"]) == status
    said = capsys.readouterr()
    assert said.err.rstrip().endswith(f"tileviz: {error.message}")
    assert json.loads(said.out)["error"] == error.message
    assert error.detail in said.err


def test_an_unexpected_error_says_where_its_details_are(monkeypatch, capsys, tmp_path):
    monkeypatch.setitem(COMMANDS, "kernels", failing(RuntimeError("surprise")))
    assert main(["kernels"]) == 1
    err = capsys.readouterr().err
    log = tmp_path / "home" / "command.log"
    assert "Traceback" not in err and "surprise" in err and str(log) in err
    assert "Traceback" in log.read_text() and "surprise" in log.read_text()


def test_the_traceback_is_shown_on_demand(monkeypatch, capsys):
    monkeypatch.setenv("TILEVIZ_DEBUG", "1")
    monkeypatch.setitem(COMMANDS, "kernels", failing(RuntimeError("surprise")))
    assert main(["kernels"]) == 1
    assert "Traceback" in capsys.readouterr().err


def test_a_log_that_cannot_be_written_is_said(monkeypatch, capsys, tmp_path):
    (tmp_path / "home").write_text("a file where the folder should be")
    monkeypatch.setitem(COMMANDS, "kernels", failing(RuntimeError("surprise")))
    assert main(["kernels"]) == 1
    assert "no log: " in capsys.readouterr().err


def test_ctrl_c_exits_130(monkeypatch, capsys):
    monkeypatch.setitem(COMMANDS, "kernels", failing(KeyboardInterrupt()))
    assert main(["kernels"]) == 130
    assert "Ctrl-C" in capsys.readouterr().err
