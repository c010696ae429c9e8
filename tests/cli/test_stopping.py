"""Ctrl-C and SIGTERM stop a command and everything it started."""

import signal

import psutil
import pytest

from tests.conftest import processes_of, tileviz, tileviz_process
from tests.waiting import until


def sleeping_compiler(folder) -> str:
    """A C++ compiler that never answers, with a child that does not either."""
    script = folder / "sleeping-g++"
    script.write_text("#!/bin/sh\nsleep 987 &\nwait\n")
    script.chmod(0o755)
    return str(script)


def sleepers(home) -> list[psutil.Process]:
    return [p for p in processes_of(home) if "987" in p.cmdline()]


@pytest.mark.parametrize(("number", "status"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_a_stopped_command_leaves_nothing_running(home, tmp_path, number, status):
    process = tileviz_process("run", "vector_add", "-p", f"N={7001 + number}", "--device", "cpu", "--json", CXX=sleeping_compiler(tmp_path))
    until(lambda: sleepers(home) or process.poll() is not None)
    assert process.poll() is None, process.communicate()
    process.send_signal(number)
    out, err = process.communicate(timeout=120)
    assert process.returncode == status, err
    assert '"cancelled"' in out and "Traceback" not in err
    until(lambda: not sleepers(home))


def test_a_reader_that_leaves_early_is_no_error(home):
    process = tileviz_process("kernels")
    process.stdout.close()
    err = process.stderr.read()
    process.wait(timeout=120)
    assert "Traceback" not in err and "Error" not in err


def test_the_engine_goes_away_by_itself(home, monkeypatch):
    monkeypatch.setenv("TILEVIZ_ENGINE_IDLE", "1")
    assert tileviz("compile", "vector_add", "--target", "sm_80", "--emit", "source").status == 0
    until(lambda: not processes_of(home))
