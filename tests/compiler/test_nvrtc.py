"""NVRTC and nvcc on real texts: same code from both, precompiled headers for the children of a fork, refusals in words."""

import re
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

from tests.compiler.small_gemm import Gemm
from tileviz import settings
from tileviz.compiler import headers, lowering, machine_code, make_headers, nvcc, nvrtc, tools
from tileviz.compiler.disassembly import sass
from tileviz.errors import BadValue, CompileFailed, ToolMissing

TINY = 'extern "C" __global__ void tiny(float* x) { x[threadIdx.x] = 1.0f; }\n'


def opcodes(text: str) -> Counter:
    return Counter(re.findall(r"^\s*/\*[0-9a-f]{4,}\*/\s+(?:@!?U?P\w\s+)?([A-Z][A-Z0-9_.]*)", text, re.M))


@pytest.fixture(scope="module")
def hopper_source(environment):
    gemm = Gemm("sm_90a")
    return lowering.lower(gemm.build, gemm.target, {}).source


@pytest.fixture(scope="module")
def from_nvrtc(hopper_source):
    return nvrtc.compile_source(hopper_source, "sm_90a")


def test_nvrtc_and_nvcc_make_the_same_instructions(hopper_source, from_nvrtc):
    ours, theirs = from_nvrtc, nvcc.compile_source(hopper_source, "sm_90a")
    assert opcodes(sass(ours.cubin).text) == opcodes(sass(theirs.cubin).text)
    assert ours.compiler.startswith("NVRTC ") and theirs.compiler.startswith("nvcc ")
    assert "wgmma.mma_async" in ours.ptx and "wgmma.mma_async" in theirs.ptx


def test_the_ptx_has_no_constants_that_nothing_reads(from_nvrtc):
    assert ".global .align 1 .u8 _ZN4cuda" not in from_nvrtc.ptx
    idle = ".global .u32 idle = 3;\n"
    text = (
        ".global .align 4 .u32 used = 2;\n.global .align 4 .b8 table[16] = {1, 2};\n"
        + idle
        + "ld.global.u32 %r1, [used];\nmov.u64 %rd1, table;\n"
    )
    assert nvrtc.without_unused_globals(text) == text.replace(idle, "")


def test_nvrtc_needs_no_cxx_and_no_path(monkeypatch, tmp_path):
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.delenv("CXX", raising=False)
    assert nvrtc.compile_source(TINY, "sm_75").cubin


def test_a_refusal_quotes_the_compiler_and_its_line():
    with pytest.raises(CompileFailed, match='identifier "nonsense" is undefined') as caught:
        nvrtc.compile_source(TINY.replace("1.0f", "nonsense"), "sm_80")
    assert "kernel.cu(1)" in caught.value.detail, "lines are those of the text, not of what was put before it"


def test_an_architecture_that_the_toolkit_dropped_is_refused():
    with pytest.raises(CompileFailed):
        nvrtc.compile_source(TINY, "sm_70")


def test_flags_that_only_nvcc_takes_go_to_nvcc(environment):
    target = Gemm("sm_80").target
    done = machine_code.compile_cuda(TINY, target, {"tl.device_compile_flags": "-maxrregcount=64 -DX=1"})
    assert done.compiler.startswith("nvcc")
    with pytest.raises(CompileFailed, match="Unknown option '-nonsense'"):
        machine_code.compile_cuda(TINY, target, {"tl.device_compile_flags": ["-nonsense"]})


def test_nvcc_is_taken_when_nvrtc_is_missing_or_it_is_asked_for(environment, monkeypatch):
    target = Gemm("sm_80").target
    monkeypatch.setenv(settings.CUDA_COMPILER, "nvcc")
    assert machine_code.compile_cuda(TINY, target, {}).compiler.startswith("nvcc")
    monkeypatch.delenv(settings.CUDA_COMPILER)
    monkeypatch.setattr(nvrtc, "is_available", lambda: False)
    assert machine_code.compile_cuda(TINY, target, {}).compiler.startswith("nvcc")
    monkeypatch.setattr(nvcc, "is_available", lambda: False)
    with pytest.raises(ToolMissing, match="pip install nvidia-cuda-nvrtc"):
        machine_code.compile_cuda(TINY, target, {})


def test_nvcc_without_a_cxx_names_the_line_that_gets_one(no_tools, monkeypatch):
    monkeypatch.setattr(tools, "require", lambda name, use="": Path("/usr/bin/nvcc"))
    with pytest.raises(ToolMissing, match="apt-get install"):
        nvcc.compile_source(TINY, "sm_80")


@pytest.mark.parametrize("level", [-1, 11, True, "5"])
def test_a_register_level_outside_0_to_10_is_a_bad_value(level):
    with pytest.raises(BadValue, match="0 to 10"):
        machine_code.compiler_flags({machine_code.REGISTER_LEVEL: level})


def test_pass_configs_become_flags():
    assert machine_code.compiler_flags({"tl.enable_fast_math": True, "tl.ptxas_register_usage_level": 3}) == (
        "--use_fast_math",
        "--ptxas-options=--register-usage-level=3",
    )
    assert machine_code.compiler_flags({"tl.enable_fast_math": False, "tl.disable_wgmma": True}) == ()


