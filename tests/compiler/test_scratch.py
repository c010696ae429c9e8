"""Where compilers leave what they do not clear: it ends with the child, and with the engine, however these end."""

import os
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from tests.compiler.small_gemm import Gemm
from tileviz.compiler import failures, lowering, scratch, toolchain, tools
from tileviz.compiler.pipeline import compile_program
from tileviz.errors import CompileFailed, StoreError


@pytest.fixture
def places(tmp_path, monkeypatch) -> tuple[Path, Path]:
    """(a home, a TMPDIR)"""
    home, tmp = tmp_path / "home", tmp_path / "tmp"
    home.mkdir()
    tmp.mkdir()
    monkeypatch.delenv(scratch.VARIABLE, raising=False)
    use(monkeypatch, tmp)
    return home, tmp


def use(monkeypatch, folder: Path) -> None:
    monkeypatch.setenv("TMPDIR", str(folder))
    monkeypatch.setattr(tempfile, "tempdir", None)


@pytest.fixture
def mounted(tmp_path):
    """mounted("size=64k") -> a folder on a file system of its own."""
    made = []

    def mount(options: str) -> Path:
        folder = tmp_path / f"disk{len(made)}"
        folder.mkdir()
        if os.geteuid() != 0 or subprocess.run(["mount", "-t", "tmpfs", "-o", options, "tmpfs", folder], capture_output=True).returncode:
            pytest.skip("a file system of its own needs root and the right to mount")
        made.append(folder)
        return folder

    yield mount
    for folder in made:
        subprocess.run(["umount", "-l", folder], check=True)


def test_what_a_child_leaves_is_gone_after_its_job_and_its_folder_after_its_death(places):
    home, tmp = places
    before = dict(os.environ)
    with scratch.opened(home) as folder:
        scratch.enter()
        own = Path(tempfile.gettempdir())
        assert (own.parent, folder.parent, scratch.outside()) == (folder, tmp, tmp)
        (own / "wrapped.so").write_text("left")
        (own / "kept").mkdir()
        scratch.empty()
        assert own.is_dir() and not list(own.iterdir())
        (own / "left").write_text("by one that was killed")
        scratch.forget(os.getpid())
        assert not own.exists()
    assert dict(os.environ) == before and not list(tmp.iterdir()) and not list(home.iterdir())


def test_what_a_killed_engine_left_is_removed_by_the_next_one_of_that_home_alone(places, tmp_path):
    home, tmp = places
    code = "import os, pathlib, sys; from tileviz.compiler import scratch\nwith scratch.opened(pathlib.Path(sys.argv[1])): os._exit(9)"
    subprocess.run([sys.executable, "-c", code, home], cwd=Path(__file__).parents[2])
    (left,) = tmp.iterdir()
    (tmp / "of another").mkdir()
    copy = tmp_path / "copy of the home"
    copy.mkdir()
    (copy / scratch.LINK).symlink_to(left)
    with scratch.opened(copy):
        assert left.is_dir(), "it belongs to another home"
    with scratch.opened(home):
        assert not left.exists()
    assert [path.name for path in tmp.iterdir()] == ["of another"]


def test_outside_of_an_engine_nothing_is_made_or_removed(places):
    scratch.enter()
    scratch.forget(os.getpid())
    scratch.empty()
    assert tempfile.gettempdir() == str(places[1]) and places[1].is_dir()


def test_a_folder_that_cannot_be_made_is_one_sentence(places, monkeypatch):
    monkeypatch.setattr(tempfile, "mkdtemp", lambda **_: (_ for _ in ()).throw(OSError(28, "No space left on device")))
    with pytest.raises(StoreError, match="No space left on device; set TMPDIR"), scratch.opened(places[0]):
        pass


@pytest.mark.parametrize(("options", "said"), [("size=64k", "is full, with 64 KiB free"), ("noexec,size=64m", "is mounted noexec")])
def test_a_tmpdir_that_nothing_can_be_compiled_in_is_named_by_doctor_and_by_what_failed(places, mounted, monkeypatch, options, said):
    tmp = mounted(options)
    use(monkeypatch, tmp)
    (problem,) = [each for each in toolchain.problems(places[0]) if each.name == "TMPDIR"]
    assert said in problem.line and str(tmp) in problem.line and "set TMPDIR to another folder" in problem.line and problem.blocks
    with pytest.raises(CompileFailed, match=said), failures.by_their_cause():
        raise CompileFailed("cannot write: No space left on device; x.so: failed to map segment from shared object")
    monkeypatch.undo()
    assert not [each for each in toolchain.problems(places[0]) if each.name == "TMPDIR"]


@pytest.mark.usefixtures("environment")
def test_a_compile_in_a_tmpdir_without_programs_says_so_and_others_keep_their_own_reason(places, mounted, monkeypatch):
    gemm = Gemm("cpu", {"block_M": 32})
    use(monkeypatch, mounted("noexec,size=64m"))
    with pytest.raises(CompileFailed, match="TMPDIR .* is mounted noexec"):
        compile_program(gemm.build, gemm.target, key="k")
    with pytest.raises(CompileFailed, match="its own reason"), failures.by_their_cause():
        raise CompileFailed("its own reason")


WITHOUT_COMPILER = """#!/bin/sh
[ "$1" = --version ] && echo 'g++ (Debian 12.2.0-14) 12.2.0' && exit
echo "g++: fatal error: cannot execute 'cc1plus': execvp: No such file or directory" >&2
exit 1
"""


@pytest.mark.usefixtures("environment")
def test_a_driver_without_its_compiler_is_named_by_doctor_and_by_what_failed(tmp_path, monkeypatch):
    (tmp_path / "g++").write_text(WITHOUT_COMPILER)
    (tmp_path / "g++").chmod(0o755)
    monkeypatch.setenv("CXX", str(tmp_path / "g++"))
    lowering.imported().contrib.cc.get_cplus_compiler.cache_clear()
    why = f"{tmp_path / 'g++'} cannot compile a program of one line (cannot execute 'cc1plus'"
    (problem,) = [each for each in toolchain.problems(tmp_path) if each.name == "C++ compiler"]
    assert problem.line.startswith(why) and problem.blocks and "apt-get install g++" in problem.line
    gemm = Gemm("cpu", {"block_M": 16})
    with pytest.raises(CompileFailed) as failed:
        compile_program(gemm.build, gemm.target, key="k")
    assert failed.value.message.startswith(why)
    monkeypatch.delenv("CXX")
    lowering.imported().contrib.cc.get_cplus_compiler.cache_clear()
    assert tools.cxx_trouble() is None
