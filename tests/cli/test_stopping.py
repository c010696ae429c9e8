"""Ctrl-C and SIGTERM stop a command and everything it started."""

import signal
import time

import psutil
import pytest

from tests.conftest import processes_of, tileviz, tileviz_process


def sleeping_compiler(folder) -> str:
    """A C++ compiler that never answers, with a child that does not either."""
    script = folder / "sleeping-g++"
    script.write_text("#!/bin/sh\nsleep 987 &\nwait\n")
    script.chmod(0o755)
    return str(script)


def wait_for_sleepers(home, seconds: float = 60) -> list[psutil.Process]:
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        found = sleepers(home)
        if found:
            return found
        time.sleep(0.1)
    return []


def sleepers(home) -> list[psutil.Process]:
    return [p for p in processes_of(home) if "987" in p.cmdline()]


@pytest.mark.parametrize(("number", "status"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_a_stopped_command_leaves_nothing_running(home, tmp_path, number, status):
    process = tileviz_process("run", "vector_add", "-p", f"N={7001 + number}", "--device", "cpu", "--json", CXX=sleeping_compiler(tmp_path))
    assert wait_for_sleepers(home), process.communicate(timeout=5)
    process.send_signal(number)
    out, err = process.communicate(timeout=30)
    assert process.returncode == status, err
    assert '"cancelled"' in out and "Traceback" not in err
    end = time.monotonic() + 2
    while sleepers(home) and time.monotonic() < end:
        time.sleep(0.05)
    assert not sleepers(home)


def test_a_reader_that_leaves_early_is_no_error(home):
    process = tileviz_process("kernels")
    process.stdout.close()
    err = process.stderr.read()
    process.wait(timeout=30)
    assert "Traceback" not in err and "Error" not in err


def test_the_engine_goes_away_by_itself(home, monkeypatch):
    monkeypatch.setenv("TILEVIZ_ENGINE_IDLE", "1")
    assert tileviz("compile", "vector_add", "--target", "sm_80", "--emit", "source").status == 0
    end = time.monotonic() + 15
    while processes_of(home) and time.monotonic() < end:
        time.sleep(0.2)
    assert not processes_of(home)
