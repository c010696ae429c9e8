"""Where everything of ours lives: TILEVIZ_HOME, by default ~/.cache/tileviz."""

import os
from pathlib import Path

from tileviz.errors import StoreError

# file systems on which WAL and file locks cannot be trusted between hosts
NETWORK_FILE_SYSTEMS = (
    "nfs",
    "nfs4",
    "cifs",
    "smb3",
    "smbfs",
    "lustre",
    "beegfs",
    "fuse.sshfs",
    "9p",
    "ceph",
    "glusterfs",
    "gpfs",
    "afs",
)


WRITTEN = ("", "store.db", "engine.lock", "engine.log", "engine.tag", "artifacts", "inductor")
"""What is written in a home, the folder itself first: one command as another user leaves files
there that refuse the next."""

LEAST_FREE_BYTES = 1 << 16
"""With less than this the disk of a home is full."""

MENDED = "set TILEVIZ_HOME to a folder you can write to"


def tileviz_home() -> Path:
    """The folder, made when missing. Raises StoreError when it cannot be made, or not be used by
    this user."""
    try:
        home = (
            Path(os.environ.get("TILEVIZ_HOME") or Path.home() / ".cache" / "tileviz")
            .expanduser()
            .absolute()
        )
    except RuntimeError as error:
        raise StoreError(f"user {os.getuid()} has no home folder: {MENDED}") from error
    try:
        home.mkdir(parents=True, exist_ok=True, mode=0o700)
    except OSError as error:
        raise StoreError(f"cannot make {home}: {error.strerror}; {MENDED}") from error
    refused = next((home / name for name in WRITTEN if not _is_usable(home / name)), None)
    if refused is not None:
        raise StoreError(
            f"user {os.getuid()} may not read and write {refused}, which belongs to"
            f" {_owner(refused)}; {MENDED}"
        )
    return home


def home_for_others(home: Path) -> dict[str, str]:
    """HOME for what runs beside us and stops without one: our own folder, where this user has none.
    Empty where there is one."""
    try:
        Path.home()
    except RuntimeError:
        return {"HOME": str(home)}
    return {}


def is_full(home: Path) -> bool:
    """Whether the disk that holds it has no room for a row more; False of a home that is gone."""
    try:
        disk = os.statvfs(home)
    except OSError:
        return False
    return disk.f_bavail * disk.f_frsize < LEAST_FREE_BYTES


def full_words(home: Path) -> str:
    """What to do about a full disk."""
    return (
        f"the disk that holds {home} is full; free some space, then run again: what"
        " was stored before is kept"
    )


def _is_usable(path: Path) -> bool:
    """Whether this user may read and write it; true of what is not there (yet, or any more)."""
    return os.access(
        path, os.R_OK | os.W_OK, effective_ids=os.access in os.supports_effective_ids
    ) or not os.path.exists(path)


def _owner(path: Path) -> str:
    try:
        return path.owner()
    except KeyError:
        return f"user {path.stat().st_uid}"


def file_system(path: Path) -> str:
    """Type of the file system that holds `path` (`ext4`, `nfs4`, ...), or `unknown` where
    /proc/mounts does not tell."""
    mounts = Path("/proc/mounts")
    if not mounts.is_file():
        return "unknown"
    best, kind = "", "unknown"
    for line in mounts.read_text(errors="replace").splitlines():
        parts = line.split()
        if len(parts) < 3:
            continue
        point = parts[1].replace("\\040", " ")
        if (str(path) == point or str(path).startswith(point.rstrip("/") + "/")) and len(
            point
        ) >= len(best):
            best, kind = point, parts[2]
    return kind


def network_warning(path: Path) -> str | None:
    """A sentence when `path` is on a network file system, else None."""
    kind = file_system(path)
    if kind in NETWORK_FILE_SYSTEMS:
        return (
            f"{path} is on {kind}, where SQLite's locks cannot be trusted; set"
            " TILEVIZ_HOME to a local folder, one store a host"
        )
    return None
