"""Panes of an artifact that is still being made: they look for the rest of it, and the page lets them show it first."""

import time
from dataclasses import replace

import pytest

from tests.ui import code_examples
from tileviz.records import JobView
from tileviz.ui.codeview import panes

WHOLE = code_examples.artifact()
PART = replace(WHOLE, ptx=None, sass=None)


class Store:
    """Holds the whole artifact from the given look on."""

    def __init__(self, from_look: int) -> None:
        self.from_look, self.looks = from_look, 0

    def artifact(self, _key, complete=False):
        self.looks += 1
        return WHOLE if self.looks >= self.from_look else None


def test_the_rest_is_taken_as_soon_as_it_is_stored(monkeypatch):
    held = Store(3)
    monkeypatch.setattr(panes, "store", lambda: held)
    assert panes.whole(PART, 30.0) is WHOLE and held.looks == 3


def test_without_the_rest_the_part_stays_after_one_look(monkeypatch):
    held = Store(99)
    monkeypatch.setattr(panes, "store", lambda: held)
    assert panes.whole(PART, 0.0) is PART and held.looks == 1


@pytest.mark.parametrize(
    ("grow", "state", "ago", "first"),
    [
        ("a", "done", 0.1, True),
        ("", "done", 0.1, False),
        ("a", "running", 0.1, False),
        ("a", "failed", 0.1, False),
        ("a", "done", 5.0, False),
    ],
)
def test_the_page_waits_a_moment_for_panes_that_have_the_end_still_to_show(monkeypatch, grow, state, ago, first):
    monkeypatch.setattr(panes.st, "session_state", {"_panes_grow": grow})
    job = JobView("j", "compile", {}, state, artifact="a", ended=time.time() - ago)
    assert panes.show_it_first(job) is first
