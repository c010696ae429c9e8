"""What is installed, in which version, what is missing, and the environment that TileLang needs before it is imported.

Imports nothing heavy: the web process and `doctor` ask here.
"""

import functools
import importlib.metadata
import os
import platform
import re
import time
from dataclasses import dataclass
from pathlib import Path

from tileviz import settings
from tileviz.compiler import scratch, tools

DRIVER_FOR_CUDA_13 = 580
"""The first driver branch that runs CUDA 13 code."""

PACKAGES = ("tilelang", "torch", "triton", "streamlit", "optuna", "nvidia-ml-py", "cupti-python")
CUDA_TOOLS = ("nvcc", "ptxas", "cuobjdump", "nvdisasm")


LOOKED_AT_S = 5.0
"""Pages ask for versions in each run; what is installed is looked at again after this long."""

TRIED_S = 30.0
"""The C++ compiler takes some tenths of a second to be tried, so a page that is drawn again soon does not."""


@dataclass(frozen=True)
class Missing:
    """Something that is not here, or does not fit."""

    name: str
    needed_for: str
    line: str
    """The one line that gets it."""
    blocks: bool = False
    """True when no kernel can be run here without it."""


def versions() -> dict[str, str | None]:
    """Version of each package and tool; None for one that is missing. `driver` is None without an NVIDIA driver."""
    found = {"python": platform.python_version(), **{name: _package(name) for name in PACKAGES}}
    found["NVRTC"] = tools.nvrtc_version()
    found.update({name: _tool_version(tools.cuda_tool(name)) for name in CUDA_TOOLS})
    found["C++ compiler"] = _tool_version(tools.cxx())
    found["driver"], found["driver CUDA"] = driver()
    return found


def problems(home: Path) -> list[Missing]:
    """What is missing or does not fit, each with the line that gets it. Empty when all is well. The C++ compiler is really tried."""
    found = _blocking() + _places(home)
    broken = None if found else _cxx_trouble(tools.identity(tools.cxx()), int(time.monotonic() / TRIED_S))
    if broken:
        found.append(Missing("C++ compiler", "the CPU target, and running on a GPU", broken, blocks=True))
    if tools.nvrtc_version() is None:
        found.append(Missing("NVRTC", "PTX and machine code of CUDA targets in half a second", tools.WHEELS["NVRTC"]))
    if tools.cuda_tool("nvcc") is None:
        found.append(Missing("nvcc", "own compiler flags, and what NVRTC cannot read", tools.WHEELS["nvcc"]))
    if tools.cuda_tool("nvdisasm") is None and tools.cuda_tool("cuobjdump") is None:
        found.append(Missing("nvdisasm", "SASS", tools.WHEELS["nvdisasm"]))
    return found + _driver_problems()


def why_nothing_runs() -> str:
    """Why no kernel can be run here, with what mends it: `no C++ compiler: apt-get install g++, or set CXX`; empty when one can."""
    found = _blocking()
    if not found:
        return ""
    line = found[0].line + (", or set CXX" if found[0].line == tools.WHEELS["g++"] else "")
    return f"no {found[0].name}: {line}"


def cache_tag() -> str:
    """`0.1.15-nvrtc13.5-g++-12-3f9a01`: what decides generated code beside the request, for folder names and keys. Runs no tool."""
    cuda, cxx = tools.nvrtc_version(), tools.identity(tools.cxx())
    parts = [
        _package("tilelang") or "none",
        f"nvrtc{cuda}" if cuda else tools.identity(tools.cuda_tool("nvcc")),
        cxx,
    ]
    return re.sub(r"[^\w.+-]", "_", "-".join(parts))


