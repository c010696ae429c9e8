"""What an engine was started with: this package's files, the versions that decide generated code, and the interpreter."""

import hashlib
import sys
from pathlib import Path

from tileviz.compiler import toolchain

FILE_NAME = "engine.tag"


def engine_tag() -> str:
    """Changes when a file of the package changes, or the compilers found here do. Stats files, reads none."""
    root = Path(__file__).resolve().parents[1]
    seen = [f"{path.relative_to(root)} {stat.st_size} {stat.st_mtime_ns}" for path in sorted(root.rglob("*.py")) for stat in (path.stat(),)]
    return hashlib.sha256("\n".join([sys.executable, toolchain.cache_tag(), *seen]).encode()).hexdigest()[:16]


def write_tag(home: Path) -> None:
    """Leaves the tag of the engine that starts now."""
    (home / FILE_NAME).write_text(engine_tag())


def is_current(home: Path) -> bool:
    """Whether the engine of this home was started with what is here now; true where no tag was left."""
    path = home / FILE_NAME
    return not path.is_file() or path.read_text() == engine_tag()
