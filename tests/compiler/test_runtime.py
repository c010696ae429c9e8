"""Compiled programs as callables on tensors."""

import subprocess
import sys
from pathlib import Path

import pytest

from tests.compiler.small_gemm import Gemm
from tileviz.compiler import runtime
from tileviz.compiler.pipeline import compile_program
from tileviz.errors import LaunchFailed, RuntimeFailed
from tileviz.kernels import code

pytestmark = pytest.mark.usefixtures("environment")


def tensors(problem, device="cpu"):
    import torch

    def randn(*shape, dtype):
        return torch.randn(*shape, dtype=getattr(torch, dtype), device=device)

    torch.manual_seed(0)
    (shape, dtype) = code("gemm").output(problem)
    return *code("gemm").inputs(problem, randn), torch.full(shape, float("nan"), dtype=getattr(torch, dtype), device=device)


@pytest.mark.parametrize("problem", [{}, {"M": 100, "N": 77, "K": 33}, {"M": 1, "N": 1, "K": 1}, {"M": 65, "layout": "NT"}])
def test_the_cpu_target_is_really_executed(problem):
    import torch

    gemm = Gemm("cpu", problem=problem)
    compile_program(gemm.build, gemm.target, key="k")
    A, B, C = tensors(gemm.problem)
    before = C.data_ptr()
    runtime.executable(gemm.build, gemm.target)(A, B, C)
    assert C.data_ptr() == before, "the output is filled where it lies"
    torch.testing.assert_close(C.double(), code("gemm").reference(gemm.problem, A.double(), B.double()), rtol=1e-5, atol=1e-4)


def test_a_tensor_of_another_shape_fails_in_words():
    gemm = Gemm("cpu")
    A, B, C = tensors(gemm.problem)
    with pytest.raises(RuntimeFailed, match="expected"):
        runtime.executable(gemm.build, gemm.target)(A, B[:5], C)


def test_warming_up_touches_no_cuda_and_a_child_can_make_a_header(tmp_path):
    code = (
        "import sys\nfrom pathlib import Path\nfrom tileviz.compiler import runtime, toolchain\nhome = Path(sys.argv[1])\n"
        "toolchain.configure_environment(home); runtime.warm_up(home)\n"
        "import torch\nassert not torch.cuda.is_initialized() and 'libcuda.so' not in open('/proc/self/maps').read()\n"
        "assert runtime.prepare('sm_80') and list(home.rglob('sm_80-*.pch'))\n"
    )
    subprocess.run([sys.executable, "-c", code, tmp_path], check=True, cwd=Path(__file__).parents[2])
    runtime.clear_headers(tmp_path)
    assert not list(tmp_path.rglob("*.pch")), "gone with its process"


def gpu_gemm(**changes):
    import torch

    major, minor = torch.cuda.get_device_capability()
    return Gemm(f"sm_{major}{minor}", problem=changes)


@pytest.mark.gpu
@pytest.mark.parametrize("problem", [{"M": 1024, "N": 1024, "K": 1024}, {"M": 250, "N": 231, "K": 243}, {"dtype": "float32"}])
def test_the_machine_code_of_the_artifact_runs_on_the_gpu_and_is_right(problem):
    import torch

    gemm = gpu_gemm(**problem)
    artifact = compile_program(gemm.build, gemm.target, key="k", executable=True)
    A, B, C = tensors(gemm.problem, "cuda")
    runtime.executable(gemm.build, gemm.target)(A, B, C)
    torch.cuda.synchronize()
    expected = code("gemm").reference(gemm.problem, A.double(), B.double())
    assert (C.double() - expected).norm() / expected.norm() < 2e-3
    assert artifact.resources.registers > 16 and artifact.resources.blocks_per_sm >= 1


@pytest.mark.gpu
def test_the_registers_are_those_that_the_driver_reads_from_the_machine_code():
    import ctypes

    import torch

    torch.zeros(1, device="cuda")
    gemm = gpu_gemm()
    artifact = compile_program(gemm.build, gemm.target, key="k")
    driver, module, function, value = ctypes.CDLL("libcuda.so.1"), ctypes.c_void_p(), ctypes.c_void_p(), ctypes.c_int()
    assert driver.cuModuleLoadData(ctypes.byref(module), artifact.cubin) == 0
    assert driver.cuModuleGetFunction(ctypes.byref(function), module, b"gemm_kernel") == 0
    registers, local, static_shared = 4, 3, 1
    read = {}
    for attribute in (registers, local, static_shared):
        assert driver.cuFuncGetAttribute(ctypes.byref(value), attribute, function) == 0
        read[attribute] = value.value
    assert read[registers] == artifact.resources.registers
    assert read[static_shared] == artifact.resources.shared_bytes.static
    assert read[local] == artifact.resources.spill_bytes == 0


@pytest.mark.gpu
def test_a_block_with_too_much_shared_memory_is_launch_failed():
    import torch

    described = gpu_gemm(M=512, N=512, K=4096)
    config = {**described.config, "block_M": 128, "block_N": 256, "block_K": 64, "num_stages": 8, "threads": 256}
    build = lambda: code("gemm").build(described.problem, config, described.target)
    compile_program(build, described.target, key="k", executable=True)
    with pytest.raises(LaunchFailed):
        runtime.executable(build, described.target)(*tensors(described.problem, "cuda"))
        torch.cuda.synchronize()
