"""Compiling for real, for every kind of target: texts, resources, phases, and what happens when a tool is missing or refuses."""

import pytest

from tests import long_proofs
from tests.compiler.small_gemm import Gemm
from tileviz.compiler import disassembly, headers, line_map, machine_code, make_headers, nvcc, nvrtc, tools
from tileviz.compiler.pipeline import PHASES, compile_program
from tileviz.errors import BadValue, CompileFailed, ToolMissing, Unsupported
from tileviz.records import SharedBytes

pytestmark = pytest.mark.usefixtures("environment", "prepared")


@pytest.fixture(scope="module")
def prepared(environment, tmp_path_factory):
    """Precompiled headers for the two architectures that are compiled most."""
    headers.open_store(tmp_path_factory.mktemp("headers"))
    make_headers.make("sm_80")
    make_headers.make("sm_90a")
    yield
    headers.close_store()


def compiled(name: str, config=None, problem=None, pass_configs=None, **options):
    gemm = Gemm(name, config, problem)
    return compile_program(gemm.build, gemm.target, pass_configs, key="k", **options)


@pytest.mark.parametrize(
    "name, in_source, in_ptx, in_sass",
    long_proofs.cases(
        [
            ("sm_75", "tl::mma_sync<", "mma.sync.aligned.m16n8k8", "HMMA.1688.F32"),
            ("sm_80", "tl::cp_async_gs<", "cp.async", "LDGSTS"),
            ("sm_90a", "tl::wgmma_ss<", "wgmma.mma_async", "HGMMA.64x64x16.F32"),
            ("sm_100a", "tl::tma_load(", "cp.async.bulk.tensor", "UTMALDG"),
            ("sm_120a", "tl::tma_load(", "cp.async.bulk.tensor", "HMMA.16816"),
        ],
        1,
        2,
    ),
)
def test_an_architecture_gets_its_own_instructions(name, in_source, in_ptx, in_sass):
    phases = []
    artifact = compiled(name, report=phases.append)
    assert in_source in artifact.source and in_ptx in artifact.ptx and in_sass in artifact.sass
    assert (artifact.target, artifact.source_language, artifact.missing) == (name, "cuda", {})
    assert phases == list(PHASES) == list(artifact.seconds)
    assert artifact.cubin[:4] == b"\x7fELF"
    assert artifact.resources.registers and artifact.resources.spill_bytes == 0 and artifact.resources.grid == (4, 4, 1)
    assert artifact.resources.threads_launched == (256 if name in ("sm_90a", "sm_100a", "sm_120a") else 128)


def test_shared_memory_is_what_the_formula_says():
    shared = compiled("sm_90a", {"num_stages": 3}).resources.shared_bytes
    assert shared == SharedBytes(static=1024, dynamic=3 * (64 * 32 + 32 * 64) * 2)
    assert compiled("sm_80", {"num_stages": 3}).resources.shared_bytes == SharedBytes(static=0, dynamic=3 * (64 * 32 + 32 * 64) * 2)


@pytest.mark.parametrize("name, fits", [("sm_80", False), ("sm_90a", True)])
def test_a_tile_over_the_limit_compiles_everywhere_and_fits_only_where_there_is_room(name, fits):
    knobs = {"block_M": 128, "block_N": 256, "block_K": 64, "num_stages": 4, "threads": 256}
    resources = compiled(name, knobs, {"M": 4096, "N": 4096, "K": 4096, "layout": "NT"}).resources
    assert resources.shared_bytes.dynamic == 196_608
    assert (resources.blocks_per_sm > 0) == fits
    assert fits or resources.occupancy_limiter == "shared memory"


def test_an_asked_sm_90_is_compiled_as_sm_90a_and_says_so():
    gemm = Gemm("sm_90")
    assert "sm_90 is compiled as sm_90a" in gemm.target.note
    assert "HGMMA" in compile_program(gemm.build, gemm.target, key="k").sass


def test_sm_70_has_its_text_and_says_why_there_is_no_more():
    artifact = compiled("sm_70")
    assert "tl::mma_sync_sm70<" in artifact.source and artifact.ptx is artifact.sass is artifact.cubin is None
    assert all("no machine code for sm_70" in artifact.missing[text] for text in ("ptx", "sass"))
    assert artifact.resources.threads_launched == 128


def test_the_source_is_told_before_anything_is_compiled():
    seen = []
    compiled("sm_90a", report=seen.append, on_source=lambda artifact: seen.append(artifact.source[:9]))
    assert seen == ["lower", seen[1], "compile", "disassemble"] and seen[1].startswith("#if")


def test_until_source_compiles_nothing(monkeypatch):
    monkeypatch.setattr(machine_code, "compile_cuda", lambda *_: pytest.fail("compiled"))
    artifact = compiled("sm_90a", until="source")
    assert artifact.source and artifact.resources.shared_bytes.dynamic and list(artifact.seconds) == ["lower"]


def test_fast_math_reaches_the_compiler():
    seen = []

    def stop(source, target, pass_configs):
        seen.append(machine_code.compiler_flags(pass_configs))
        raise CompileFailed("stop here")

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(machine_code, "compile_cuda", stop)
        with pytest.raises(CompileFailed, match="stop here"):
            compiled("sm_80", pass_configs={"tl.enable_fast_math": True})
    assert seen == [("--use_fast_math",)]


def test_an_executable_is_made_of_the_very_machine_code_of_the_artifact():
    from tileviz.compiler import host

    gemm = Gemm("sm_90a", {"block_N": 128})
    artifact = compile_program(gemm.build, gemm.target, key="k", executable=True)
    assert "HGMMA.64x128x16.F32" in artifact.sass and list(artifact.seconds) == list(PHASES)
    kernel, capture = host.cuda_kernel(gemm.build(), gemm.target, {})
    assert capture.compiled is None, "TileLang's cache has it: nothing was compiled again"
    assert line_map.without_directives(kernel.get_kernel_source())[0] == artifact.source
    again = compile_program(gemm.build, gemm.target, key="k", executable=True)
    assert (again.source, again.sass) == (artifact.source, artifact.sass)


def test_the_cpu_target_gives_c_its_stack_and_its_compiler():
    phases = []
    artifact = compiled("cpu", report=phases.append)
    assert "gemm_kernel" in artifact.source and artifact.source_language == "c"
    assert artifact.resources.stack_bytes == 4 * (64 * 64 + 64 * 32 + 32 * 64)
    assert artifact.compiler.endswith("-O3") and phases == ["lower", "compile"] and artifact.ptx is None
    assert compiled("cpu", until="source").source == artifact.source


@pytest.mark.parametrize(
    "name, dtype, words",
    [("cpu", "float16", "choose float32"), ("cpu", "bfloat16", "choose float32"), ("sm_75", "bfloat16", "sm_80 or newer")],
)
@pytest.mark.parametrize("executable", [False, True])
def test_a_dtype_that_a_target_lacks_is_a_named_limitation(name, dtype, words, executable):
    with pytest.raises(Unsupported, match=words):
        compiled(name, problem={"dtype": dtype}, executable=executable)


@pytest.mark.parametrize("executable", [False, True])
@pytest.mark.parametrize(
    "config, sentence",
    [({"threads": 96}, "cannot be evenly covered by 3 warps"), ({"block_M": 24}, "must be divisible by 16, but got 24")],
)
def test_what_tilelang_refuses_is_one_sentence_with_its_text_kept(config, sentence, executable):
    with pytest.raises(CompileFailed, match=sentence) as caught:
        compiled("sm_80", config, executable=executable)
    assert "\n" not in caught.value.message and "Check failed" not in caught.value.message and caught.value.detail


@pytest.mark.parametrize("pass_configs", [{"tl.enable_fast_math": "maybe"}, {"tl.nonsense": True}])
def test_a_pass_config_that_tilelang_does_not_take_is_refused_in_words(pass_configs):
    with pytest.raises(CompileFailed, match="tl\\."):
        compiled("sm_90a", pass_configs=pass_configs)


def test_a_register_level_that_no_compiler_takes_is_refused_before_lowering():
    with pytest.raises(BadValue, match="0 to 10"):
        compiled("sm_90a", pass_configs={"tl.ptxas_register_usage_level": 30}, report=lambda phase: pytest.fail(phase))


def test_a_program_that_fails_while_it_is_built_is_refused_in_words():
    def build():
        raise NameError("name 'block_Q' is not defined")

    with pytest.raises(CompileFailed, match="block_Q"):
        compile_program(build, Gemm("sm_90a").target, key="k")