FORKS = """
import os, sys, time
from pathlib import Path
from tileviz.compiler import headers, make_headers, nvrtc

def child(step):
    pid = os.fork()
    if pid == 0:
        try:
            os._exit(0 if step() else 1)
        finally:
            os._exit(2)
    assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 0, step

def used(flags=()):
    return "using precompiled header" in nvrtc.compile_source(TINY, "sm_80", flags).log

root, old = Path(sys.argv[1]), Path(sys.argv[1]) / "999999999"
old.mkdir(parents=True)
nvrtc.version()
headers.open_store(root)
assert not old.exists(), "what a dead process left is cleared"
child(lambda: not used())
child(lambda: make_headers.make("sm_80") is not None)
child(lambda: used())
child(lambda: used(("--ptxas-options=--register-usage-level=3",)))
child(lambda: not used(("--use_fast_math",)))
assert [path.suffix for path in root.rglob("*.pch")] == [".pch"]
headers.close_store()
assert not list(root.iterdir())
"""


def test_a_header_made_in_one_child_serves_the_next_and_is_gone_in_the_end(tmp_path):
    script = f"TINY = {TINY!r}\n{FORKS}"
    done = subprocess.run(
        [sys.executable, "-c", script, tmp_path / "headers"], cwd=Path(__file__).parents[2], capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr


def test_without_a_store_there_is_no_header(monkeypatch):
    monkeypatch.setattr(headers, "_store", None)
    assert headers.ready("sm_80") is None and make_headers.make("sm_80") is None


def test_a_header_that_cannot_be_written_is_done_without(tmp_path, monkeypatch):
    headers.open_store(tmp_path)
    try:
        monkeypatch.setattr(nvrtc, "make_header", lambda *_: (_ for _ in ()).throw(OSError(28, "No space left on device")))
        assert make_headers.make("sm_80") is None and headers.ready("sm_80") is None
        assert not list(tmp_path.rglob("*.part*"))
    finally:
        headers.close_store()


def test_only_the_most_used_headers_are_kept(tmp_path, monkeypatch):
    monkeypatch.setattr(nvrtc, "make_header", lambda arch, flags, path: Path(path).write_text(arch))
    headers.open_store(tmp_path)
    try:
        for number in range(make_headers.KEPT + 2):
            made = make_headers.make("sm_80", (f"-DX={number}",))
        assert made.is_file() and len(list(tmp_path.rglob("*.pch"))) == make_headers.KEPT
    finally:
        headers.close_store()


def wgmma(width: int) -> str:
    return f"tl::wgmma_ss<tl::DataType::kFloat16, tl::DataType::kFloat16, tl::DataType::kFloat32, 64, {width}, 16, false, true, 1, 1>(x);"


@pytest.fixture
def store(tmp_path, monkeypatch):
    """Headers that hold no more than the folders they were made with."""
    monkeypatch.setattr(nvrtc, "make_header", lambda arch, flags, path, *folders: Path(path).write_text(" ".join(map(str, folders))))
    headers.open_store(tmp_path)
    yield
    headers.close_store()


def test_hopper_has_a_lean_header_for_texts_of_usual_widths(store):
    whole = make_headers.make("sm_90a")
    for width in headers.USUAL_WIDTHS:
        found = headers.lean("sm_90a", (), wgmma(width))
        assert found.path != whole and found.path.read_text() == str(found.folders[0]), "made with the folder that it is used with"
    assert headers.lean("sm_90a", (), wgmma(256) + wgmma(176)) is None
    assert headers.ready("sm_90a").path == whole and headers.ready("sm_90a").folders == ()
    make_headers.make("sm_80")
    assert headers.lean("sm_80", (), "") is None


def test_the_lean_templates_differ_in_the_widths_alone_and_have_the_same_lines(store):
    make_headers.make("sm_90a")
    ours = (headers.lean_folder() / headers.WGMMA).read_text().split("\n")
    theirs = (headers.template_dirs()[0] / headers.WGMMA).read_text().split("\n")
    changed = [(a.strip(" \\"), b.strip(" \\")) for a, b in zip(ours, theirs, strict=True) if a != b]
    widths = {int(b[3:-1]) for a, b in changed if b.startswith("OP(") and a == ""}
    assert widths == set(range(8, 257, 8)) - set(headers.USUAL_WIDTHS)
    assert sorted(b for _, b in changed if not b.startswith("OP(")) == ['#include "../common.h"', make_headers.EXTRA]


def test_templates_of_another_form_have_no_lean_header(store, tmp_path, monkeypatch):
    monkeypatch.setattr(headers, "template_dirs", lambda: (tmp_path, tmp_path))
    make_headers.make("sm_90a")
    assert headers.lean("sm_90a", (), wgmma(64)) is None and headers.ready("sm_90a") is not None


def test_what_the_lean_header_cannot_compile_is_compiled_without(store, monkeypatch):
    make_headers.make("sm_90a")
    tried = []

    def compile_one(source, options):
        tried.append(next(option for option in options if option.startswith("-use-pch")))
        if len(tried) == 1:
            raise CompileFailed("no member MMA_64x24x16", "")
        return "", b"cubin", ""

    monkeypatch.setattr(nvrtc, "_compile", compile_one)
    assert nvrtc.compile_source(wgmma(64), "sm_90a").cubin == b"cubin"
    assert ["-lean" in option for option in tried] == [True, False]


def test_the_library_of_cuda_writes_its_lists_out_as_far_as_under_nvcc():
    assert "-D_CCCL_META_UNROLL_LIMIT=10" in nvrtc.base_options("sm_90a", ())
