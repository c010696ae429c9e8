"""What an engine was started with: this package's files, the versions that decide generated code,
and its environment.

One engine serves one environment: a client finds here in what it differs from the engine that is
alive.
"""

import hashlib
import json
import os
import sys
from pathlib import Path

from tileviz import settings
from tileviz.bench import facts
from tileviz.compiler import toolchain, tools

FILE_NAME = "engine.tag"

DECIDES = (
    settings.CUDA_COMPILER, "CUDA_VISIBLE_DEVICES", "CUDA_DEVICE_ORDER", "CUDA_LAUNCH_BLOCKING",
    "NVIDIA_TF32_OVERRIDE",
    "TORCH_ALLOW_TF32_CUBLAS_OVERRIDE", "CUBLAS_WORKSPACE_CONFIG", "NVCC_PREPEND_FLAGS",
    "NVCC_APPEND_FLAGS",
    "CPATH", "C_INCLUDE_PATH", "CPLUS_INCLUDE_PATH", "LIBRARY_PATH", "LD_PRELOAD",
    "OMP_NUM_THREADS", "MKL_NUM_THREADS", "NCU",
)  # fmt: skip
"""Variables that decide results by their value. PATH, CUDA_HOME, CXX and the like decide by the
tools that are found with them."""

LIBRARIES = (
    "libcuda.so*",
    "libcudart.so*",
    "libcublas.so*",
    "libcublasLt.so*",
    "libcupti.so*",
    "libnvrtc.so*",
    "libstdc++.so*",
)
"""What is loaded from LD_LIBRARY_PATH where it lies there."""

TOOLS = ("C++ compiler", *toolchain.CUDA_TOOLS)
"""Found by CXX, CUDA_HOME, CUDA_PATH and PATH."""

PACKAGE = "tileviz itself"


def engine_tag() -> dict[str, str]:
    """What an engine that is started here and now would be: `environment`, and PACKAGE. Stats
    files, reads and runs none."""
    root = Path(__file__).resolve().parents[2]
    seen = [
        f"{path.relative_to(root)} {stat.st_size} {stat.st_mtime_ns}"
        for path in sorted(root.rglob("*.py"))
        for stat in (path.stat(),)
    ]
    return {**environment(), PACKAGE: _hash(sys.executable, *seen)}


def environment() -> dict[str, str]:
    """What decides the results of a job beside the job: by name, without what is not there."""
    found = {name: os.environ.get(name, "") for name in DECIDES}
    # as `server.configure_children` sets it
    found["CUDA_DEVICE_ORDER"] = found["CUDA_DEVICE_ORDER"] or "PCI_BUS_ID"
    found["PYTHONPATH"] = os.pathsep.join(_python_path())
    # who is told to set another one does
    found["TMPDIR"] = os.path.abspath(os.environ["TMPDIR"]) if os.environ.get("TMPDIR") else ""
    found |= {
        name: tools.identity(tools.cxx() if name == TOOLS[0] else tools.cuda_tool(name))
        for name in TOOLS
    }
    found["LD_LIBRARY_PATH"] = _libraries()
    found |= {"NVRTC": tools.nvrtc_version() or "none", **facts.package_versions()}
    if "CUDA_VISIBLE_DEVICES" in os.environ and not found["CUDA_VISIBLE_DEVICES"]:
        found["CUDA_VISIBLE_DEVICES"] = "none"
    return {name: value for name, value in found.items() if value}


def differences(ours: dict[str, str], theirs: dict[str, str]) -> str:
    """In what an engine with `theirs` differs from what is asked for here, in words; "" where it
    does not."""
    other = [name for name in {**ours, **theirs} if ours.get(name) != theirs.get(name)]
    return ", ".join(_difference(name, ours.get(name), theirs.get(name)) for name in other)


def without_package(tag: dict[str, str]) -> dict[str, str]:
    """The environment in a tag."""
    return {name: value for name, value in tag.items() if name != PACKAGE}


def write_tag(home: Path, tag: dict[str, str]) -> None:
    """Leaves the tag of the engine that starts now."""
    (home / FILE_NAME).write_text(json.dumps(tag))


def read_tag(home: Path) -> dict[str, str] | None:
    """The tag of the engine of this home; None where none was left. What an older version left says
    nothing of its environment."""
    try:
        text = (home / FILE_NAME).read_text()
    except FileNotFoundError:
        return None
    try:
        return dict(json.loads(text))
    except (ValueError, TypeError):
        return {PACKAGE: text}


def _difference(name: str, ours: str | None, theirs: str | None) -> str:
    if name in TOOLS:
        return f"another {name} is found here"
    if name == "LD_LIBRARY_PATH":
        return "LD_LIBRARY_PATH leads to other libraries here"
    return f"{name} is {_said(ours)} here and {_said(theirs)} there"


def _said(value: str | None) -> str:
    return f"'{value}'" if value else "not set"


def _python_path() -> list[str]:
    """PYTHONPATH without this package's own folder, which an engine gets before the rest."""
    root = str(Path(__file__).resolve().parents[3])
    return [
        place
        for place in os.environ.get("PYTHONPATH", "").split(os.pathsep)
        if place and place != root
    ]


def _libraries() -> str:
    """A word that changes when other libraries would be loaded from LD_LIBRARY_PATH; "" where none
    lies there."""
    folders = [
        Path(place) for place in os.environ.get("LD_LIBRARY_PATH", "").split(os.pathsep) if place
    ]
    first = (
        next((found for place in folders for found in sorted(place.glob(name))), None)
        for name in LIBRARIES
    )
    there = [tools.identity(path) for path in first if path is not None and path.exists()]
    return _hash(*there) if there else ""


def _hash(*parts: str) -> str:
    return hashlib.sha256("\n".join(parts).encode()).hexdigest()[:16]
