"""Bad input and bad luck: each gives one clear sentence and the right exit status, and loses nothing."""

import contextlib
import os
import signal
import subprocess
import sys

import psutil
import pytest

from tests import long_proofs
from tests.asked import resolve
from tests.conftest import engine_pid, none_left, processes_of, tileviz, tileviz_process
from tests.waiting import until
from tileviz.engine import client
from tileviz.errors import EngineError
from tileviz.store import Store

CPU = ("--device", "cpu")


def refused(*words: str, said: str) -> None:
    """Exit status 2, one sentence that says `said`, nothing queued."""
    done = tileviz(*words)
    assert done.status == 2, done.err
    assert said in done.sentence, done.err
    assert len(done.err.strip().splitlines()) == 1, done.err
    assert done.out == ""


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ("M=0", "M is 0; give a whole number from 1"),
        ("M=-4", "M is -4"),
        ("M=99999999999999999999", "M is 99,999,999,999,999,999,999; give a whole number from 1 to 2,147,418,112"),
        ("M=2147483647", "give a whole number from 1 to 2,147,418,112"),
        ("M=1e400", "M is '1e400'"),
        ("M=nan", "M is 'nan'"),
        ("M=1.5", "M is 1.5"),
        ("M=", "M is ''"),
        ("M=lots", "M is 'lots'"),
        ("dtype=float8", "give one of float16, bfloat16, float32"),
        ("layout=TT", "give one of NN, NT"),
        ("Q=4", "no problem size or flag of gemm 'Q'; known: K, M, N, dtype, layout"),
    ],
)
def test_a_problem_that_cannot_be_meant(home, given, said):
    refused("run", "gemm", "-p", given, said=said)


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ("block_M=0", "block_M is 0"),
        ("block_M=x", "block_M is 'x'"),
        ("num_stages=-1", "num_stages is -1"),
        ("enable_swizzle=perhaps", "give true or false"),
        ("block_Q=4", "no knob of gemm 'block_Q'; known: block_K, block_M"),
        ("tl.nonsense=1", "no pass config 'tl.nonsense'"),
        ("tl.enable_fast_math=banana", "tl.enable_fast_math is 'banana'; give true or false"),
        ("tl.ptxas_register_usage_level=99", "give a whole number from 0 to 10"),
    ],
)
def test_a_config_that_cannot_be_meant(home, given, said):
    refused("run", "gemm", "-k", given, said=said)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("run", "gem"), "no kernel 'gem'; known: "),
        (("compile", "gemm", "--target", "sm_42"), "no target 'sm_42'; known: "),
        (("compile", "gemm", "--target", "toaster"), "no target 'toaster'"),
        (("run", "gemm", "--device", "cuda:77"), "no device 'cuda:77' here"),
        (("run", "gemm", "--device", "cpu", "--target", "sm_90a"), "leave out one of target and device"),
        (("run", "vector_add", "--seed", "-1"), "seed is -1"),
        (("run", "vector_add", "--save", "/nonexistent/folder/x.npz"), "no folder /nonexistent/folder"),
        (("run", "vector_add", "-p", "N=1000000000000"), "N is 1,000,000,000,000"),
    ],
)
def test_a_request_that_cannot_be_meant(home, words, said):
    refused(*words, said=said)


def test_a_trillion_elements_are_pruned_with_the_memory_they_need(home):
    done = tileviz("run", "gemm", "-p", "M=1000000", "-p", "N=1000000", "-p", "K=1", "-p", "dtype=float32", *CPU, "--json")
    assert done.status == 1 and done.json["status"] == "pruned"
    assert "GB" in done.json["reason"] and "use smaller sizes" in done.json["reason"]
    assert not processes_of(home), "nothing had to be started for that"


def test_what_a_target_cannot_do_is_named(home):
    done = tileviz("run", "vector_add", "-p", "dtype=float16", *CPU, "--json")
    assert done.status == 1 and done.json["status"] == "unsupported"
    assert "the CPU target runs float32 only" in done.json["reason"]


def test_a_tile_larger_than_the_problem_is_right(shared_home):
    words = ("-p", "M=5", "-p", "N=3", "-p", "K=7", "-p", "dtype=float32", "-k", "block_M=64", "-k", "block_N=64", "-k", "block_K=32")
    done = tileviz("run", "gemm", *words, *CPU, "--no-baselines", "--json")
    assert done.status == 0 and done.json["verdict"]["ok"], done.err


@pytest.mark.parametrize(
    ("words", "inputs"),
    long_proofs.cases(
        [
            (words, inputs)
            for words in ("vector_add -p N=3001", "softmax -p M=3 -p N=1000", "flash_attention -p B=1 -p H=1 -p Sq=9 -p Sk=70 -p D=64")
            for inputs in ("nan", "inf")
        ],
        0,
        3,
    ),
)
def test_nan_and_infinity_in_the_data_are_computed_as_the_reference_does(shared_home, words, inputs):
    done = tileviz("run", *words.split(), "-p", "dtype=float32", *CPU, "--inputs", inputs, "--no-baselines", "--json")
    assert done.status == 0 and done.json["status"] == "ok", done.err
    assert done.json["inputs"] == inputs and done.json["verdict"]["ok"]


