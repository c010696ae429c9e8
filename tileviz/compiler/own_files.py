"""Files of ours that run while a tile program becomes an artifact: a change of one may change what is stored."""

import functools
import hashlib
from pathlib import Path

PACKAGE = Path(__file__).parent.parent

FOLDERS = ("compiler", "texts")
"""What is a kernel's own, with the toolkit's files that its program needs, is in the kernel's `source_hash`."""


def paths() -> list[Path]:
    """All of them, in a fixed order."""
    return [path for name in FOLDERS for path in sorted((PACKAGE / name).glob("*.py"))]


@functools.cache
def made_by() -> str:
    """A hash of what they say, as this process found it first: what it has loaded does not change when a file is edited."""
    return hashlib.sha256(b"".join(path.read_bytes() for path in paths())).hexdigest()[:16]
