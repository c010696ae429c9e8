"""What tools raise, as one plain sentence with their own text kept."""

import pytest

from tileviz.compiler.failures import LONGEST_SENTENCE, compiler_failed, device_failed, lowering_failed
from tileviz.errors import CompileFailed, LaunchFailed, RuntimeFailed, Unsupported


def test_a_check_of_tvm_loses_its_condition():
    error = lowering_failed(RuntimeError("Check failed: (M % kMPerWarp == 0) is false: M must be divisible by 16, but got 24"))
    assert error.message == "TileLang could not lower the program: M must be divisible by 16, but got 24"
    assert error.detail.startswith("RuntimeError: Check failed")


def test_a_constant_index_past_32_bits_is_told_with_what_to_do():
    said = "Check failed: value < 1LL << (dtype.bits() - 1) (2147485696 vs. 2147483648) : Literal value 2147485696 exceeds maximum of int32"
    error = lowering_failed(ValueError(said))
    assert error.message.endswith("it writes the constant index 2,147,485,696 in 32 bits; use smaller tiles or a smaller problem")
    assert said in error.detail


def test_an_error_of_ours_stays_what_it_is():
    mine = Unsupported("no such thing")
    assert lowering_failed(mine) is mine and device_failed(mine) is mine


def test_an_exception_without_words_is_named():
    assert "RecursionError" in lowering_failed(RecursionError()).message


def test_the_source_before_a_compilation_error_is_cut_off():
    text = (
        "__global__ void error_kernel() {}\n" * 500
        + '\nCompilation error:\nk.cu(31): error: identifier "foo" is undefined\n\n1 error\nCommand: nvcc k.cu'
    )
    error = compiler_failed("nvcc", text)
    assert error.message == 'nvcc refused the generated code: identifier "foo" is undefined'
    assert "error_kernel" not in error.detail and "Command: nvcc" in error.detail


@pytest.mark.parametrize(
    "said, sentence",
    [
        ("ptxas fatal   : Unresolved extern function 'x'", "Unresolved extern function 'x'"),
        ("x.cpp:3:1: error: 'half4' was not declared in this scope\n", "'half4' was not declared in this scope"),
        ("nvcc fatal   : Unknown option '-nonsense'", "Unknown option '-nonsense'"),
    ],
)
def test_a_compilers_own_sentence_is_found(said, sentence):
    assert sentence in compiler_failed("a compiler", said).message


def test_a_compiler_that_was_killed_is_said_to_have_died():
    assert "died without a word" in compiler_failed("g++", "Compilation error:\n\nCommand line: g++ x.c").message


def test_a_sentence_stays_short():
    assert len(lowering_failed(RuntimeError("x" * 5000)).message) < LONGEST_SENTENCE + 60


@pytest.mark.parametrize(
    "text",
    [
        "CUDALaunch Error: CUDA_ERROR_INVALID_VALUE\n grid=(32,32,1), block=(1152,1,1)",
        "Failed to set the allowed dynamic shared memory size to 240000 with error: CUDA_ERROR_INVALID_VALUE",
        "CUDA error: invalid configuration argument",
        "CUDA error: too many resources requested for launch",
    ],
)
def test_a_launch_without_room_is_launch_failed(text):
    error = device_failed(RuntimeError(text))
    assert isinstance(error, LaunchFailed) and error.status == "launch_failed" and error.detail == text


@pytest.mark.parametrize(
    "text", ["CUDA error: an illegal memory access was encountered", "CUDA_ERROR_ILLEGAL_ADDRESS", "CUDA error: unspecified launch failure"]
)
def test_any_other_device_error_is_runtime_failed(text):
    error = device_failed(RuntimeError(text))
    assert isinstance(error, RuntimeFailed) and not isinstance(error, (LaunchFailed, CompileFailed))
