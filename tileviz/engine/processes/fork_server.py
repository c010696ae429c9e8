"""A fork server: one warm process with torch, TileLang and NVRTC loaded and no CUDA context, which
forks a child for each request.

Asked over its control pipe: ("child",) then the child's pipe. Tells: ("ready",), ("born", pid) in
the order of the requests, ("exited", pid, status).
"""

import ctypes
import gc
import os
import signal
import sys
from multiprocessing.connection import wait

from tileviz.engine.processes import child
from tileviz.engine.processes.channel import Connection, connection_of, receive_connection
from tileviz.store import tileviz_home

PR_SET_PDEATHSIG = 1
"""Of Linux's prctl: the signal that a process gets when its parent dies."""


def serve(control: Connection) -> None:
    """Warms up, then forks on demand until the engine goes away. Never returns."""
    if os.getpgrp() != os.getpid():
        os.setsid()
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    _die_with_the_engine()
    _warm_up()
    control.send(("ready",))
    while True:
        if wait([control], timeout=0.05):
            _fork(control)
        _reap(control)


def _die_with_the_engine() -> None:
    """While it warms up, it cannot listen for the end of its pipe, and a thread that did would be
    in the way of forking: so the system is asked to kill it when the engine dies. Its children are
    not asked for, they listen."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)


def _warm_up() -> None:
    from tileviz.compiler import runtime

    runtime.warm_up(tileviz_home())
    gc.collect()
    # else each child copies the pages of what it never touches, only to look for garbage
    gc.freeze()


def _fork(control: Connection) -> None:
    try:
        control.recv()
        connection = receive_connection(control)
    except (EOFError, OSError):
        os.killpg(0, signal.SIGKILL)
        return
    pid = os.fork()
    if pid == 0:
        _live(control, connection)
    connection.close()
    control.send(("born", pid))


def _live(control: Connection, connection: Connection) -> None:
    try:
        control.close()
        child.main(connection)
    finally:
        os._exit(1)


def _reap(control: Connection) -> None:
    while True:
        try:
            pid, status = os.waitpid(-1, os.WNOHANG)
        except ChildProcessError:
            return
        if pid == 0:
            return
        control.send(("exited", pid, os.waitstatus_to_exitcode(status)))


if __name__ == "__main__":
    serve(connection_of(int(sys.argv[1])))
