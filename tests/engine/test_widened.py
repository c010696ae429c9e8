"""Kernels with several outputs, outputs in place, whole numbers and odd names: from the declaration to the verdict in a real engine, which
runs in a copy of the package that has them."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.conftest import ROOT
from tests.kernels.widened_here import NAMES

FAULTY = {
    "row_stats_wrong": ("row_stats", "total[block * block_M + i] = whole[i]", "total[block * block_M + i] = whole[i] + (block == 3)"),
    "scale_twice": ("scale_in_place", "X[block * block_N + i] * a\n", "X[block * block_N + i] * a * a\n"),
    "histogram_unwritten": ("histogram", "counts[bin] = count[i]", "counts[T.max(bin, 1)] = count[i]"),
}
"""{name: (the kernel it is a copy of, right words, wrong words)}"""


@pytest.fixture(scope="module")
def clone(tmp_path_factory, shared_home) -> Path:
    """A copy of the package where these kernels stand in the registry."""
    root = tmp_path_factory.mktemp("clone")
    shutil.copytree(ROOT / "tileviz", root / "tileviz", ignore=shutil.ignore_patterns("__pycache__", "data", "ui"))
    sources = {name: (ROOT / "tests/kernels/widened" / f"{name}.py").read_text() for name in NAMES}
    for name, (of, right, wrong) in FAULTY.items():
        assert right in sources[of]
        sources[name] = sources[of].replace(right, wrong).replace(f'name="{of}"', f'name="{name}"')
    for name, source in sources.items():
        (root / "tileviz/kernels" / f"{name}.py").write_text(source)
    registry = root / "tileviz/kernels/__init__.py"
    lines = "".join(f'    "{name}": "tileviz.kernels.{name}",\n' for name in sources)
    registry.write_text(registry.read_text().replace("MODULES = {\n", f"MODULES = {{\n{lines}"))
    return root


@pytest.fixture(scope="module")
def asked(clone, shared_home):
    """asked(words of a command) -> (exit status, its JSON)."""

    def ask(*words: str):
        env = {**os.environ, "PYTHONPATH": "", "PYTHONDONTWRITEBYTECODE": "1"}
        command = [sys.executable, "-m", "tileviz", *words, "--json"]
        done = subprocess.run(command, cwd=clone, env=env, capture_output=True, text=True, timeout=300)
        assert "Traceback" not in done.stderr and done.stdout, done.stderr[-3000:]
        return done.returncode, json.loads(done.stdout)

    return ask


def test_two_outputs_are_right_each_by_its_own_tolerance_beside_pytorch(asked):
    status, trial = asked("run", "row_stats", "--device", "cpu")
    assert (status, trial["status"]) == (0, "ok"), trial["reason"]
    found = trial["verdict"]
    assert {found["output"], *(each["output"] for each in found["others"])} == {"largest", "total"}
    told = {each["output"]: each["tolerance"] for each in (found, *found["others"])}
    assert "one rounding" in told["largest"] and "K = 256" in told["total"]
    assert found["determinism"] == {"launches": 10, "differing": 0}
    assert [(b["name"], b["status"]) for b in trial["baselines"]] == [("eager", "ok")]


def test_a_fault_in_the_second_output_is_found_and_named(asked):
    status, trial = asked("run", "row_stats_wrong", "--device", "cpu", "--no-baselines")
    assert (status, trial["status"]) == (1, "wrong_result")
    assert trial["reason"].startswith("total: ") and trial["verdict"]["output"] == "total" and trial["verdict"]["wrong_count"] == 8
    assert [(each["output"], each["ok"]) for each in trial["verdict"]["others"]] == [("largest", True)]


def test_what_is_written_in_place_is_right_launch_after_launch(asked):
    status, trial = asked("run", "scale_in_place", "--device", "cpu")
    assert (status, trial["status"]) == (0, "ok"), trial["reason"]
    assert "output" not in trial["verdict"] and trial["verdict"]["determinism"] == {"launches": 10, "differing": 0}
    assert [(b["name"], b["status"]) for b in trial["baselines"]] == [("eager", "ok")], "x.mul_(a) restored, too"
    status, trial = asked("run", "scale_twice", "--device", "cpu", "--no-baselines")
    assert (status, trial["status"]) == (1, "wrong_result")


def test_whole_numbers_of_a_declared_range_are_counted_exactly(asked):
    status, trial = asked("run", "histogram", "--device", "cpu", "--no-baselines")
    assert (status, trial["status"]) == (0, "ok"), trial["reason"]
    assert trial["verdict"]["tolerance"].startswith("0: whole numbers must be equal")
    status, trial = asked("run", "histogram_unwritten", "--device", "cpu", "--no-baselines")
    assert status == 1 and "1 of 37 elements never written (0)" in trial["reason"]


def test_fields_called_seed_and_kernel_are_given_on_the_command_line(asked):
    words = ("run", "odd_names", "-p", "seed=5", "-p", "kernel=tent", "-k", "at=512", "--seed", "9", "--device", "cpu", "--no-baselines")
    status, trial = asked(*words)
    assert (status, trial["status"]) == (0, "ok"), trial["reason"]
    assert trial["problem"] == {"N": 3000, "seed": 5, "kernel": "tent"} and trial["config"]["at"] == 512 and trial["seed"] == 9


def test_a_sweep_checks_every_output_of_every_config(asked):
    status, sweep = asked("sweep", "row_stats", "-s", "block_M=4,8", "--device", "cpu", "--no-baselines")
    assert status == 0, sweep
    assert {trial["status"] for trial in sweep["trials"]} == {"ok"}


def test_8_bits_are_compiled_for_hopper_and_refused_on_the_cpu(asked):
    status, trial = asked("compile", "eight_bits", "--target", "sm_90a")
    assert (status, trial["status"]) == (0, "ok"), trial["reason"]
    status, trial = asked("run", "eight_bits", "--device", "cpu", "--no-baselines")
    assert trial["status"] == "unsupported" and "float8_e4m3fn" in trial["reason"]
