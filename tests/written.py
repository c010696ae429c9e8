"""README and docs/ as the tests read them: blocks of code with what is said of them, in order."""

import re
from dataclasses import dataclass
from pathlib import Path

from tests.conftest import ROOT

PAGES = (ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md")))

NOT_RUN = {
    "network": "fetches packages",
    "server": "serves until it is stopped",
    "gpu": "needs an NVIDIA GPU",
    "long": "takes many minutes",
}
"""Words after ```sh for what no test runs; what it names is looked up all the same."""

FENCE = re.compile(r"^```(\w+)[ ]?([^\n]*)\n(.*?)^```$", re.M | re.S)


@dataclass(frozen=True)
class Block:
    """A block of code in a page: ```LANGUAGE SAID."""

    page: Path
    language: str
    said: str
    """`slow`, or a word of NOT_RUN behind `sh`; behind `python` the file that it is, or `FILE after
    LINE`; else ""."""
    text: str

    @property
    def file(self) -> str:
        """The file that it is, or that its lines belong into; "" for Python that is run, and for
        other languages."""
        return self.said.partition(" after ")[0] if self.language == "python" and self.said != "slow" else ""

    @property
    def is_run(self) -> bool:
        return self.language in ("sh", "python") and self.said not in NOT_RUN


def blocks(page: Path) -> list[Block]:
    return [Block(page, *found) for found in FENCE.findall(page.read_text(encoding="utf-8"))]


def commands(block: Block) -> list[str]:
    """The lines of a shell block, each on one line and without its comment."""
    lines = block.text.replace("\\\n", " ").splitlines()
    return [line for line in (re.sub(r"\s+#.*", "", line).strip() for line in lines) if line and not line.startswith("#")]


def place(block: Block, root: Path) -> None:
    """Writes a Python block that names a file into a copy of the repository, or its lines behind
    the line that it names."""
    name, _, after = block.said.partition(" after ")
    path = root / name
    if not after:
        assert not path.exists(), f"{block.page.name} writes {name}, which is there already"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(block.text, encoding="utf-8")
        return
    lines = path.read_text(encoding="utf-8").splitlines(keepends=True)
    found = [number for number, line in enumerate(lines) if line.strip() == after.strip()]
    assert len(found) == 1, f"{block.page.name}: '{after}' stands {len(found)} times in {name}"
    lines.insert(found[0] + 1, block.text)
    path.write_text("".join(lines), encoding="utf-8")
