"""The library that launches a kernel: built cheaply, found again by key, done without where it is not whole."""

import ctypes
from pathlib import Path

import pytest

from tests.compiler.small_gemm import Gemm
from tileviz.compiler import host, host_library, runtime
from tileviz.compiler.pipeline import compile_program
from tileviz.errors import RuntimeFailed

pytestmark = pytest.mark.usefixtures("environment")


@pytest.fixture(scope="module")
def compiled(environment):
    """A GEMM left ready under the key `ready`, and its artifact."""
    gemm = Gemm("sm_90a", {"block_K": 64, "num_stages": 4})
    return gemm, compile_program(gemm.build, gemm.target, key="ready", executable=True)


def never() -> None:
    pytest.fail("the program was built")


def library() -> Path:
    return (host._ready_place("ready") / host.LIBRARY).resolve()


def test_the_library_holds_the_very_machine_code_as_bytes(compiled):
    assert compiled[1].cubin in library().read_bytes()


def test_what_was_compiled_is_loaded_by_its_key_without_a_build(compiled):
    import torch

    gemm, _ = compiled
    run = runtime.executable(never, gemm.target, key="ready")
    with pytest.raises(RuntimeFailed, match="dtype mismatch, expected float16"):
        run(*(torch.zeros(4, 4) for _ in range(3)))


def test_another_key_builds(compiled):
    gemm, _ = compiled
    built = []
    runtime.executable(lambda: built.append(1) or gemm.build(), gemm.target, key="another")
    assert built and host.left_ready("") is None


def test_a_library_that_is_not_whole_is_not_loaded(compiled, tmp_path):
    place, whole = host._ready_place("torn"), library()
    place.mkdir(parents=True)
    (place / host.LIBRARY).write_bytes(whole.read_bytes()[:-100])
    assert host.left_ready("torn") is None, "no manifest"
    (place / "manifest.json").write_text((whole.parent / "manifest.json").read_text())
    assert host.left_ready("torn") is None, "too short"
    (place / host.LIBRARY).write_bytes(b"\0" * whole.stat().st_size)
    assert host.left_ready("torn") is None, "no library"


def test_a_kernel_outside_tilelang_s_cache_leaves_nothing():
    host.leave_ready("nothing", object())
    assert host.left_ready("nothing") is None


def test_c_and_bytes_become_one_library(tmp_path):
    (tmp_path / "bytes").write_bytes(b"\0\1\2tile")
    (tmp_path / "b.s").write_text(host_library._ASSEMBLY.format(file=tmp_path / "bytes"))
    (tmp_path / "a.c").write_text("int seven(void) { int class = 7; return class; }")
    host_library.create_shared(str(tmp_path / "x.so"), [str(tmp_path / "a.c"), str(tmp_path / "b.s")])
    found = ctypes.CDLL(str(tmp_path / "x.so"))
    assert found.seven() == 7 and bytes((ctypes.c_char * 7).in_dll(found, host_library.SYMBOL)) == b"\0\1\2tile"


def test_what_is_no_c_is_built_as_cpp(tmp_path):
    (tmp_path / "a.c").write_text('template <class T> T seven() { return 7; }\nextern "C" int one() { return seven<int>(); }')
    host_library.create_shared(str(tmp_path / "x.so"), [str(tmp_path / "a.c")])
    assert ctypes.CDLL(str(tmp_path / "x.so")).one() == 7


def test_what_no_compiler_takes_is_refused_with_its_text(tmp_path):
    (tmp_path / "a.c").write_text("int seven( {")
    with pytest.raises(RuntimeError, match="expected"):
        host_library.create_shared(str(tmp_path / "x.so"), [str(tmp_path / "a.c")])
