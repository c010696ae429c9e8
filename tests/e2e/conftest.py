"""A real server on a free port with a store of its own, and a real Chromium."""

import os
import signal
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.conftest import ROOT

CHROMIUM_FLAGS = (
    "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
    "--disable-component-update", "--disable-sync",
)  # fmt: skip


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


def serve(home: Path, **env: str) -> Server:
    """A fresh server; returns when it answers."""
    port = free_port()
    command = [sys.executable, "-m", "streamlit", "run", "app.py", "--server.port", str(port)]
    env = {**os.environ, "TILEVIZ_HOME": str(home), **env}
    with open(home / "server.log", "ab") as log:
        process = subprocess.Popen(command, cwd=ROOT, env=env, stdin=subprocess.DEVNULL, stdout=log, stderr=log)
    server = Server(f"http://127.0.0.1:{port}", port, home, process)
    end = time.monotonic() + 30
    while time.monotonic() < end:
        try:
            urllib.request.urlopen(f"{server.url}/_stcore/health", timeout=1).read()
            return server
        except OSError:
            assert process.poll() is None, (home / "server.log").read_text()
            time.sleep(0.1)
    server.stop()
    raise TimeoutError("the server did not answer in 30 s")


@pytest.fixture(scope="module")
def server(browser, shared_home) -> Iterator[Server]:
    """One server for the tests of a module. The browser starts first, so that it does not count as a process of this home."""
    running = serve(shared_home)
    yield running
    running.stop()


@pytest.fixture
def cold_server(browser, home) -> Iterator:
    """Starts servers that no one has visited yet: `cold_server(TILEVIZ_TOKEN=...)`."""
    started = []

    def start(**env: str) -> Server:
        started.append(serve(home, **env))
        return started[-1]

    yield start
    for running in started:
        running.stop()


@pytest.fixture(scope="session")
def browser_type_launch_args(browser_type_launch_args, chromium) -> dict:
    return {**browser_type_launch_args, "executable_path": chromium, "args": list(CHROMIUM_FLAGS), "headless": True}


@pytest.fixture(scope="session")
def browser_context_args(browser_context_args) -> dict:
    return {**browser_context_args, "viewport": {"width": 1280, "height": 900}}
