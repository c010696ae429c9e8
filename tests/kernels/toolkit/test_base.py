"""The hash of a kernel's program: kept while its files stay as they are, another one once a file is edited."""

import importlib.util
import inspect
import os

import pytest

from tileviz.kernels.toolkit import base


@pytest.fixture
def module(tmp_path):
    path = tmp_path / "a_kernel.py"
    path.write_text("TILE = 64\n")
    found = importlib.util.module_from_spec(importlib.util.spec_from_file_location("a_kernel", path))
    found.__spec__.loader.exec_module(found)
    return found


def test_an_edit_is_another_hash_even_one_of_equal_length(module):
    before = base._program_hash(module)
    with open(module.__file__, "w") as file:
        file.write("TILE = 32\n")
    written = os.stat(module.__file__).st_mtime_ns
    os.utime(module.__file__, ns=(written, written + 1_000_000_000))
    assert base._program_hash(module) != before


def test_files_that_stay_as_they_are_are_read_once(module, monkeypatch):
    reads, real = [], inspect.getsource
    monkeypatch.setattr(inspect, "getsource", lambda of: reads.append(of) or real(of))
    assert base._program_hash(module) == base._program_hash(module)
    assert reads == [module]
