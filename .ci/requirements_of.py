"""Gives the build what the requirements files say, so that each version stands in one place."""

from pathlib import Path

from hatchling.metadata.plugin.interface import MetadataHookInterface

EXTRAS = ("gpu", "test")


class Requirements(MetadataHookInterface):
    """`requirements.txt` becomes the dependencies, `requirements-gpu.txt` the extra `gpu`, and so on."""

    def update(self, metadata: dict) -> None:
        root = Path(self.root)
        metadata["dependencies"] = named(root / "requirements.txt")
        metadata["optional-dependencies"] = {extra: named(root / f"requirements-{extra}.txt") for extra in EXTRAS}


def named(path: Path) -> list[str]:
    """The packages of a requirements file; comments, and lines that lead to another file, are left out."""
    lines = [line.split(" #")[0].strip() for line in path.read_text(encoding="utf-8").splitlines()]
    return [line for line in lines if line and not line.startswith(("#", "-"))]
