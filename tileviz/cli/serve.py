"""`serve`: the dashboard, from this folder or from an installed package, with the settings of
.streamlit/config.toml."""

import os
import sys
from collections.abc import Iterable
from ipaddress import ip_address
from pathlib import Path
from typing import NoReturn

from tileviz import settings
from tileviz.errors import BadRequest, TilevizError

PACKAGE = Path(__file__).resolve().parents[1]

HERE = ("localhost", "127.0.0.1", "[::1]")
"""Names of this machine for itself, which the page always answers to."""


def serve(asked) -> NoReturn:
    """Becomes Streamlit's server, which ends by Ctrl-C or SIGTERM. Raises BadRequest for a network
    without a token."""
    if not is_of_this_machine(asked.host) and not settings.token():
        raise BadRequest(
            f"{asked.host} is open to the network, where anyone could run kernels here:"
            f" set {settings.TOKEN} to a word that a"
            " browser must give, or leave out --host"
        )
    command = [
        sys.executable,
        "-P",
        "-m",
        "streamlit",
        "run",
        str(script()),
        *options(asked.host, asked.port, asked.allow),
    ]
    sys.stdout.flush()
    os.execv(sys.executable, command)


def script() -> Path:
    """`app.py`, with `pages` and `.streamlit` beside it: within the package where it was installed,
    else above it."""
    found = next(
        (
            path
            for path in (PACKAGE / "dashboard" / "app.py", PACKAGE.parent / "app.py")
            if path.is_file()
        ),
        None,
    )
    if found is None:
        raise TilevizError(
            f"there is no app.py in {PACKAGE / 'dashboard'} nor in {PACKAGE.parent};"
            " install tileviz again"
        )
    return found


def options(host: str, port: int, allowed: Iterable[str]) -> list[str]:
    """For `streamlit run`: these win over every file of settings."""
    names = dict.fromkeys((*HERE, *allowed))
    return [
        f"--server.address={host}",
        f"--server.port={port}",
        *(f"--server.allowedHosts={name}" for name in names),
    ]


def is_of_this_machine(host: str) -> bool:
    """Whether an address is reached from this machine alone."""
    try:
        return ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return host == "localhost"
