"""Which tests a run leaves out: long proofs, unless it is told to run them."""

from pathlib import Path
from types import SimpleNamespace

import pytest

from tests import long_proofs

HERE = Path("/repository")


def item(nodeid: str, long: bool) -> SimpleNamespace:
    return SimpleNamespace(nodeid=nodeid, path=HERE / nodeid.split("::")[0], get_closest_marker=lambda name: long and name == "slow")


ITEMS = [
    item("tests/test_it.py::test_quick", False),
    item("tests/test_it.py::test_long[1]", True),
    item("tests/test_it.py::test_long[2]", True),
]


def left_out(*words: str, **options) -> list[str]:
    """What stays out, of a test that is quick and the two cases of a long one."""
    option = SimpleNamespace(**{"all": False, "markexpr": "", **options})
    config = SimpleNamespace(option=option, args=list(words), invocation_params=SimpleNamespace(dir=HERE))
    return [item.nodeid.split("::")[1] for item in long_proofs.left_out(config, ITEMS)]


def test_long_proofs_stay_out_of_a_usual_run_and_of_one_of_a_file_or_a_marker():
    assert left_out() == left_out("tests/test_it.py") == left_out(markexpr="not e2e") == ["test_long[1]", "test_long[2]"]


def test_they_run_where_all_or_they_are_asked_for():
    assert left_out(all=True) == left_out(markexpr="slow") == left_out(markexpr="e2e and slow") == []


def test_a_long_proof_runs_by_its_node_id():
    assert left_out("tests/test_it.py::test_long") == []
    assert left_out("tests/test_it.py::test_long[2]") == left_out("tests/../tests/test_it.py::test_long[2]") == ["test_long[1]"]
    assert left_out("tests/test_it.py::test_lo") == left_out("tests/test_other.py::test_long") == ["test_long[1]", "test_long[2]"]


def test_of_the_cases_of_a_test_some_are_in_every_run():
    made = long_proofs.cases([(1, 2), (3, 4), "five", (6, 7)], 0, -1)
    assert made[0] == (1, 2) and made[3] == (6, 7)
    assert [(case.values, [mark.name for mark in case.marks]) for case in made[1:3]] == [((3, 4), ["slow"]), (("five",), ["slow"])]


@pytest.mark.parametrize(("count", "said"), [(1, "1 long proof left out"), (7, "7 long proofs left out")])
def test_the_summary_says_how_many_are_left_out(count, said):
    assert long_proofs.words(count) == f"{said}; --all runs all, -m slow these alone"