def test_without_a_disassembler_everything_else_is_there(monkeypatch):
    find = tools.cuda_tool
    monkeypatch.setattr(tools, "cuda_tool", lambda name: None if name in ("nvdisasm", "cuobjdump") else find(name))
    artifact = compiled("sm_80")
    assert artifact.ptx and artifact.cubin and artifact.resources.registers and artifact.sass is None
    assert "pip install nvidia-cuda-nvdisasm" in artifact.missing["sass"]


def test_cuobjdump_takes_over_where_nvdisasm_is_missing(monkeypatch):
    find = tools.cuda_tool
    monkeypatch.setattr(tools, "cuda_tool", lambda name: None if name == "nvdisasm" else find(name))
    assert "HMMA.16816" in compiled("sm_80").sass


@pytest.mark.parametrize(
    "script, words",
    [("exit 0", "no instruction"), ("echo 'nvdisasm fatal: bad file' >&2; exit 1", "bad file"), ("kill -9 $$", "gave no SASS")],
)
def test_a_disassembler_that_gives_nothing_loses_the_sass_only(monkeypatch, tmp_path, script, words):
    tool = tmp_path / "nvdisasm"
    tool.write_text(f"#!/bin/sh\n{script}\n")
    tool.chmod(0o755)
    monkeypatch.setattr(tools, "cuda_tool", lambda name: tool)
    with pytest.raises(CompileFailed, match=words):
        disassembly.sass(b"\x7fELF")
    monkeypatch.setattr(nvcc, "is_available", lambda: False)
    assert words in compiled("sm_80").missing["sass"]


def test_with_no_cuda_compiler_the_cuda_text_is_still_there(monkeypatch):
    monkeypatch.setattr(nvrtc, "is_available", lambda: False)
    monkeypatch.setattr(nvcc, "is_available", lambda: False)
    artifact = compiled("sm_80")
    assert artifact.source and artifact.ptx is artifact.sass is None
    assert "pip install nvidia-cuda-nvrtc" in artifact.missing["ptx"] == artifact.missing["sass"]
    with pytest.raises(ToolMissing, match="pip install nvidia-cuda-nvrtc"):
        compiled("sm_80", executable=True)


def cxx(monkeypatch, tmp_path, script: str) -> None:
    path = tmp_path / "g++-of-this-test"
    path.write_text(f"#!/bin/sh\n{script}\n")
    path.chmod(0o755)
    monkeypatch.setenv("CXX", str(path))
    forget_the_compiler(monkeypatch)


def forget_the_compiler(monkeypatch) -> None:
    """TileLang asks for CXX once in a process, and keeps a kernel in memory whose host code could not be built."""
    from tilelang.contrib import cc

    cc.get_cplus_compiler.cache_clear()
    monkeypatch.setattr(cc, "get_cplus_compiler", cc.get_cplus_compiler.__wrapped__)


@pytest.mark.parametrize("name, executable", [("cpu", False), ("sm_90a", True)])
@pytest.mark.parametrize(
    "script, words, block_K", [("echo 'error: no thanks' >&2; exit 1", "no thanks", 16), ("kill -9 $$", "died without a word", 48)]
)
def test_a_cxx_that_refuses_or_dies_is_quoted(monkeypatch, tmp_path, name, executable, script, words, block_K):
    cxx(monkeypatch, tmp_path, script)
    with pytest.raises(CompileFailed, match=words):
        compiled(name, {"block_K": block_K}, executable=executable)


@pytest.mark.parametrize("name, executable", [("cpu", False), ("sm_90a", True)])
def test_a_missing_cxx_is_named_and_the_source_was_told_before(monkeypatch, name, executable):
    monkeypatch.setenv("CXX", "/nowhere/g++")
    sources = []
    with pytest.raises(ToolMissing, match="CXX is '/nowhere/g"):
        compiled(name, {"block_K": 64}, executable=executable, on_source=sources.append)
    assert len(sources) == 1 and sources[0].source


def test_a_cuda_text_needs_no_cxx(monkeypatch):
    monkeypatch.setenv("CXX", "/nowhere/g++")
    assert compiled("sm_90a").sass
