"""Any terminal, any home, any user: what the command line does there."""

import os
import shutil
import subprocess
import sys

import pytest

from tests.conftest import ROOT, stop_engine, tileviz
from tests.test_bad_input import script
from tests.waiting import until
from tileviz.cli.terminal import plain

RUN = ("run", "vector_add", "--device", "cpu", "--no-baselines")
STRANGER = 23456


@pytest.fixture(scope="module")
def stored(shared_home) -> str:
    """A run whose time is told in microseconds."""
    return tileviz(*RUN, "-p", "N=8301", "--json").json["trial"]


@pytest.mark.parametrize(("encoding", "unit"), [("ascii", "us"), ("latin-1", "\u00b5s"), ("cp437", "\u00b5s"), ("koi8-r", "us")])
def test_a_terminal_without_a_letter_shows_every_result(stored, encoding, unit):
    command = [sys.executable, "-m", "tileviz", "show", stored]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, env={**os.environ, "PYTHONIOENCODING": encoding})
    text = done.stdout.replace(b"\xe6", "\u00b5".encode(encoding)) if encoding == "cp437" else done.stdout  # CP437 has the Greek letter
    assert done.returncode == 0, done.stderr
    assert f"{unit}, p10 " in text.decode(encoding) and stored in text.decode(encoding)
    assert done.stderr == b""


def test_letters_are_spelled_as_they_are_typed():
    assert plain("12.5 \u00b5s \u2192 4096\u00b3, 2\u00d7, na\u00efve \u2026 \u2264 \u2605") == "12.5 us -> 4096^3, 2x, naive ... <= *"
    assert plain("\u4e2d \udcff") == "? ?"


@pytest.mark.parametrize("words", [("kernels",), ("--help",), ("run", "gemm", "-p", "M=0", "--json")])
def test_a_reader_that_left_ends_a_command_quietly(shared_home, words):
    reading, writing = os.pipe()
    os.close(reading)
    with os.fdopen(writing, "wb") as nobody:
        done = subprocess.run([sys.executable, "-m", "tileviz", *words], cwd=ROOT, stdout=nobody, stderr=subprocess.PIPE, text=True)
    assert "Traceback" not in done.stderr and "Broken" not in done.stderr and "Exception ignored" not in done.stderr, done.stderr


def test_an_output_that_cannot_be_written_is_one_sentence_and_a_closed_one_takes_nothing(shared_home):
    python = f"{sys.executable} -m tileviz"
    full = subprocess.run(f"{python} kernels > /dev/full", shell=True, cwd=ROOT, capture_output=True, text=True)
    assert (full.returncode, full.stderr) == (1, "tileviz: the output cannot be written: No space left on device\n")
    closed = subprocess.run(f"{python} kernels >&- 2>&-", shell=True, cwd=ROOT, capture_output=True, text=True)
    assert (closed.returncode, closed.stdout, closed.stderr) == (0, "", "")


def test_compiles_leave_nothing_in_tmpdir_and_a_compiler_named_from_here_is_found_by_the_engine(home, tmp_path):
    tmp = tmp_path / "tmp"
    tmp.mkdir()
    script(tmp_path, "mycxx", f'[ -e {tmp_path}/slow ] && touch "$TMPDIR/left" && sleep 987\nexec g++ "$@"')
    here = {"cwd": tmp_path, "CXX": "./mycxx", "TMPDIR": str(tmp), "PYTHONPATH": str(ROOT)}
    assert tileviz(*RUN, "-p", "N=8302", **here).status == 0
    (tmp_path / "slow").touch()
    done = tileviz(*RUN, "-p", "N=8303", "--timeout", "2", "--json", **here)
    assert done.json["status"] == "timeout", done.err
    (engine,) = tmp.iterdir()
    until(lambda: not [path for path in engine.rglob("*") if not path.is_symlink() and path.is_file()])
    (tmp_path / "slow").unlink()
    assert tileviz("doctor", **here).status == 0
    assert not stop_engine(home)
    assert not list(tmp.iterdir())


def as_stranger(*words: str, **env: str) -> subprocess.CompletedProcess:
    """A command of a user without a passwd entry or HOME, who may read what we may, and write what anybody may."""
    setpriv = shutil.which("setpriv")
    if setpriv is None or os.geteuid() != 0:
        pytest.skip("another user needs root and setpriv")
    who = ["--reuid", str(STRANGER), "--regid", str(STRANGER), "--clear-groups"]
    reads = ["--inh-caps", "+dac_read_search", "--ambient-caps", "+dac_read_search"]
    kept = {name: value for name, value in os.environ.items() if name not in ("HOME", "TILEVIZ_HOME", "USER", "LOGNAME")}
    command = [setpriv, *who, *reads, sys.executable, "-m", "tileviz", *words]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, env={**kept, **env})


@pytest.mark.parametrize("words", [("doctor",), (*RUN, "--json")])
def test_a_user_without_a_home_is_told_to_name_one(words):
    done = as_stranger(*words)
    assert done.returncode == 1
    assert done.stderr == f"tileviz: user {STRANGER} has no home folder: set TILEVIZ_HOME to a folder you can write to\n"


def test_a_user_without_a_home_runs_kernels_under_the_one_that_is_named(tmp_path_factory):
    home = tmp_path_factory.mktemp("stranger")
    home.chmod(0o777)
    env = {"TILEVIZ_HOME": str(home / "home"), "TILEVIZ_ENGINE_IDLE": "5", "TMPDIR": str(home)}
    done = as_stranger(*RUN, "-p", "N=8304", "--json", **env)
    assert done.returncode == 0 and '"status": "ok"' in done.stdout, done.stderr
    assert not stop_engine(home / "home")


def test_a_home_of_another_user_is_one_sentence(tmp_path):
    home = tmp_path / "home"
    home.mkdir()
    done = as_stranger("doctor", TILEVIZ_HOME=str(home))
    said = f"tileviz: user {STRANGER} may not read and write {home}, which belongs to root; set TILEVIZ_HOME to a folder you can write to\n"
    assert (done.returncode, done.stderr) == (1, said)


def test_a_home_with_a_file_of_another_user_is_one_sentence(tmp_path):
    home = tmp_path / "home"
    home.mkdir()
    (home / "store.db").touch()
    home.chmod(0o777)
    done = as_stranger("doctor", TILEVIZ_HOME=str(home))
    assert done.returncode == 1 and f"may not read and write {home / 'store.db'}, which belongs to root; set TILEVIZ_HOME" in done.stderr
