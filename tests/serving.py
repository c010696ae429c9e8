"""A real server of the dashboard on a free port."""

import os
import signal
import socket
import subprocess
import sys
import time
import urllib.request
from dataclasses import dataclass
from pathlib import Path

from tests.conftest import ROOT


@dataclass(frozen=True)
class Server:
    """`streamlit run app.py`, and where its store is."""

    url: str
    port: int
    home: Path
    process: subprocess.Popen

    def stop(self) -> None:
        self.process.send_signal(signal.SIGINT)
        try:
            self.process.wait(10)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait(10)


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def serve(home: Path, port: int | None = None, **env: str) -> Server:
    """A fresh server; returns when it answers."""
    port = port or free_port()
    command = [sys.executable, "-m", "streamlit", "run", "app.py", "--server.port", str(port)]
    env = {**os.environ, "TILEVIZ_HOME": str(home), **env}
    with open(home / "server.log", "ab") as log:
        process = subprocess.Popen(command, cwd=ROOT, env=env, stdin=subprocess.DEVNULL, stdout=log, stderr=log)
    server = Server(f"http://127.0.0.1:{port}", port, home, process)
    end = time.monotonic() + 90  # two cores may also run other tests
    while time.monotonic() < end:
        try:
            urllib.request.urlopen(f"{server.url}/_stcore/health", timeout=1).read()
            return server
        except OSError:
            assert process.poll() is None, (home / "server.log").read_text()
            time.sleep(0.1)
    server.stop()
    raise TimeoutError("the server did not answer in 90 s")
