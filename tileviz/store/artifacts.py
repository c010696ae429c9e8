"""Artifact texts and binaries as files by content hash: artifacts/ab/abcdef.../source.cu, kernel.ptx, kernel.cubin, kernel.sass."""

import os
import shutil
import tempfile
from pathlib import Path

from tileviz.errors import StoreError
from tileviz.records import Artifact

FILES = {"ptx": "kernel.ptx", "sass": "kernel.sass", "cubin": "kernel.cubin"}
SOURCES = {"cuda": "source.cu", "c": "source.c"}


class ArtifactFiles:
    """The folder. A file is written beside its place and renamed, so a reader never sees half of one."""

    def __init__(self, home: Path) -> None:
        self.root = home / "artifacts"

    def folder(self, key: str) -> Path:
        return self.root / key[:2] / key

    def write(self, artifact: Artifact) -> None:
        """Writes what the artifact has. Raises StoreError when the disk is full or not writable."""
        folder = self.folder(artifact.key)
        try:
            folder.mkdir(parents=True, exist_ok=True)
            _replace(folder / SOURCES[artifact.source_language], artifact.source.encode())
            for name, file in FILES.items():
                content = getattr(artifact, name)
                if content is not None:
                    _replace(folder / file, content if isinstance(content, bytes) else content.encode())
        except OSError as error:
            raise StoreError(f"cannot write under {self.root}: {error.strerror}; free some space or set TILEVIZ_HOME", str(error)) from error

    def read(self, key: str, doc: dict) -> dict:
        """The texts of an artifact by field name; a text that was never made is left out."""
        folder = self.folder(key)
        found = {"source": folder / SOURCES[doc["source_language"]], **{name: folder / file for name, file in FILES.items()}}
        texts = {}
        for name, path in found.items():
            if path.is_file():
                texts[name] = path.read_bytes() if name == "cubin" else path.read_text()
        return texts

    def clear(self) -> None:
        shutil.rmtree(self.root, ignore_errors=True)


def _replace(path: Path, content: bytes) -> None:
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(content)
        os.replace(name, path)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise
