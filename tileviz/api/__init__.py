"""The Python API: what the command line does, as functions whose results show as a table and as a
figure. docs/python.md tells it."""

from tileviz.api.code import Code, Difference, show_code
from tileviz.api.comparing import Comparison, compare
from tileviz.api.lists import list_devices, list_kernels, list_presets, list_results
from tileviz.api.results import Compiled, Result
from tileviz.api.running import compile, run
from tileviz.api.stored import load
from tileviz.api.sweeping import Sweep, sweep
from tileviz.api.tables import Listing
from tileviz.errors import TilevizError

__all__ = [
    "Code",
    "Comparison",
    "Compiled",
    "Difference",
    "Listing",
    "Result",
    "Sweep",
    "TilevizError",
    "compare",
    "compile",
    "list_devices",
    "list_kernels",
    "list_presets",
    "list_results",
    "load",
    "run",
    "show_code",
    "sweep",
]
