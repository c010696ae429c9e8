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
    try:
        until_healthy(server.url, process)
    except ChildProcessError as error:
        raise AssertionError((home / "server.log").read_text()) from error
    except TimeoutError:
        server.stop()
        raise
    return server


def until_healthy(url: str, process: subprocess.Popen, seconds: float = 90) -> None:
    """Waits until the server answers; two cores may also run other tests. Raises TimeoutError, and ChildProcessError where it ended."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        try:
            urllib.request.urlopen(f"{url}/_stcore/health", timeout=1).read()
            return
        except OSError:
            if process.poll() is not None:
                raise ChildProcessError(f"the server ended with status {process.returncode}") from None
            time.sleep(0.1)
    raise TimeoutError(f"the server did not answer in {seconds:g} s")


@dataclass(frozen=True)
class Drawn:
    """What a page's script sent to a browser."""

    labels: set[str]
    """Of its widgets."""
    exceptions: list[str]


def first_page(url: str) -> Drawn:
    """Opens the landing page as a browser does, over the WebSocket, and waits until its script has run."""
    from streamlit.proto.BackMsg_pb2 import BackMsg
    from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
    from websockets.sync.client import connect

    elements = []
    with connect(f"{url.replace('http', 'ws', 1)}/_stcore/stream", subprotocols=["streamlit"], max_size=None) as socket:
        asked = BackMsg()
        asked.rerun_script.query_string = ""
        socket.send(asked.SerializeToString())
        while True:
            message = ForwardMsg.FromString(socket.recv(timeout=60))
            kind = message.WhichOneof("type")
            if kind == "delta":
                elements.append(message.delta.new_element)
            if kind == "script_finished" and message.script_finished != ForwardMsg.FINISHED_EARLY_FOR_RERUN:
                break
    found = [(kind, getattr(element, kind)) for element in elements if (kind := element.WhichOneof("type"))]
    labels = {part.label for _, part in found if hasattr(part, "label")}
    return Drawn(labels, [part.message for kind, part in found if kind == "exception"])
