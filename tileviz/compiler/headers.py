"""TileLang's CUDA templates as a precompiled header, so that NVRTC compiles a kernel in about half a second.

Tried with NVRTC 13.5: one header holds all that TileLang includes, whatever the kernel, because the same lines open every text and the
text's own includes then do nothing. A header is tied to the address that the library is loaded at: it serves the process that loaded
NVRTC before forking and all its children, not a process started afresh, where NVRTC silently reads the templates again. It is also
tied to the architecture and to --use_fast_math, but not to options of ptxas. It takes 70 to 270 MB of disk and 0.5 to 2 s to make.
So a fork server opens a store for them, a child of it makes one in the background, and later children use it.

To read a header costs a compile more than the kernel itself, so Hopper has a second, lean one, half as large: without the tensor-core
instructions of unusual widths. It serves the texts that use none of them, and they become the same code.
"""

import atexit
import functools
import hashlib
import importlib.util
import os
import re
import shutil
from dataclasses import dataclass
from pathlib import Path

from tileviz.compiler.targets import capability
from tileviz.errors import ToolMissing

HEAP_BYTES = 512 << 20
"""Address space that NVRTC keeps for a header: the largest (sm_90a) needs 434 MB."""

WGMMA = "tl_templates/cuda/instruction/wgmma.h"
USUAL_WIDTHS = (8, 16, 32, 64, 96, 128, 192, 256)

# What TileLang 0.1.15 includes for each architecture, from the texts of its kernels.
COMMON = ("reduce", "scan", "ldsm", "threadblock_swizzle", "debug")
BY_ARCH = (
    ((9, 1), ("instruction/mma", "intrin", "barrier", "copy_sm90", "copy_sm100")),
    ((9, 0), ("instruction/wgmma", "instruction/mma", "intrin", "barrier", "copy", "copy_sm90")),
    ((8, 0), ("instruction/mma", "copy")),
    ((7, 5), ("instruction/mma",)),
    ((7, 0), ()),
)

# TileLang writes std::numeric_limits<half_t>, which NVRTC has under other names only.
_LIMITS = "template <> struct numeric_limits<::cutlass::{0}> : ::cutlass::platform::numeric_limits<::cutlass::{0}> {{}};\n"
NVRTC_STD = (
    "namespace std {\ntemplate <class T> struct numeric_limits : ::cuda::std::numeric_limits<T> {};\n"
    + "".join(_LIMITS.format(dtype) for dtype in ("half_t", "bfloat16_t"))
    + "}\n"
)

_store: Path | None = None


@dataclass(frozen=True)
class Header:
    """A precompiled header, and the folders of its own that must be looked through first."""

    path: Path
    folders: tuple[Path, ...] = ()


def open_store(root: Path) -> None:
    """Keeps headers under `root`/<process id> from now on, until this process ends."""
    global _store
    clear_dead(root)
    _store = root / str(os.getpid())
    _store.mkdir(parents=True, exist_ok=True)
    atexit.register(close_store)


def close_store() -> None:
    """Forgets the headers, and clears them when this process is the one that keeps them."""
    global _store
    if _store and _store.name == str(os.getpid()):
        shutil.rmtree(_store, ignore_errors=True)
    _store = None


def clear_dead(root: Path) -> None:
    """Clears what processes that are gone left under `root`."""
    for old in root.glob("*"):
        if old.name.isdigit() and not _is_alive(old.name):
            shutil.rmtree(old, ignore_errors=True)


def _is_alive(process_id: str) -> bool:
    """Whether a process runs; one that ended and was not waited for does not."""
    try:
        # 4711 (python) S 1 4711 ...
        state = Path(f"/proc/{process_id}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return False
    return state not in "ZX"


def ready(arch: str, flags: tuple[str, ...] = ()) -> Header | None:
    """The whole header for an architecture and flags, or None: NVRTC does without."""
    return _found(path_of(arch, flags))


def lean(arch: str, flags: tuple[str, ...], source: str) -> Header | None:
    """The lean header, where it is there and the text needs no more than it holds, as far as can be told without compiling."""
    path, folder = path_of(arch, flags, "-lean"), lean_folder()
    if path is None or folder is None or not set(_widths(source)) <= set(USUAL_WIDTHS):
        return None
    return _found(path, (folder,))


def _found(path: Path | None, folders: tuple[Path, ...] = ()) -> Header | None:
    if path is None or not path.is_file():
        return None
    path.touch()
    return Header(path, folders)


def lean_folder() -> Path | None:
    """Where the templates that a lean header is made of are kept; None without a store."""
    return _store / "lean" if _store is not None else None


# tl::wgmma_ss<tl::DataType::kFloat16, tl::DataType::kFloat16, tl::DataType::kFloat32, 64, 256, 16, false, true, 1, 1>(
_CALL = re.compile(r"\bwgmma_[rs]s<[^>]*?,\s*64,\s*(\d+),")


def _widths(source: str) -> list[int]:
    return [int(width) for width in _CALL.findall(source)]


def prefix(arch: str) -> str:
    """The lines that open every text: they must be the same for a header to be used."""
    return _prefix(arch) + NVRTC_STD + '#line 1 "kernel.cu"\n'


def template_dirs() -> tuple[Path, ...]:
    """TileLang's own include folders."""
    spec = importlib.util.find_spec("tilelang")
    if spec is None or spec.origin is None:
        raise ToolMissing("TileLang is not installed: pip install 'tilelang[nvcc]'")
    root = Path(spec.origin).parent
    return root / "src", root / "3rdparty/cutlass/include"


@functools.cache
def _prefix(arch: str) -> str:
    wanted = next((names for least, names in BY_ARCH if capability(arch) >= least), ())
    folder = template_dirs()[0] / "tl_templates/cuda"
    names = [name for name in ("nvrtc_std", *wanted, *COMMON) if (folder / f"{name}.h").is_file()]
    return "".join(f"#include <tl_templates/cuda/{name}.h>\n" for name in names) + "#pragma nv_hdrstop\n"


def path_of(arch: str, flags: tuple[str, ...], kind: str = "") -> Path | None:
    """Where the header for an architecture and flags is kept, `-lean` for the lean one; None without a store."""
    if _store is None:
        return None
    kept_for = " ".join(flag for flag in flags if not flag.startswith("--ptxas-options"))
    return _store / f"{arch}-{hashlib.sha256(kept_for.encode()).hexdigest()[:8]}{kind}.pch"
