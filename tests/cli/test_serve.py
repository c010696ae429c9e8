"""`tileviz serve` is as safe as `streamlit run app.py`."""

import tomllib

import pytest

from tests.conftest import ROOT
from tileviz.cli import arguments, serve
from tileviz.errors import BadRequest

SERVER = tomllib.loads((ROOT / ".streamlit" / "config.toml").read_text())["server"]


def asked(*words: str):
    return arguments.parser().parse_args(["serve", *words])


def test_without_options_it_answers_where_the_settings_of_the_dashboard_say():
    plain = asked()
    told = serve.options(plain.host, plain.port, plain.allow)
    assert f"--server.address={SERVER['address']}" in told and "--server.port=8501" in told
    assert [word.partition("=")[2] for word in told if word.startswith("--server.allowedHosts=")] == SERVER["allowedHosts"]


def test_it_answers_to_more_names_when_they_are_given():
    told = serve.options("0.0.0.0", 80, asked("--allow", "gpu-machine.example, 10.0.0.7,localhost").allow)
    assert told[-2:] == ["--server.allowedHosts=gpu-machine.example", "--server.allowedHosts=10.0.0.7"]


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "10.0.0.7", "gpu-machine.example", "127.0.0.1.evil.example"])
def test_a_network_is_served_with_a_token_alone(host, monkeypatch):
    started = []
    monkeypatch.setattr(serve.os, "execv", lambda *command: started.append(command))
    monkeypatch.setenv("TILEVIZ_TOKEN", "")
    with pytest.raises(BadRequest, match="TILEVIZ_TOKEN"):
        serve.serve(asked("--host", host))
    assert not started
    monkeypatch.setenv("TILEVIZ_TOKEN", "word")
    serve.serve(asked("--host", host))
    assert f"--server.address={host}" in started[0][1]


@pytest.mark.parametrize("host", ["127.0.0.1", "::1", "[::1]", "localhost", "127.8.8.8"])
def test_names_of_this_machine_need_none(host):
    assert serve.is_of_this_machine(host)


@pytest.mark.parametrize("port", ["0", "65536", "-1", "8e3", "x", ""])
def test_a_port_that_is_none_is_refused(port, capsys):
    with pytest.raises(SystemExit):
        asked("--port", port)
    assert "port" in capsys.readouterr().err


def test_here_the_script_is_the_one_of_the_repository():
    assert serve.script() == ROOT / "app.py"
