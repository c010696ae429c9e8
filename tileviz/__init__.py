"""tileviz: explore GPU kernels written in TileLang, on the device of this machine.

From Python: `tileviz.run("gemm", {"M": 512}).frame()`. The names below are those of `tileviz.api`,
which is imported when the first of them is used: `import tileviz` itself reads no other file.
"""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tileviz.api import (
        TilevizError,
        compare,
        compile,
        list_devices,
        list_kernels,
        list_presets,
        list_results,
        load,
        run,
        show_code,
        sweep,
    )

__version__ = "0.1.0"

__all__ = [
    "TilevizError",
    "__version__",
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


def __getattr__(name: str) -> Any:
    """A name of the Python API."""
    if name not in __all__:
        raise AttributeError(f"module 'tileviz' has no attribute '{name}'")
    from tileviz import api

    return getattr(api, name)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
