"""Every command and every piece of Python in README and docs/ does what the page says; what it
names exists."""

import ast
import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests import written
from tests.conftest import ROOT
from tests.written import NOT_RUN, PAGES, Block, blocks
from tileviz.cli import arguments

COPIED = ("tileviz", "tests", "pages", "benchmarks", "app.py", "pyproject.toml", "README.md", "docs", ".streamlit")

RUN = [doc for doc in PAGES if any(block.is_run for block in blocks(doc))]


ALWAYS = ("README.md", "adding-a-strategy.md")
"""What is read first, and a page that adds a file and runs the tests of it: they are tried in every run."""


def marked(doc: Path):
    """A page is a long proof as a whole where one of its blocks is slow, but for the two of `ALWAYS`."""
    slow = any(block.said == "slow" for block in blocks(doc))
    marks = [pytest.mark.timeout(900)] if slow else []
    return pytest.param(doc, id=doc.name, marks=marks if doc.name in ALWAYS else [*marks, pytest.mark.slow] if slow else marks)


@pytest.fixture
def copy(tmp_path) -> Path:
    """A copy of what a clone holds, that a page may add to."""
    root = tmp_path / "clone"
    root.mkdir()
    for name in COPIED:
        source = ROOT / name
        if source.is_dir():
            shutil.copytree(source, root / name, ignore=shutil.ignore_patterns("__pycache__", "*.png"))
        else:
            shutil.copy(source, root / name)
    return root


def run(command: list[str], root: Path, block: Block) -> str:
    path = os.pathsep.join((str(Path(sys.executable).parent), os.environ["PATH"]))
    env = {**os.environ, "PATH": path, "PYTHONPATH": ""}
    done = subprocess.run(command, cwd=root, env=env, capture_output=True, text=True, stdin=subprocess.DEVNULL)
    assert done.returncode == 0, f"{block.page.name}:\n{block.text}\n{done.stdout[-3000:]}\n{done.stderr[-3000:]}"
    return done.stdout


@pytest.mark.parametrize("doc", map(marked, RUN))
def test_what_a_page_tells_to_do_works_in_a_clone(doc, home, copy):
    python = []
    for block in filter(lambda block: block.is_run, blocks(doc)):
        if block.language == "sh":
            run(["bash", "-euo", "pipefail", "-c", block.text], copy, block)
        elif block.file:
            written.place(block, copy)
        else:
            python.append(block)
    if python:
        run([sys.executable, "-c", "\n".join(block.text for block in python)], copy, python[0])


def not_run() -> list[Block]:
    return [block for doc in PAGES for block in blocks(doc) if block.said in NOT_RUN]


@pytest.mark.parametrize("block", not_run(), ids=lambda block: f"{block.page.name}: {block.text.splitlines()[0][:40]}")
def test_what_cannot_be_run_here_names_what_is_there(block):
    lines = [re.sub(r"--[a-z-]+ \S+", "", line) for line in written.commands(block)]  # what an option names is often made only then
    names = {path for line in lines for path in re.findall(r"[\w./-]+\.(?:py|txt|toml)", line)}
    assert all((ROOT / name).is_file() for name in names), names
    for line in written.commands(block):
        for module, rest in re.findall(r"python -m (benchmarks\.\w+)([^&|;]*)", line):
            source = (ROOT / module.replace(".", "/")).with_suffix(".py").read_text()
            options = [word for word in shlex.split(rest) if word.startswith("--")]
            assert all(f'"{option}"' in source for option in options), line


def command_lines() -> list[str]:
    """Those of pages that add nothing to the repository: the others' are known when it is added,
    and are run."""
    plain = [doc for doc in PAGES if not any(block.file for block in blocks(doc))]
    told = [line for doc in plain for block in blocks(doc) if block.language == "sh" for line in written.commands(block)]
    return [line for line in told if line.startswith("python -m tileviz ")]


@pytest.mark.parametrize("line", dict.fromkeys(command_lines()))
def test_every_command_line_is_one(line):
    words = shlex.split(re.split(r"\s[|>&]", line)[0])
    assert arguments.parser().parse_args(words[3:]).command


@pytest.mark.parametrize("doc", PAGES, ids=lambda doc: doc.name)
def test_every_block_says_what_becomes_of_it(doc):
    for block in blocks(doc):
        if block.language == "sh":
            assert block.said in ("", "slow", *NOT_RUN), f"{doc.name}: ```sh {block.said}"
        if block.language == "python" and " after " not in block.said:
            ast.parse(block.text)
    fences = doc.read_text().count("\n```")
    assert fences % 2 == 0, f"{doc.name} leaves a block open"


@pytest.mark.parametrize("doc", PAGES, ids=lambda doc: doc.name)
def test_every_link_leads_somewhere(doc):
    text = doc.read_text()
    for link in re.findall(r"\]\(([^)\s]+)\)", text):
        if link.startswith("http"):
            continue
        name, _, anchor = link.partition("#")
        target = (doc.parent / name).resolve() if name else doc
        assert target.exists(), f"{doc.name} leads to {link}"
        headings = [slug(line) for line in re.findall(r"^#+ (.*)$", target.read_text(), re.M)] if anchor else []
        assert not anchor or anchor in headings, f"{doc.name} leads to {link}"


def slug(heading: str) -> str:
    """The name that GitHub gives a heading."""
    return re.sub(r"[^\w -]", "", heading.lower()).replace(" ", "-")


@pytest.mark.parametrize("doc", PAGES, ids=lambda doc: doc.name)
def test_lines_are_short_enough_to_read_in_a_terminal(doc):
    long = [line for line in doc.read_text().splitlines() if len(line) > 120]
    assert not long, f"{doc.name}: {long[0]}"


def test_every_page_can_be_reached_from_readme():
    readme = (ROOT / "README.md").read_text()
    for doc in PAGES[1:]:
        assert f"(docs/{doc.name})" in readme, doc.name


def test_readme_can_be_read_in_two_minutes():
    assert len((ROOT / "README.md").read_text().splitlines()) <= 200


def test_the_page_on_python_names_the_whole_api():
    import tileviz

    told = (ROOT / "docs" / "python.md").read_text()
    for name in tileviz.__all__:
        assert name == "__version__" or re.search(rf"`{name}\b", told), name


def test_every_folder_that_architecture_names_exists():
    table = (ROOT / "docs" / "architecture.md").read_text().split("| folder | what is in it |")[1].split("\n\n")[0]
    for cell in re.findall(r"^\| (`[^|]+`) \|", table, re.M):
        for name in re.findall(r"`([^`]+)`", cell):
            assert (ROOT / name).exists(), name