def script(folder, name: str, body: str) -> str:
    path = folder / name
    path.write_text(f"#!/bin/sh\n{body}\n")
    path.chmod(0o755)
    return str(path)


def run_with_compiler(n: int, cxx: str, *words: str):
    return tileviz("run", "vector_add", "-p", f"N={n}", *CPU, "--no-baselines", "--json", *words, CXX=cxx)


def test_a_missing_compiler_names_the_line_that_gets_one(home, tmp_path):
    named = run_with_compiler(8101, str(tmp_path / "nothing-here"))
    assert named.status == 1 and named.json["status"] == "compile_failed"
    assert "CXX" in named.json["reason"]


def test_no_compiler_on_the_path_names_the_line_that_gets_one(home, tmp_path):
    env = {"PATH": str(tmp_path), "CXX": ""}
    done = tileviz("run", "vector_add", "-p", "N=8102", *CPU, "--no-baselines", "--json", **env)
    assert done.status == 1 and done.json["status"] == "compile_failed"
    assert "apt-get install g++" in done.json["reason"]
    assert tileviz("compile", "vector_add", "--target", "sm_80", "--emit", "source", **env).status == 0, "CUDA text needs no C++ compiler"


def test_a_compiler_that_sleeps_for_ever_is_stopped_with_its_children(home, tmp_path):
    done = run_with_compiler(8103, script(tmp_path, "slow-g++", "sleep 986 &\nwait"), "--timeout", "3")
    assert done.status == 1 and done.json["status"] == "timeout", done.err
    assert "3 s" in done.json["reason"] and "compiling" in done.json["reason"]
    assert not [p for p in processes_of(home) if "986" in p.cmdline()]


def test_a_compiler_that_dies_is_reported_and_the_next_run_works(home, tmp_path):
    compiler = tmp_path / "g++-of-this-test"
    script(tmp_path, compiler.name, "kill -9 $$")
    done = run_with_compiler(8104, str(compiler))
    assert done.status == 1 and done.json["status"] in ("compile_failed", "crashed"), done.err
    assert done.json["reason"]
    compiler.write_text('#!/bin/sh\nexec g++ "$@"\n')
    assert run_with_compiler(8104, str(compiler)).status == 0


def test_a_compiler_that_refuses_is_quoted(home, tmp_path):
    done = run_with_compiler(8105, script(tmp_path, "rude-g++", "echo 'error: no thanks' >&2\nexit 1"))
    assert done.status == 1 and done.json["status"] == "compile_failed"
    assert "no thanks" in done.json["reason"] + done.json["detail"]


def test_a_tilelang_that_cannot_be_imported_is_said_at_once(home, tmp_path):
    broken = tmp_path / "broken" / "tilelang"
    broken.mkdir(parents=True)
    (broken / "__init__.py").write_text('raise ImportError("libfoo.so: cannot open shared object file")\n')
    done = tileviz("run", "vector_add", "-p", "N=8116", *CPU, "--json", PYTHONPATH=str(broken.parent))
    assert done.status == 1 and done.json["status"] == "crashed"
    assert "doctor" in done.sentence and str(home / "engine.log") in done.err
    assert "TileLang cannot be imported" in (home / "engine.log").read_text()


def test_an_engine_that_never_starts_is_said(home, monkeypatch):
    (home / "engine.lock").mkdir()
    store = Store(home)
    job = client.submit(store, resolve("vector_add", {"N": 8117}, device="cpu"))
    with pytest.raises(EngineError, match="the engine does not stay alive: IsADirectoryError.*engine.log says more"):
        client.wait(store, job, timeout=120)
    ended = client.watch(store, job)  # it stays said, and is not started again at every look
    assert ended.state == "failed" and ended.reason.startswith("the engine does not stay alive: IsADirectoryError")
    assert "IsADirectoryError" in (home / "engine.log").read_text()


@pytest.mark.slow
def test_a_killed_engine_leaves_no_orphan_and_its_job_is_done_by_the_next(home, tmp_path):
    once = tmp_path / "was-here"
    slow_once = script(tmp_path, "slow-once-g++", f'[ -e {once} ] || {{ touch {once}; sleep 985; }}\nexec g++ "$@"')
    process = tileviz_process("run", "vector_add", "-p", "N=8106", *CPU, "--no-baselines", "--json", CXX=slow_once)
    until(once.exists)
    before = [p for p in processes_of(home) if p.pid != process.pid]
    os.kill(engine_pid(home), signal.SIGKILL)
    until(lambda: not any(p.is_running() and p.status() != "zombie" for p in before))
    out, err = process.communicate(timeout=120)
    assert process.returncode == 0 and '"status": "ok"' in out, err


def test_a_job_that_outlives_two_engines_is_given_up(home, tmp_path):
    count = tmp_path / "starts"
    count.touch()
    process = tileviz_process(
        "run", "vector_add", "-p", "N=8107", *CPU, "--json", CXX=script(tmp_path, "g", f"echo x >> {count}\nsleep 984")
    )
    for number in (1, 2):
        until(lambda number=number: len(count.read_text().split()) == number)
        os.kill(engine_pid(home), signal.SIGKILL)
    out, err = process.communicate(timeout=120)
    assert process.returncode == 1 and "engine died twice" in err, err
    assert '"error"' in out
    assert not [p for p in processes_of(home) if "984" in p.cmdline()]


