"""Finds the outside tools: nvcc, ptxas, cuobjdump, nvdisasm, NVRTC with its headers, and a C++ compiler.

Looked for in this order: CUDA_HOME (or CUDA_PATH), the wheels beside this Python, PATH, /usr/local/cuda. A tool that is not there is a
ToolMissing error with the line that gets it.
"""

import functools
import hashlib
import importlib.util
import os
import re
import shutil
import signal
import subprocess
import tempfile
from dataclasses import dataclass
from pathlib import Path

from tileviz.errors import ToolMissing

WHEELS = {
    "nvcc": "pip install nvidia-cuda-nvcc nvidia-cuda-cccl",
    "ptxas": "pip install nvidia-cuda-nvcc",
    "cuobjdump": "pip install nvidia-cuda-cuobjdump",
    "nvdisasm": "pip install nvidia-cuda-nvdisasm",
    "NVRTC": "pip install nvidia-cuda-nvrtc nvidia-cuda-cccl nvidia-cuda-runtime",
    "g++": "apt-get install g++",
}
"""The one line that gets each tool."""


@dataclass(frozen=True)
class Nvrtc:
    """The NVRTC library and the headers that go with it."""

    library: Path
    includes: tuple[Path, ...]


def missing(name: str, use: str = "") -> ToolMissing:
    """`nvdisasm not found: pip install nvidia-cuda-nvdisasm, or set CUDA_HOME`"""
    if name == "g++":
        return ToolMissing(f"no C++ compiler found{use and f', needed to {use}'}: {WHEELS[name]}, or set CXX")
    return ToolMissing(f"{name} not found{use and f', needed to {use}'}: {WHEELS[name]}, or set CUDA_HOME")


def require(name: str, use: str = "") -> Path:
    """Path of a CUDA tool. Raises ToolMissing."""
    found = cuda_tool(name)
    if found is None:
        raise missing(name, use)
    return found


def cuda_tool(name: str) -> Path | None:
    """Path of nvcc, ptxas, cuobjdump or nvdisasm, or None."""
    for root in cuda_roots():
        path = root / "bin" / name
        if os.access(path, os.X_OK) and path.is_file():
            return path
    on_path = shutil.which(name)
    return Path(on_path) if on_path else None


def cxx() -> Path | None:
    """The C++ compiler: CXX when set, which must name one executable, else g++, clang++ or c++ on PATH."""
    named = os.environ.get("CXX")
    found = next(filter(None, map(shutil.which, (named,) if named else ("g++", "clang++", "c++"))), None)
    return Path(found).absolute() if found else None


def require_cxx(use: str) -> Path:
    """The C++ compiler. Raises ToolMissing, which says how to get one."""
    named = os.environ.get("CXX")
    found = cxx()
    if found is None and named:
        raise ToolMissing(f"CXX is '{named}', which is not an executable file: set it to one C++ compiler, without options, or unset it")
    if found is None:
        raise missing("g++", use)
    return found


def cxx_trouble() -> str | None:
    """Why the C++ compiler that is there makes nothing, in one sentence with its own words; None when it builds a library of one function.

    It may be the driver alone, which answers `--version`, without the compiler proper, the assembler, the linker or the headers.
    """
    compiler = cxx()
    if compiler is None:
        return None
    with tempfile.TemporaryDirectory(prefix="tileviz-cxx-") as folder:
        source, library = Path(folder, "tried.cpp"), Path(folder, "tried.so")
        source.write_text(_TRIED)
        said = _ask([compiler, "-shared", "-fPIC", "-o", library, source], 15, subprocess.STDOUT)
        made = library.is_file()
    if made:
        return None
    words = ["it does not answer"] if said is None else [line.strip() for line in said.splitlines() if line.strip()]
    telling = next((line for line in words if "error" in line), words[0] if words else "it died without a word")
    return f"{compiler} cannot compile a program of one line ({telling.split('error: ', 1)[-1]}): {WHEELS['g++']}, or set CXX"


_TRIED = '#include <cmath>\n#include <cstdint>\nextern "C" double tried(double x) { return std::sqrt(x); }\n'


def from_here() -> dict[str, str]:
    """The environment variables that name places from the current folder, with whole paths: for a process that works in another one."""
    lists = {name: os.environ[name].split(os.pathsep) for name in ("PATH", *_FOLDERS) if os.environ.get(name)}
    if os.sep in os.environ.get("CXX", ""):
        lists["CXX"] = [os.environ["CXX"]]
    return {name: os.pathsep.join(map(os.path.abspath, places)) for name, places in lists.items()}


_FOLDERS = ("CUDA_HOME", "CUDA_PATH", "TMPDIR")


def nvrtc() -> Nvrtc:
    """NVRTC and headers of the same major version. Raises ToolMissing."""
    library = _nvrtc_library()
    if library is None:
        raise missing("NVRTC")
    soname = re.search(r"\.so\.(\d+)", library.name)
    if soname is None:
        raise missing("NVRTC")
    major = int(soname[1])
    for includes, version in _include_dirs(first=library.parent.parent):
        if version[0] == major:
            return Nvrtc(library, includes)
    raise ToolMissing(f"the CUDA {major} headers that go with {library.name} were not found: {WHEELS['NVRTC']}, or set CUDA_HOME")


