"""Makes the precompiled headers that `headers` keeps, with NVRTC itself."""

import fcntl
import os
import re
from pathlib import Path

from tileviz.compiler import headers, nvrtc
from tileviz.compiler.targets import capability
from tileviz.errors import CompileFailed

KEPT = 4
"""Headers kept at a time; the longest unused goes first."""

EXTRA = "#include <cute/arch/mma_sm90_gmma_ext.hpp>"
"""What holds the unusual widths, and is most of what a header of Hopper holds."""


def make(arch: str, flags: tuple[str, ...] = ()) -> Path | None:
    """The headers for an architecture and flags, made when absent: a lean one where there is such, and the whole one, which it gives.
    One process makes them at a time.

    None when it cannot be had: no store, made elsewhere right now, no room on the disk, templates that do not go together.
    """
    if (folder := headers.lean_folder()) is not None and capability(arch) == (9, 0) and _write_lean(folder):
        _make(headers.path_of(arch, flags, "-lean"), arch, flags, folder)
    return _make(headers.path_of(arch, flags), arch, flags)


def _make(path: Path | None, arch: str, flags: tuple[str, ...], *folders: Path) -> Path | None:
    if path is None or path.is_file():
        return path
    part = path.with_suffix(f".part{os.getpid()}")
    try:
        with open(path.with_suffix(".lock"), "w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            nvrtc.make_header(arch, flags, str(part), *folders)
            part.rename(path)
            _forget_oldest(path.parent)
            return path
    except (CompileFailed, OSError):
        part.unlink(missing_ok=True)
        return None


def _write_lean(folder: Path) -> bool:
    """Writes TileLang's wgmma.h with the usual widths alone, line by line the same; False where that file is not as it is known."""
    place = folder / headers.WGMMA
    if place.is_file():
        return True
    try:
        text = (headers.template_dirs()[0] / headers.WGMMA).read_text()
    except OSError:
        return False
    if EXTRA not in text or '#include "../common.h"' not in text or not _WIDTH.search(text):
        return False
    text = text.replace(EXTRA, "").replace('#include "../common.h"', "#include <tl_templates/cuda/common.h>")
    place.parent.mkdir(parents=True, exist_ok=True)
    part = place.with_suffix(f".part{os.getpid()}")
    part.write_text(_WIDTH.sub(lambda found: found[0] if int(found[1]) in headers.USUAL_WIDTHS else found[2] or "", text))
    part.rename(place)
    return True


# One width in a list that a macro writes out:   OP(24)                    \
_WIDTH = re.compile(r"^  OP\((\d+)\)( *\\)?$", re.M)


def _forget_oldest(folder: Path) -> None:
    by_use = sorted(folder.glob("*.pch"), key=lambda file: file.stat().st_mtime)
    for old in by_use[:-KEPT]:
        old.unlink(missing_ok=True)
