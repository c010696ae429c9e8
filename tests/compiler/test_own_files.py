"""The hash over our own files that is part of every key."""

import sys

import pytest

from tests import long_proofs
from tileviz import kernels
from tileviz.compiler import own_files, pipeline, targets
from tileviz.kernels.toolkit import base

DECLARES_AND_HOLDS = ("kernels/toolkit/base.py", "records.py", "settings.py", "errors.py")
"""`Kernel.build` calls the program; the others hold values."""


def ran_while_built(name: str, target: str) -> set[str]:
    """Our files of which a function is called while the default config is lowered, compiled and read."""
    described, on = kernels.code(name), targets.target(target)
    problem = described.problem({}, on.kind)
    config, ran = described.config({}, on, problem), set()

    def called(frame, event, _):
        path = frame.f_code.co_filename
        if event == "call" and path.startswith(f"{own_files.PACKAGE}/"):
            ran.add(path.removeprefix(f"{own_files.PACKAGE}/"))

    sys.setprofile(called)
    try:
        pipeline.compile_program(lambda: described.build(problem, config, on), on, {}, key="0" * 32)
    finally:
        sys.setprofile(None)
    return ran


@pytest.mark.parametrize(
    ("name", "target"), long_proofs.cases([("softmax", "sm_90a"), ("flash_attention", "sm_80"), ("gemm", "cpu")], 0, 2)
)
def test_every_file_of_ours_that_runs_while_code_is_made_is_in_its_key(name, target):
    module = sys.modules[kernels.code(name).program.__module__]
    theirs = {str(of.__file__) for of in base._program_files(module)}
    known = {str(path) for path in own_files.paths()} | theirs | {str(own_files.PACKAGE / name) for name in DECLARES_AND_HOLDS}
    ran = ran_while_built(name, target)
    assert "compiler/lowering.py" in ran and {f"{own_files.PACKAGE}/{path}" for path in ran} - known == set()


def test_the_hash_follows_a_change_of_any_of_them(monkeypatch, tmp_path):
    before = own_files.made_by.__wrapped__()
    assert len(before) == 16 == len(own_files.made_by())
    (tmp_path / "compiler").mkdir()
    (tmp_path / "texts").mkdir()
    for path in own_files.paths():
        (tmp_path / path.relative_to(own_files.PACKAGE)).write_bytes(path.read_bytes())
    monkeypatch.setattr(own_files, "PACKAGE", tmp_path)
    assert own_files.made_by.__wrapped__() == before
    with (tmp_path / "texts" / "sass.py").open("a") as file:
        file.write("# changed")
    assert own_files.made_by.__wrapped__() != before
