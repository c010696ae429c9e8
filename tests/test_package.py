"""What `pip install .` gives: the command, the dashboard and all its files, away from the
repository. No network is asked."""

import email
import os
import re
import signal
import subprocess
import sys
import tomllib
import zipfile
from pathlib import Path

import pytest

import tileviz
from tests.conftest import ROOT, none_left
from tests.serving import first_page, free_port, until_healthy

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
NO_BUILD = ("--no-deps", "--no-build-isolation", "--no-index", "--disable-pip-version-check", "-q")


@pytest.fixture(scope="module")
def wheel(tmp_path_factory) -> Path:
    """The wheel of this folder."""
    pytest.importorskip("hatchling", reason="hatchling, which builds the wheel, is not installed: requirements-test.txt names it")
    out = tmp_path_factory.mktemp("wheel")
    pip("wheel", *NO_BUILD, "-w", out, ROOT)
    return next(out.glob("tileviz-*.whl"))


@pytest.fixture(scope="module")
def installed(wheel, tmp_path_factory) -> Path:
    """A folder with the installed package and its command; what it depends on is that of the tests."""
    folder = tmp_path_factory.mktemp("installed")
    pip("install", *NO_BUILD, "--target", folder, wheel)
    return folder


def pip(*words) -> None:
    done = subprocess.run([sys.executable, "-m", "pip", *map(str, words)], cwd="/", capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr


def tracked(*folders: str) -> set[str]:
    """Files of the repository below folders, as git has them or would take them."""
    done = subprocess.run(
        ["git", "ls-files", "--cached", "--others", "--exclude-standard", *folders], cwd=ROOT, capture_output=True, text=True
    )
    if done.returncode != 0:
        pytest.skip("this is no git clone, so nothing tells which files are ours")
    return {name for name in done.stdout.split() if (ROOT / name).is_file()}


def entry(installed: Path, *words: str, cwd: Path, **more: str) -> subprocess.Popen:
    """The `tileviz` command, started in another folder."""
    env = {**os.environ, "PYTHONPATH": str(installed), **more}
    command = [sys.executable, str(installed / "bin" / "tileviz"), *words]
    return subprocess.Popen(
        command, cwd=cwd, env=env, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    )


def test_the_wheel_holds_the_package_and_the_dashboard_and_nothing_else(wheel):
    held = {name for name in zipfile.ZipFile(wheel).namelist() if ".dist-info/" not in name}
    dashboard = {f"tileviz/dashboard/{name}" for name in tracked("app.py", "pages", ".streamlit")}
    code = {name for name in tracked("tileviz") if not name.endswith("/ruff.toml")}
    assert held == code | dashboard


def test_its_version_and_its_needs_are_said_in_one_place(wheel):
    packed = zipfile.ZipFile(wheel)
    told = email.message_from_bytes(packed.read(next(name for name in packed.namelist() if name.endswith(".dist-info/METADATA"))))
    assert told["Version"] == tileviz.__version__ and {"version", "dependencies", "optional-dependencies"} <= set(PROJECT["dynamic"])
    extras = told.get_all("Requires-Dist")
    for file, extra in (("requirements", None), ("requirements-gpu", "gpu"), ("requirements-test", "test")):
        own = {need_name(need) for need in extras if re.search(r"extra == '(\w+)'", need) is None} if extra is None else {
            need_name(need) for need in extras if f"extra == '{extra}'" in need
        }  # fmt: skip
        lines = (ROOT / f"{file}.txt").read_text().splitlines()
        assert own == {need_name(line) for line in lines if line and not line.startswith(("#", "-"))}


def need_name(line: str) -> str:
    return re.match(r"[\w.-]+", line)[0].lower()


def test_the_installed_command_runs_a_kernel_from_an_empty_folder(installed, home, tmp_path):
    (tmp_path / "empty").mkdir()
    process = entry(installed, "run", "vector_add", "-p", "N=10007", "--device", "cpu", "--no-baselines", cwd=tmp_path / "empty")
    out, _ = process.communicate(timeout=120)
    assert process.returncode == 0 and re.search(r"verdict +right", out), out


@pytest.mark.slow
def test_the_installed_dashboard_draws_its_first_page_and_ends_by_ctrl_c(installed, home, tmp_path):
    (tmp_path / "empty").mkdir()
    port = free_port()
    process = entry(installed, "serve", "--port", str(port), cwd=tmp_path / "empty")
    try:
        url = f"http://127.0.0.1:{port}"
        until_healthy(url, process)
        drawn = first_page(url)
        assert {"Kernel", "Device or target"} <= drawn.labels and not drawn.exceptions
    finally:
        process.send_signal(signal.SIGINT)
        out, _ = process.communicate(timeout=20)
    assert "Traceback" not in out and not list((tmp_path / "empty").iterdir())
    assert not none_left(home, 20), "the engine that the page had started went on"
