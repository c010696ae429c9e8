"""The command line, whose words and JSON fields are stable: doctor, kernels, compile, run, show."""

from tileviz.cli.main import main

__all__ = ["main"]
