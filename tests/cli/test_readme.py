"""What the README says is so."""

import re
import shlex
import shutil

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


def test_its_example_kernel_needs_its_file_and_its_line_alone(home, tmp_path):
    shutil.copytree(ROOT / "tileviz", tmp_path / "copy" / "tileviz", ignore=shutil.ignore_patterns("__pycache__"))
    kernels = tmp_path / "copy" / "tileviz" / "kernels"
    program, line = (block for block in blocks("python") if "relu" in block)
    (kernels / "relu.py").write_text(program)
    registry = kernels / "__init__.py"
    registry.write_text(registry.read_text().replace("MODULES = {\n", f"MODULES = {{\n{line}", 1))
    done = tileviz("run", "relu", "-p", "N=10007", "--device", "cpu", "--json", cwd=tmp_path / "copy")
    assert done.status == 0, done.err
    assert done.json["verdict"]["ok"] and [b["name"] for b in done.json["baselines"]] == ["eager"]
    gpu = tileviz("compile", "relu", "-p", "dtype=bfloat16", "--target", "sm_90a", "--emit", "source", cwd=tmp_path / "copy")
    assert "relu_kernel" in gpu.out
