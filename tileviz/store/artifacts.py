"""Artifact texts and binaries as files by content hash: artifacts/ab/abcdef.../source.cu,
kernel.ptx, kernel.cubin, ..."""

import contextlib
import json
import os
import shutil
import tempfile
from collections.abc import Generator
from pathlib import Path
from typing import Any

from tileviz import texts
from tileviz.errors import StoreError
from tileviz.records import Artifact

CUBIN = "kernel.cubin"
LINES = "lines.json"


class ArtifactFiles:
    """The folder. A file is written beside its place and renamed, so a reader never sees half of
    one."""

    def __init__(self, home: Path) -> None:
        self.root = home / "artifacts"

    def folder(self, key: str) -> Path:
        return self.root / key[:2] / key

    def write(self, artifact: Artifact) -> None:
        """Writes what the artifact has. Raises StoreError when the disk is full or not writable."""
        folder = self.folder(artifact.key)
        with _explained(self.root):
            folder.mkdir(parents=True, exist_ok=True)
            for file, content in contents(artifact).items():
                _replace(folder / file, content.encode())
            if artifact.cubin is not None:
                _replace(folder / CUBIN, artifact.cubin)
            if artifact.lines:
                _replace(folder / LINES, json.dumps(artifact.lines, separators=(",", ":")).encode())

    def read(self, key: str, doc: dict) -> dict:
        """The texts of an artifact by field name; a text that was never made is left out."""
        found = (self.folder(key) / name for name in file_names(doc["source_language"]).values())
        return texts_of(
            {path.name: path.read_bytes() for path in found if path.is_file()},
            doc["source_language"],
        )

    def lines(self, key: str) -> dict[str, tuple[int, ...]]:
        """The line maps of an artifact; empty when it was made without."""
        path = self.folder(key) / LINES
        return (
            {name: tuple(values) for name, values in json.loads(path.read_text()).items()}
            if path.is_file()
            else {}
        )

    def write_more(self, key: str, files: dict[str, str]) -> None:
        """Puts further files beside an artifact's own. Raises StoreError."""
        folder = self.folder(key)
        with _explained(self.root):
            folder.mkdir(parents=True, exist_ok=True)
            for name, text in files.items():
                _replace(folder / name, text.encode())

    def remove(self, key: str) -> None:
        """Deletes the files of one artifact."""
        shutil.rmtree(self.folder(key), ignore_errors=True)

    def clear(self) -> None:
        shutil.rmtree(self.root, ignore_errors=True)


def file_names(source_language: str) -> dict[str, str]:
    """The file of each text of an artifact, and of the machine code, by name."""
    return {**{text.name: text.file for text in texts.of(source_language)}, "cubin": CUBIN}


def contents(artifact: Artifact) -> dict[str, str]:
    """Every text that an artifact has, by file name."""
    found = {
        text.file: texts.content(artifact, text.name) for text in texts.of(artifact.source_language)
    }
    return {file: content for file, content in found.items() if content is not None}


def texts_of(contents: dict[str, bytes], source_language: str) -> dict[str, Any]:
    """Fields of an artifact from contents by file name; the machine code stays bytes. Raises
    ValueError for a text that is none."""
    found = {
        name: contents[file]
        for name, file in file_names(source_language).items()
        if file in contents
    }
    fields = {
        name: content if name == "cubin" else content.decode() for name, content in found.items()
    }
    own = {name: content for name, content in fields.items() if name in (*texts.FIELDS, "cubin")}
    return {**own, "more": {name: content for name, content in fields.items() if name not in own}}


def without_texts(doc: dict[str, Any]) -> dict[str, Any]:
    """The JSON of an artifact without what its files hold."""
    return {
        name: value for name, value in doc.items() if name not in (*texts.FIELDS, "more", "lines")
    }


@contextlib.contextmanager
def _explained(root: Path) -> Generator[None]:
    try:
        yield
    except OSError as error:
        raise StoreError(
            f"cannot write under {root}: {error.strerror}; free some space or set TILEVIZ_HOME",
            str(error),
        ) from error


def _replace(path: Path, content: bytes) -> None:
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(content)
        os.replace(name, path)
    except BaseException:  # Ctrl-C, too, leaves no half a file; it is raised again
        Path(name).unlink(missing_ok=True)
        raise
