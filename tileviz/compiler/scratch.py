"""Where compilers leave what they do not clear: a folder of the engine's own in TMPDIR, with one in it for each child.

A child empties its own after each job, and the engine removes it when the child is dead. What an engine that was killed left is found by
the link `scratch` in its home and removed by the next one.
"""

import contextlib
import os
import shutil
import tempfile
from collections.abc import Generator
from pathlib import Path

from tileviz.errors import StoreError

LINK = "scratch"
"""Name of the link in the home that tells where the folder is."""

PREFIX = "tileviz-"
HOME = "home"
"""Link in the folder that leads to the home, by a path in which every letter is plain."""

VARIABLE = "TILEVIZ_SCRATCH"
"""Tells the children where the engine's folder is."""

LEAST_ROOM = 16 << 20
"""Bytes that a compile may take in TMPDIR for a while: nvcc's preprocessed text is most of it."""
NO_ROOM = 1 << 20
"""With less than this a disk is full, and what failed on it failed for that."""


@contextlib.contextmanager
def opened(home: Path) -> Generator[Path]:
    """Makes the engine's folder, which is TMPDIR for all that it starts; afterwards it is gone, and the environment as it was before.

    For the one that holds the engine's lock. Raises StoreError where no folder can be made.
    """
    link, before = home / LINK, dict(os.environ)
    _clear(link)
    folder = _made(home)
    with contextlib.suppress(OSError):  # a full disk: then nobody finds the folder of an engine that is killed
        link.symlink_to(folder)
    _work_in(folder)
    os.environ[VARIABLE] = str(folder)
    try:
        yield folder
    finally:
        os.environ.clear()
        os.environ.update(before)
        tempfile.tempdir = None
        shutil.rmtree(folder, ignore_errors=True)
        link.unlink(missing_ok=True)


def enter() -> None:
    """Gives this child a folder of its own as TMPDIR; where no engine made one, nothing changes."""
    own = _of_child(os.getpid())
    if own is not None:
        with contextlib.suppress(OSError):
            own.mkdir(exist_ok=True)
            _work_in(own)


def empty() -> None:
    """Removes what this child's job left."""
    own = _of_child(os.getpid())
    if own is not None and own.is_dir():
        for left in own.iterdir():
            _remove(left)


def forget(pid: int) -> None:
    """Removes the folder of a child that is dead."""
    own = _of_child(pid)
    if own is not None:
        _remove(own)


def outside() -> Path:
    """The folder for temporary files that this process, or its engine, was started with: TMPDIR where that names one, even a full one,
    which Python alone would pass over."""
    folder, named = os.environ.get(VARIABLE), os.environ.get("TMPDIR")
    if folder:
        return Path(folder).parent
    return Path(named).absolute() if named and os.path.isdir(named) else Path(tempfile.gettempdir())


def trouble(place: Path, name: str, least: int = LEAST_ROOM, *, loads: bool = True) -> str | None:
    """Why compilers cannot work in a folder, in one sentence that calls it by its variable; None when they can. `loads`: what is compiled
    there is run, too."""
    elsewhere = f"set {name} to another folder"
    try:
        facts = os.statvfs(place)
        free = facts.f_bavail * facts.f_frsize
        if free < least:
            room = f"free some space ({least >> 20} MiB at least)"
            return f"the disk that holds {name} ({place}) is full, with {free >> 10:,} KiB free: {room}, or {elsewhere}"
        with tempfile.TemporaryFile(dir=place) as file:
            file.write(b"\0" * 4096)
    except OSError as error:
        return f"{name} ({place}) cannot be written to, {error.strerror}: {elsewhere}"
    if loads and facts.f_flag & os.ST_NOEXEC:
        return f"{name} ({place}) is mounted noexec, and what is compiled there cannot be loaded: {elsewhere}"
    return None


def trouble_behind(said: str) -> str | None:
    """Why the folders that a compiler works in made it fail, when they did; `said` is what it, or the system's loader, printed."""
    least = LEAST_ROOM if any(words in said for words in ("No space left", "Disk quota exceeded")) else NO_ROOM
    loads = "failed to map segment" in said
    cache = os.environ.get("TILELANG_CACHE_DIR")
    places = [(outside(), "TMPDIR"), *([(Path(cache).parent, "TILEVIZ_HOME")] if cache else [])]
    return next(filter(None, (trouble(place, name, least, loads=loads) for place, name in places if place.is_dir())), None)


def _made(home: Path) -> Path:
    try:
        folder = Path(tempfile.mkdtemp(prefix=PREFIX, dir=outside()))
        (folder / HOME).symlink_to(home)
    except OSError as error:
        raise StoreError(f"no folder can be made for what compilers need for a while: {error.strerror}; set TMPDIR to one") from error
    return folder


def _of_child(pid: int) -> Path | None:
    folder = os.environ.get(VARIABLE)
    return Path(folder) / str(pid) if folder else None


def _work_in(folder: Path) -> None:
    os.environ["TMPDIR"] = str(folder)
    tempfile.tempdir = None  # Python's own memory of it


def _clear(link: Path) -> None:
    """Removes the folder that the link names, when it is of this home and this user, and the link."""
    with contextlib.suppress(OSError):
        folder = link.readlink()
        if folder.name.startswith(PREFIX) and (folder / HOME).readlink() == link.parent and folder.lstat().st_uid == os.getuid():
            shutil.rmtree(folder, ignore_errors=True)
    link.unlink(missing_ok=True)


def _remove(place: Path) -> None:
    if place.is_dir() and not place.is_symlink():
        shutil.rmtree(place, ignore_errors=True)
        return
    with contextlib.suppress(OSError):
        place.unlink()
