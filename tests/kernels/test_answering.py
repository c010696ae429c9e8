"""Forms, sweep spaces and commands are the same where the code of all kernels is in another process."""

import json
import re
import subprocess
import sys

import pytest

from tests.conftest import ROOT

BEHIND = [
    "tests/app/test_explore.py::test_another_target_moves_defaults_and_keeps_what_was_chosen",
    "tests/app/test_explore.py::test_a_broken_rule_is_said_in_red_and_run_is_off",
    "tests/app/test_explore.py::test_a_link_to_a_trial_alone_loads_its_knobs",
    "tests/app/test_sweep.py::test_the_count_follows_the_chosen_and_typed_values",
    "tests/cli/test_kernels.py",
    "tests/engine/sweeps/test_space.py::test_ten_thousand_configs_are_counted",
    "tests/engine/sweeps/test_space.py::test_four_configs_that_break_different_rules_give_four_reasons",
]
"""Tests of forms, a command and spaces of thousands of configs: run once more, behind a process."""

RUN = """
import sys
from tests.kernels import answering
from tileviz.cli.main import main
child = answering.use()
status = main(["run", "vector_add", "-p", "N=4096", "--device", "cpu", "--no-baselines", "--json"])
child.end()
print(child.questions, "questions;", "code here:", answering.code_here(), file=sys.stderr)
sys.exit(status)
"""


def test_pages_spaces_and_commands_are_the_same_behind_another_process():
    command = [sys.executable, "-m", "pytest", "-q", "-x", "-p", "tests.kernels.answering", "-p", "no:cacheprovider", *BEHIND]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout[-4000:] + done.stderr[-2000:]
    crossed = re.search(r"(\d+) questions crossed; code of kernels in this process: \[\]", done.stdout)
    assert crossed and int(crossed[1]) > 100


@pytest.mark.usefixtures("home")
def test_a_run_on_the_cpu_asks_and_never_imports_a_kernel():
    done = subprocess.run([sys.executable, "-c", RUN], cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["status"] == "ok", done.stdout
    assert re.search(r"[1-9]\d* questions; code here: \[\]", done.stderr)
