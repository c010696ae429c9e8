"""Pipes between the engine and its children: pickled messages, and file descriptors handed over."""

import os
import signal
import socket
from collections.abc import Sequence
from multiprocessing.connection import Connection, Pipe, wait
from multiprocessing.reduction import recv_handle, send_handle

__all__ = [
    "Connection",
    "Pipe",
    "connection_of",
    "kill_group",
    "receive_connection",
    "send_connection",
    "with_news",
]


def connection_of(descriptor: int) -> Connection:
    """The connection behind an inherited file descriptor."""
    return Connection(descriptor)


def send_connection(control: Connection, child_end: Connection, pid: int) -> None:
    """Hands one end of a pipe to another process over `control`, and closes it here."""
    send_handle(control, child_end.fileno(), pid)
    child_end.close()


def receive_connection(control: Connection) -> Connection:
    """The end that `send_connection` handed over."""
    return Connection(recv_handle(control))


def socket_pair() -> tuple[Connection, Connection]:
    """A duplex pipe over which descriptors can be handed."""
    ours, theirs = socket.socketpair()
    return Connection(ours.detach()), Connection(theirs.detach())


def with_news(connections: Sequence[Connection], timeout: float | None = None) -> list[Connection]:
    """Those that have a message or have ended; waits for so many seconds, or else until there is
    one."""
    told = wait(connections, timeout)
    return [connection for connection in connections if connection in told]


def kill_group(pid: int) -> None:
    """Kills a child and everything it started; a child that had no time for a group of its own is
    killed alone."""
    for kill in (os.killpg, os.kill):
        try:
            kill(pid, signal.SIGKILL)
        except (ProcessLookupError, PermissionError):
            continue