@pytest.mark.slow
def test_two_engines_on_one_store_are_one(home):
    commands = [tileviz_process("run", "vector_add", "-p", f"N={n}", *CPU, "--no-baselines", "--json") for n in (8108, 8109)]
    outs = [command.communicate(timeout=120) for command in commands]
    assert [command.returncode for command in commands] == [0, 0], outs
    first = engine_pid(home)
    second = subprocess.run([sys.executable, "-m", "tileviz.engine"], timeout=120)
    assert second.returncode == 0 and engine_pid(home) == first is not None
    engines = [p for p in processes_of(home) if p.cmdline()[-1] == "tileviz.engine"]
    assert len(engines) == 1


@pytest.mark.parametrize("damage", [b"this is no database\n" * 500, long_proofs.slow(None, id="cut off")], ids=["other text", None])
def test_a_damaged_store_is_kept_aside_and_a_new_one_started(home, damage):
    kept = tileviz("run", "vector_add", "-p", "N=8110", *CPU, "--no-baselines", "--json")
    assert kept.status == 0
    os.kill(engine_pid(home), signal.SIGKILL)
    assert not none_left(home)
    for extra in home.glob("store.db-*"):
        extra.unlink()
    store = home / "store.db"
    damage = damage or store.read_bytes()[:6000]
    store.write_bytes(damage)
    report = tileviz("doctor", "--json").json
    aside = [path for path in home.glob("store.db.damaged-*") if not path.name.endswith(("-wal", "-shm"))]
    assert [path.read_bytes() for path in aside] == [damage]
    assert any("damaged" in warning and str(aside[0]) in warning for warning in report["warnings"])
    assert tileviz("run", "vector_add", "-p", "N=8110", *CPU, "--no-baselines").status == 0


def test_a_home_that_cannot_be_made_or_written_is_said(tmp_path):
    (tmp_path / "file").write_text("")
    done = tileviz("run", "vector_add", TILEVIZ_HOME=str(tmp_path / "file" / "home"))
    assert done.status == 1 and "set TILEVIZ_HOME to a folder you can write to" in done.sentence


@pytest.fixture
def small_disk(tmp_path, monkeypatch):
    """A TILEVIZ_HOME on a real file system of 24 MB."""
    folder = tmp_path / "disk"
    folder.mkdir()
    if os.geteuid() != 0 or subprocess.run(["mount", "-t", "tmpfs", "-o", "size=24m", "tmpfs", folder], capture_output=True).returncode:
        pytest.skip("a small file system needs root and the right to mount")
    monkeypatch.setenv("TILEVIZ_HOME", str(folder / "home"))
    monkeypatch.setenv("TILEVIZ_ENGINE_IDLE", "5")
    yield folder
    for process in processes_of(folder / "home"):
        with contextlib.suppress(psutil.NoSuchProcess):
            process.kill()
    left = none_left(folder / "home")
    subprocess.run(["umount", "-l", folder], check=True)
    assert not left


@pytest.mark.slow
def test_a_full_disk_is_said_and_what_was_stored_stays(small_disk):
    run = ("run", "vector_add", *CPU, "--no-baselines", "--json")
    kept = tileviz(*run, "-p", "N=8111")
    assert kept.status == 0, kept.err
    with open(small_disk / "filler", "wb") as filler:
        fill(filler)
    done = tileviz(*run, "-p", "N=8112")
    assert done.status == 1 and "full" in done.sentence and "free some space" in done.sentence, done.err
    assert '"error"' in done.out or '"status"' in done.out
    (small_disk / "filler").unlink()
    assert tileviz("show", kept.json["trial"], "--json").json["timing"] == kept.json["timing"]
    again = tileviz(*run, "-p", "N=8113")
    assert again.status == 0, again.err


def test_a_disk_that_fills_while_a_job_runs_ends_that_job_alone(small_disk, tmp_path):
    started = tmp_path / "started"
    slow = script(tmp_path, "slow-g++", f'touch {started}\nsleep 3\nexec g++ "$@"')
    process = tileviz_process("run", "vector_add", "-p", "N=8114", *CPU, "--no-baselines", "--json", CXX=slow)
    until(started.exists)
    with open(small_disk / "filler", "wb") as filler:
        fill(filler)
    out, err = process.communicate(timeout=120)
    assert process.returncode == 1 and "is full; free some space" in err and "Traceback" not in err, err
    (small_disk / "filler").unlink()
    again = tileviz("run", "vector_add", "-p", "N=8115", *CPU, "--no-baselines", "--json", CXX=slow)
    assert again.status == 0, again.err


def fill(file) -> None:
    """Writes until the disk is full, down to single bytes."""
    for size in (1 << 20, 4096, 1):
        try:
            while True:
                os.write(file.fileno(), b"\0" * size)
        except OSError:
            continue
