"""How the suite is spread: what must not run beside each other does not."""

import os

from tests import workers


def test_all_browser_tests_are_one_workers_and_any_other_file_is_its_own():
    assert workers.scope("tests/e2e/test_axe.py::test_a[chromium]") == workers.scope("tests/e2e/test_sweep.py::test_b")
    assert workers.scope("tests/cli/test_diff.py::test_a[x::y]") == "tests/cli/test_diff.py"


def test_paths_that_are_named_run_in_the_foreground_and_so_does_all_on_a_gpu(monkeypatch):
    monkeypatch.setattr(os.path, "exists", lambda path: False)
    assert workers.count(["tests/lens"]) == 0 and 2 <= workers.count([]) <= 4
    monkeypatch.setattr(os.path, "exists", lambda path: path == "/dev/nvidiactl")
    assert workers.count([]) == 0


def test_browsers_are_dealt_first_and_a_new_folder_last():
    places = [
        workers.place(f"tests/{name}") for name in ("e2e/test_axe.py", "engine/test_engine.py", "of_tomorrow/test_it.py", "test_lint.py")
    ]
    assert places == sorted(places) and places[0] == 0 and places[2] == places[3]


def test_a_way_of_dealing_that_the_command_line_names_is_taken():
    assert workers.is_dealt_otherwise(["-n", "4", "--dist", "worksteal"]) and workers.is_dealt_otherwise(("--dist=load",))
    assert not workers.is_dealt_otherwise(["-n", "4", "tests/lens"])