def nvrtc_version() -> str | None:
    """`13.5`, from the name of the file beside the library, without loading it; None when NVRTC or its headers are missing."""
    try:
        found = nvrtc()
    except ToolMissing:
        return None
    # libnvrtc-builtins.so.13.5
    names = [re.search(r"\.so\.(\d+\.\d+)", path.name) for path in found.library.parent.glob("libnvrtc-builtins.so.*")]
    known = [name[1] for name in names if name]
    if known:
        return known[0]
    version = _header_version(found.includes[0] / "cuda.h")
    return version and "{}.{}".format(*version)


def identity(path: Path | None) -> str:
    """A word that changes when the tool does: its real name with a hash of place, size and date. Runs nothing."""
    if path is None:
        return "none"
    real = path.resolve()
    facts = real.stat()
    mark = hashlib.sha256(f"{real} {facts.st_size} {facts.st_mtime_ns}".encode()).hexdigest()[:6]
    return f"{real.name}-{mark}"


def wheel_home() -> Path | None:
    """The CUDA root that the wheels make, when it holds nvcc; else None."""
    return next((root for root in _wheel_roots() if (root / "bin" / "nvcc").is_file()), None)


def cuda_roots() -> tuple[Path, ...]:
    """Every CUDA root there is, best first."""
    named = [os.environ.get(name) for name in ("CUDA_HOME", "CUDA_PATH")]
    on_path = shutil.which("nvcc")
    roots = [Path(name).absolute() for name in named if name]
    roots += _wheel_roots()
    roots += [Path(on_path).resolve().parent.parent] if on_path else []
    roots += [Path("/usr/local/cuda"), *sorted(Path("/usr/local").glob("cuda-*"), reverse=True)]
    return tuple(dict.fromkeys(root for root in roots if root.is_dir()))


def version_of(path: Path | None) -> str | None:
    """What `TOOL --version` says: `13.5`, `12.2.0`; None when the tool is missing or does not answer."""
    said = None if path is None else _ask([path, "--version"], 5)
    return None if said is None else parse_version(said)


def _ask(command: list, seconds: float, stderr: int = subprocess.DEVNULL) -> str | None:
    """What a tool prints; None when it cannot be started, or does not end in time."""
    try:
        asked = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=stderr, text=True, errors="replace", start_new_session=True)
    except OSError:
        return None
    try:
        return asked.communicate(timeout=seconds)[0]
    except subprocess.TimeoutExpired:
        os.killpg(asked.pid, signal.SIGKILL)  # with what it started: a wrapper's child would stay behind
        asked.communicate()
        return None


def parse_version(text: str) -> str | None:
    """The version in what a tool prints about itself."""
    return next((match[1] for pattern in _VERSIONS if (match := pattern.search(text))), None)


_VERSIONS = (
    re.compile(r"\bV(\d+\.\d+\.\d+)\b"),  # Cuda compilation tools, release 13.5, V13.5.37
    re.compile(r"release (\d+\.\d+)"),
    re.compile(r"\A[^\n]*\) (\d+\.\d+\.\d+)"),  # g++ (Debian 12.2.0-14) 12.2.0
    re.compile(r"version (\d+\.\d+(?:\.\d+)?)"),  # clang version 17.0.6
)


@functools.cache
def _wheel_roots() -> tuple[Path, ...]:
    spec = importlib.util.find_spec("nvidia")
    places = list(spec.submodule_search_locations or ()) if spec else []
    return tuple(sorted((Path(root) for place in places for root in Path(place).glob("cu1[2-9]")), reverse=True))


def _nvrtc_library() -> Path | None:
    for root in cuda_roots():
        for folder in ("lib", "lib64", "targets/x86_64-linux/lib", "targets/sbsa-linux/lib"):
            found = sorted((root / folder).glob("libnvrtc.so.[0-9]*"))
            if found:
                return found[0]
    return None


def _include_dirs(first: Path):
    """(folders, (major, minor)) of each CUDA root whose headers are complete; the root `first` comes first."""
    for root in dict.fromkeys((first, *cuda_roots())):
        include = root / "include"
        folders = tuple(folder for folder in (include, include / "cccl") if folder.is_dir())
        standard = any((folder / "cuda/std/cstdint").is_file() for folder in folders)
        version = _header_version(include / "cuda.h")
        if standard and version and (include / "cuda_fp16.h").is_file():
            yield folders, version


@functools.cache
def _header_version(path: Path) -> tuple[int, int] | None:
    # #define CUDA_VERSION 13050
    if not path.is_file():
        return None
    match = re.search(r"#define\s+CUDA_VERSION\s+(\d+)", path.read_text(errors="replace"))
    return (int(match[1]) // 1000, int(match[1]) % 1000 // 10) if match else None
