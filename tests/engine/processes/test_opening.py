"""What an opening says of its file, its memory and its end, beside what is found in it."""

from pathlib import Path

import pytest

from tileviz.engine.processes import opening
from tileviz.errors import BadRequest
from tileviz.kernels.opened import texts

SHARED = """
import mmap
import tilelang
import tilelang.language as T

@tilelang.jit(out_idx=[-1])
def small(N):
    @T.prim_func
    def main(X: T.Tensor((N,), "float32"), Y: T.Tensor((N,), "float32")):
        with T.Kernel(N, threads=1) as bx:
            Y[bx] = X[bx]

    return main

small(16)
kept = mmap.mmap(-1, 3 << 30)
for at in range(0, 3 << 30, 4096):
    kept[at] = 1
while True:
    pass
"""


def test_a_script_that_takes_memory_no_limit_refuses_is_stopped_and_its_kernel_kept(tmp_path):
    path = tmp_path / "shared.py"
    path.write_text(SHARED)
    found = opening.open_file(opening.Request(path, seconds=120, memory_bytes=1 << 30))
    assert [kernel.how for kernel in found.kernels] == ["recorded"] and found.ended == "killed"
    assert any("took more than 1.1 GB of memory and was stopped" in trouble for trouble in found.troubles)


def test_a_file_that_is_removed_or_changed_meanwhile_is_told(tmp_path):
    path = tmp_path / "kernel.py"
    path.write_text("x = 1\n")
    _, hash_ = texts.text_of(path)
    assert opening._changed(path, hash_) == []
    path.write_text("x = 2\n")
    assert opening._changed(path, hash_) == ["kernel.py was changed while it was opened; open it again"]
    path.unlink()
    assert opening._changed(path, hash_) == ["kernel.py was removed while it was opened"]


def test_nothing_is_started_for_a_file_that_is_no_python(tmp_path, monkeypatch):
    monkeypatch.setattr(opening, "Run", lambda *words: pytest.fail("a child was started"))
    with pytest.raises(BadRequest, match="is a folder"):
        opening.open_file(opening.Request(Path(tmp_path)))


def test_all_that_a_script_may_write_to_lies_in_scratch(tmp_path):
    given = opening.environment(tmp_path)
    assert all(Path(given[name]).parent == tmp_path for name in (*opening.FOLDERS, "TMP", "TEMP"))
    assert given["CUDA_VISIBLE_DEVICES"] == ""
