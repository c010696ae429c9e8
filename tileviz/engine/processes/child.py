"""A child of the engine: runs jobs that arrive over its pipe and reports each result as it exists.

It leads its own process group and kills that whole group when the pipe ends, so nothing it started
outlives the engine. Messages to the engine: ("started", None) when a job begins, and again when it
had to wait for its device, then ("phase", name), ("source", Artifact), ("trial", Trial), and
("done", value) or ("failed", status, sentence, detail) for each job.
"""

import os
import queue
import signal
import sys
import threading
import traceback

from tileviz.bench.memory import out_of_memory
from tileviz.compiler import scratch
from tileviz.engine.processes.channel import Connection, connection_of
from tileviz.errors import TilevizError


def main(connection: Connection) -> None:
    """Runs jobs until the engine goes away. Never returns."""
    if os.getpgrp() != os.getpid():
        os.setsid()
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    scratch.enter()
    jobs: queue.Queue = queue.Queue()
    threading.Thread(target=_listen, args=(connection, jobs), daemon=True).start()
    while True:
        run_job(jobs.get(), connection)
        scratch.empty()


def run_job(job, connection: Connection) -> None:
    """Runs one job; whatever it raises becomes a message."""
    try:
        connection.send(("started", None))
        value = job(lambda *message: connection.send(message))
    except TilevizError as error:
        connection.send(("failed", error.status or "runtime_failed", error.message, error.detail))
    except Exception as error:  # kernels, TileLang and torch raise what they like
        connection.send(("failed", "runtime_failed", *_told(error)))
    else:
        connection.send(("done", value))


def _told(error: Exception) -> tuple[str, str]:
    """(one sentence, the detail) of what nobody translated: the traceback, which lack of memory
    needs not."""
    no_room = out_of_memory(error)
    if no_room:
        return no_room, str(error)
    first = str(error).strip().splitlines()[:1]
    return f"{type(error).__name__}: {first[0] if first else 'no message'}", traceback.format_exc()


def _listen(connection: Connection, jobs: queue.Queue) -> None:
    try:
        while True:
            jobs.put(connection.recv())
    except (EOFError, OSError):
        os.killpg(0, signal.SIGKILL)


if __name__ == "__main__":
    main(connection_of(int(sys.argv[1])))