def driver() -> tuple[str | None, str | None]:
    """(driver version, newest CUDA it runs): ("580.95", "13.0"); (None, None) without a driver."""
    try:
        import pynvml
    except ImportError:
        return None, None
    try:
        pynvml.nvmlInit()
    except pynvml.NVMLError:
        return None, None
    try:
        cuda = pynvml.nvmlSystemGetCudaDriverVersion()
        return str(pynvml.nvmlSystemGetDriverVersion()), f"{cuda // 1000}.{cuda % 1000 // 10}"
    except pynvml.NVMLError:
        return None, None
    finally:
        pynvml.nvmlShutdown()


def configure_environment(home: Path) -> dict[str, str]:
    """Sets what TileLang reads when it is imported, so call it before; returns what was set.

    TileLang's own cache goes under `home`, with the toolkit's version in its name, since TileLang's key leaves that out. Variables that
    the user set are kept, except where our own place is meant.
    """
    wheels = tools.wheel_home()
    wanted = {
        # TileLang's own key leaves out which CUDA compiler made the machine code, too
        "TILELANG_CACHE_DIR": str(home / "-".join(filter(None, ["tilelang", cache_tag(), settings.cuda_compiler()]))),
        # TileLang asks torch for a GPU at import; this way torch asks NVML, not CUDA, and forking stays safe.
        "PYTORCH_NVML_BASED_CUDA_CHECK": "1",
        "TILELANG_PRINT_ON_COMPILATION": "0",
    }
    if wheels and not (os.environ.get("CUDA_HOME") or os.environ.get("CUDA_PATH")):
        wanted["CUDA_HOME"] = str(wheels)
    if os.environ.get("CC") and not os.environ.get("CXX") and tools.cxx():
        wanted["CXX"] = str(tools.cxx())  # TileLang would take CC, a C compiler
    os.environ.update(wanted)
    return wanted


def _blocking() -> list[Missing]:
    """What no kernel can be run without."""
    found = []
    if _package("tilelang") is None:
        found.append(Missing("tilelang", "compiling and running kernels", "pip install 'tilelang[nvcc]'", blocks=True))
    if _package("torch") is None:
        found.append(Missing("torch", "inputs, references and baselines", "pip install torch", blocks=True))
    if tools.cxx() is None:
        named = os.environ.get("CXX")
        line = f"set CXX to one executable (it is '{named}'), or unset it" if named else tools.WHEELS["g++"]
        found.append(Missing("C++ compiler", "the CPU target, and running on a GPU", line, blocks=True))
    return found


def _places(home: Path) -> list[Missing]:
    """The folders that nothing can be compiled in."""
    tried = [("TMPDIR", scratch.outside(), "compiling"), ("TILEVIZ_HOME", home, "results, and running what is compiled")]
    return [Missing(name, use, why, blocks=True) for name, place, use in tried if (why := scratch.trouble(place, name))]


def _driver_problems() -> list[Missing]:
    version, cuda = driver()
    if version is None or cuda is None:
        return []
    toolkit = tools.nvrtc_version() or _tool_version(tools.cuda_tool("nvcc")) or "0"
    if int(toolkit.split(".")[0]) <= int(cuda.split(".")[0]):
        return []
    needed = f"an NVIDIA driver {DRIVER_FOR_CUDA_13} or newer (this one is {version}, for CUDA {cuda})"
    return [Missing("NVIDIA driver", f"running code of the CUDA {toolkit} toolkit", f"install {needed}")]


def _tool_version(path: Path | None) -> str | None:
    return None if path is None else _asked_version(path, path.stat().st_mtime)


@functools.cache
def _asked_version(path: Path, _changed: float) -> str | None:
    return tools.version_of(path)


@functools.lru_cache(maxsize=4)
def _cxx_trouble(_compiler: str, _when: int) -> str | None:
    return tools.cxx_trouble()


def _package(name: str) -> str | None:
    return _version_there(name, int(time.monotonic() / LOOKED_AT_S))


@functools.lru_cache(maxsize=32)
def _version_there(name: str, _when: int) -> str | None:
    try:
        return importlib.metadata.version(name)
    except importlib.metadata.PackageNotFoundError:
        return None
