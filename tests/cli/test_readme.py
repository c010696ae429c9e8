"""What the README says is so; its commands are run with those of docs/ (tests/test_docs.py)."""

import re

from tests.conftest import ROOT
from tests.written import blocks, commands

README = ROOT / "README.md"
TEXT = README.read_text()


def test_both_start_commands_name_files_that_exist():
    start = "\n".join(line for block in blocks(README) if block.language == "sh" for line in commands(block))
    for name in ("requirements.txt", "requirements-test.txt", "app.py", ".ci/needs"):
        assert name in start and (ROOT / name).is_file()
    assert "pip install -r requirements.txt && streamlit run app.py" in start
    assert "python -m pytest" in start and "\npython -m pytest\n" in (ROOT / ".ci" / "run").read_text()


def test_every_environment_variable_it_names_is_read_somewhere():
    code = "\n".join(path.read_text() for folder in ("tileviz", "tests", "pages") for path in (ROOT / folder).rglob("*.py"))
    named = re.findall(r"^\| `([A-Z_]+)(?:=1)?` \|", TEXT, re.M)
    assert len(named) > 8
    for name in named:
        assert f'"{name}"' in code, f"{name} is in the README, and nothing reads it"


def test_every_option_it_names_is_one():
    from tileviz.cli import arguments

    commands = arguments.parser()._subparsers._group_actions[0].choices
    known = {option for command in commands.values() for action in command._actions for option in action.option_strings}
    table = TEXT.split("| command | options worth knowing |")[1].split("\n\n")[0]
    named = re.findall(r"`[^`]*?(--[a-z][a-z0-9-]+)", table)
    assert len(named) > 15 and set(named) <= known
