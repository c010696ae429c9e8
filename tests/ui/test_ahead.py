"""What is read ahead are files of Streamlit that exist, named in constant text."""

from pathlib import Path

import streamlit as st

from tileviz.ui import ahead

STATIC = Path(st.__file__).parent / "static"


def test_the_browser_code_of_charts_and_of_code_blocks_is_read_ahead():
    text = ahead.script(STATIC)
    named = [
        path.relative_to(STATIC).as_posix() for path in (STATIC / "static" / "js").iterdir() if path.relative_to(STATIC).as_posix() in text
    ]
    assert sorted(name.split("/")[-1].split(".")[0] for name in named) == sorted(ahead.CHUNKS)
    assert text.count("import(") == 1 and "PATHS" not in text


def test_a_streamlit_that_names_its_files_otherwise_is_left_alone(tmp_path):
    assert "for (const path of [])" in ahead.script(tmp_path)
