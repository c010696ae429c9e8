"""NVRTC and nvcc on real texts: same code from both, precompiled headers for the children of a fork, refusals in words."""

import re
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

from tests.compiler.small_gemm import Gemm
from tileviz.compiler import headers, lowering, machine_code, nvcc, nvrtc, tools
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
    monkeypatch.setenv(machine_code.CHOICE, "nvcc")
    assert machine_code.compile_cuda(TINY, target, {}).compiler.startswith("nvcc")
    monkeypatch.delenv(machine_code.CHOICE)
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
from tileviz.compiler import headers, nvrtc

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
child(lambda: headers.make("sm_80") is not None)
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
    assert headers.ready("sm_80") is None and headers.make("sm_80") is None


def test_a_header_that_cannot_be_written_is_done_without(tmp_path, monkeypatch):
    headers.open_store(tmp_path)
    try:
        monkeypatch.setattr(nvrtc, "make_header", lambda *_: (_ for _ in ()).throw(OSError(28, "No space left on device")))
        assert headers.make("sm_80") is None and headers.ready("sm_80") is None
        assert not list(tmp_path.rglob("*.part*"))
    finally:
        headers.close_store()


def test_only_the_most_used_headers_are_kept(tmp_path, monkeypatch):
    monkeypatch.setattr(nvrtc, "make_header", lambda arch, flags, path: Path(path).write_text(arch))
    headers.open_store(tmp_path)
    try:
        for number in range(headers.KEPT + 2):
            made = headers.make("sm_80", (f"-DX={number}",))
        assert made.is_file() and len(list(tmp_path.rglob("*.pch"))) == headers.KEPT
    finally:
        headers.close_store()
