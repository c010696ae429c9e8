"""What the README says is so."""

import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.conftest import ROOT, tileviz
from tileviz.cli import arguments

README = (ROOT / "README.md").read_text()


def blocks(language: str) -> list[str]:
    """The code blocks of the README in a language."""
    return re.findall(rf"^```{language}\n(.*?)^```", README, re.M | re.S)


def commands() -> list[str]:
    return [line.split("#")[0].strip() for block in blocks("sh") for line in block.splitlines() if line.startswith("python -m tileviz")]


@pytest.mark.parametrize("line", commands())
def test_every_command_line_of_the_readme_is_one(line):
    asked = arguments.parser().parse_args(shlex.split(line)[3:])
    assert asked.command in ("doctor", "kernels", "run", "compile", "show", "sweep", "diff", "export", "import", "presets", "delete")


def test_both_start_commands_name_files_that_exist():
    start = "\n".join(blocks("sh"))
    for name in ("requirements.txt", "requirements-test.txt", "app.py", ".ci/needs"):
        assert name in start and (ROOT / name).is_file()
    assert "python -m pytest" in start and "\npython -m pytest\n" in (ROOT / ".ci" / "run").read_text()


def test_every_environment_variable_it_names_is_read_somewhere():
    code = "\n".join(path.read_text() for folder in ("tileviz", "tests", "pages") for path in (ROOT / folder).rglob("*.py"))
    for name in re.findall(r"^\| `([A-Z_]+)(?:=1)?` \|", README, re.M):
        assert f'"{name}"' in code, f"{name} is in the README, and nothing reads it"


def test_every_folder_it_names_exists():
    for cell in re.findall(r"^\| (`[^|]+`) \|", README.split("## Folders")[1].split("##")[0], re.M):
        for name in re.findall(r"`([^`]+)`", cell):
            assert (ROOT / name).exists(), name


@pytest.fixture
def with_example(tmp_path) -> Path:
    """A copy of the project, with the example kernel's file, and its line at the end of MODULES."""
    copy = tmp_path / "copy"
    for folder in ("tileviz", "tests"):
        shutil.copytree(ROOT / folder, copy / folder, ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(ROOT / "pyproject.toml", copy)
    program, line = (block for block in blocks("python") if "relu" in block)
    (copy / "tileviz" / "kernels" / "relu.py").write_text(program)
    registry = copy / "tileviz" / "kernels" / "__init__.py"
    registered = re.sub(
        r"^MODULES = \{\n(.*?)^\}", lambda found: f"MODULES = {{\n{found[1]}{line}}}", registry.read_text(), flags=re.M | re.S
    )
    assert registered != registry.read_text()
    registry.write_text(registered)
    return copy


def test_its_example_kernel_needs_its_file_and_its_line_alone(home, with_example):
    done = tileviz("run", "relu", "-p", "N=10007", "--device", "cpu", "--json", cwd=with_example)
    assert done.status == 0, done.err
    assert done.json["verdict"]["ok"] and [b["name"] for b in done.json["baselines"]] == ["eager"]
    gpu = tileviz("compile", "relu", "-p", "dtype=bfloat16", "--target", "sm_90a", "--emit", "source", cwd=with_example)
    assert "relu_kernel" in gpu.out


def test_its_example_kernel_passes_the_contract_tests_as_they_are(with_example):
    contract = "tests/kernels/test_contract.py"
    asked = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", contract, "-k", "relu or registry"]
    done = subprocess.run(asked, cwd=with_example, capture_output=True, text=True)
    assert done.returncode == 0 and re.search(r"^[2-9]\d passed", done.stdout, re.M), done.stdout[-3000:] + done.stderr[-1000:]
