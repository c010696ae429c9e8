"""What a run says to someone who does not see the page, and what stands in the page itself before anything is drawn."""

from dataclasses import replace
from pathlib import Path

import pytest
import streamlit as st

from tests.ui import examples
from tileviz.records import JobView
from tileviz.ui import look
from tileviz.ui.parts import heard

JOB = JobView(id="j", kind="run", state="running", request={}, created=0.0)


@pytest.mark.parametrize(
    ("job", "trial", "words"),
    [
        (None, None, ""),
        (JOB, None, "Running"),
        (replace(JOB, kind="compile"), None, "Compiling"),
        (replace(JOB, state="done"), examples.trial(), "Done: right, 3.20 ms"),
        (replace(JOB, state="done"), examples.trial(timing=None, verdict=None), "Done: compiled"),
        (replace(JOB, state="done"), examples.trial(status="wrong_result"), "Done: wrong result"),
        (replace(JOB, state="cancelled"), None, "The run was cancelled"),
        (replace(JOB, state="failed", reason="the disk is full"), None, "The run did not finish: the disk is full"),
    ],
)
def test_a_run_says_its_start_and_what_came_out(job, trial, words):
    assert heard.words(job, trial) == words


def test_the_page_names_files_that_streamlit_has():
    static = Path(st.__file__).parent / "static"
    found = look.chunks(static, look.CONTROLS)
    assert {name.split("/")[-1].split(".")[0] for name in found} == set(look.CONTROLS)
    assert all((static / name).is_file() and name in look.head() for name in found)
