"""Faults planted into real tile programs, compiled and run on the CPU target: the check must name each of them."""

import importlib.util
import math
import os
import sys
from types import ModuleType

import pytest

from tests import long_proofs
from tileviz.bench import draws, references
from tileviz.bench.verify import verify
from tileviz.compiler import runtime, targets, toolchain
from tileviz.kernels import code as code_of

CPU = targets.target("cpu")
GEMM = {"M": 64, "N": 64, "K": 100}
TILES = {"block_M": 32, "block_N": 32, "block_K": 32}


@pytest.fixture(scope="module", autouse=True)
def tilelang_cache(tmp_path_factory):
    before = dict(os.environ)
    toolchain.configure_environment(tmp_path_factory.mktemp("home"))
    yield
    os.environ.clear()
    os.environ.update(before)


@pytest.fixture
def one_thread():
    """PyTorch's threads wait for each other at every one of some thousand small steps, which a busy machine makes slow."""
    import torch

    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(threads)


@pytest.fixture
def planted(tmp_path):
    """planted(kernel, right words, wrong words) -> the kernel of a copy of its file with the fault in it."""

    def plant(name: str, right: str, wrong: str):
        source = code_of(name).source
        assert right in source, f"{name} no longer says {right!r}"
        return loaded(tmp_path / f"{name}_with_a_fault.py", source.replace(right, wrong)).KERNEL

    return plant


def loaded(path, source: str) -> ModuleType:
    """A module from source text; TileLang reads the text again, so it must be a file."""
    path.write_text(source)
    spec = importlib.util.spec_from_file_location(path.stem, path)
    module = importlib.util.module_from_spec(spec)
    sys.modules[path.stem] = module
    spec.loader.exec_module(module)
    return module


def verdict(kernel, problem: dict, config: dict, inputs=None):
    """Builds, runs and checks a kernel against the reference of the one without a fault."""
    problem = kernel.problem(problem, "cpu")
    config = kernel.config(config, CPU)
    tensors = inputs or kernel.inputs(problem, draws.Draw("cpu", 0))
    shape, dtype = kernel.output(problem)
    output = draws.nan_filled(shape, dtype, "cpu")
    runtime.executable(lambda: kernel.build(problem, config, CPU), CPU)(*tensors, output)
    truth = references.Truth.of(code_of(kernel.name), problem, tensors)
    how = {"accumulate": kernel.accumulate(problem), "error_scale": kernel.error_scale, "math_mode": kernel.math_mode(problem, CPU)}
    return verify(output, truth.reference, dtype=dtype, inputs=tensors, exponents=truth.exponents, **how)


@pytest.mark.parametrize(
    ("name", "problem", "config"),
    [
        ("gemm", GEMM, TILES),
        ("flash_attention", {"B": 1, "H": 1, "Sq": 48, "Sk": 70, "D": 64, "causal": True}, {}),
    ],
)
def test_without_a_fault_the_same_path_is_right(name, problem, config):
    assert verdict(code_of(name), problem, config).ok


def test_a_dropped_k_tail_is_caught(planted):
    found = verdict(planted("gemm", "T.ceildiv(K, block_K)", "K // block_K"), GEMM, TILES)
    assert not found.ok and found.wrong_fraction > 0.5 and found.reason.startswith("wrong: worst at")


def test_with_ones_a_dropped_tail_reads_96_of_100(planted):
    import torch

    ones = torch.ones(64, 100), torch.ones(100, 64)
    found = verdict(planted("gemm", "T.ceildiv(K, block_K)", "K // block_K"), GEMM, TILES, ones)
    assert not found.ok and found.max_abs_error == 4 and "96 against 100" in found.reason


def test_eight_unwritten_columns_of_4096_are_counted_and_named(planted):
    right = "T.copy(acc, C[by * block_M, bx * block_N])"
    wrong = """for i, j in T.Parallel(block_M, block_N):
                    if bx * block_N + j < N - 8:
                        C[by * block_M + i, bx * block_N + j] = acc[i, j]"""
    found = verdict(planted("gemm", right, wrong), {"M": 32, "N": 4096, "K": 32}, {"block_M": 32, "block_N": 64, "block_K": 32})
    assert found.reason == "8 of 4,096 columns never written (4088-4095)" and found.unwritten_count == 8 * 32
    assert found.errors.block == (1, 128)
    assert all(row[:-1] == (0,) * 31 and row[-1] == 8 for row in found.errors.wrong), "the map shows them in the last blocks alone"


OUTER = """
from tileviz.kernels.toolkit.base import T

def program(N, block):
    @T.prim_func
    def outer(A: T.Tensor((N,), "float32"), B: T.Tensor((N,), "float32"), C: T.Tensor((N, N), "float32")):
        with T.Kernel(T.ceildiv(N, block), T.ceildiv(N, block), threads=128) as (bx, by):
            for i, j in T.Parallel(block, block):
                shift = T.if_then_else(T.And(bx == 3, by == 5), 1, 0)
                C[by * block + i, bx * block + j] = A[by * block + i] * B[bx * block + j - shift]
    return outer
"""


@pytest.mark.parametrize("size", [2048, long_proofs.slow(8192)])
def test_one_wrong_tile_is_found(tmp_path, one_thread, size):
    """One tile takes its neighbour's column: of 8192 by 8192 that is 0.024 % of the elements."""
    from tileviz.kernels.toolkit.stand_in import for_cpu

    program, tiles = for_cpu(loaded(tmp_path / "outer_with_a_fault.py", OUTER).program), (size // 128) ** 2
    draw = draws.Draw("cpu", 0)
    A, B = draw(size), draw(size)
    C = draws.nan_filled((size, size), "float32", "cpu")
    runtime.executable(lambda: program(size, 128), CPU)(A, B, C)
    found = verify(C, A[:, None] * B[None, :], dtype="float32", math_mode="float32", accumulate=1, error_scale="exact")
    assert found.reason == "one tile wrong: rows 640-767, columns 384-511"
    assert 0.8 / tiles < found.wrong_fraction < 1.003 / tiles
    wrong = {(i, j): n for i, row in enumerate(found.errors.wrong) for j, n in enumerate(row) if n}
    side = size // 32
    assert found.errors.block == (side, side), "a map of 32 by 32"
    assert set(wrong) == {(i // side, j // side) for i in range(640, 768) for j in range(384, 512)}
    assert sum(wrong.values()) == found.wrong_count


def test_padding_that_leaks_into_a_softmax_is_caught(planted):
    found = verdict(planted("softmax", "x[i, w, s, c] = -T.infinity(held)", "x[i, w, s, c] = 0"), {"M": 16, "N": 1000}, {"block_M": 2})
    assert not found.ok and found.wrong_fraction > 0.9


@pytest.mark.parametrize("wrong", long_proofs.cases(["row * block_M + i + shift + 1", "row * block_M + i + shift - 1"], 0))
def test_a_causal_mask_off_by_one_is_caught(planted, wrong):
    right = "T.min(Sk - 1, row * block_M + i + shift)"
    kernel = planted("flash_attention", right, f"T.min(Sk - 1, {wrong})")
    found = verdict(kernel, {"B": 1, "H": 1, "Sq": 64, "Sk": 70, "D": 64, "causal": True}, {})
    assert not found.ok and len(found.worst_index) == 4


LARGE = {"B": 1, "H": 2, "Sq": 48, "Sk": 70, "D": 64, "scale": 1.0}
"""Logits up to 60."""


@pytest.mark.parametrize("more", long_proofs.cases([{}, {"causal": True}, {"D": 256, "Sk": 64}], 1))
def test_attention_with_large_logits_is_right(more):
    assert verdict(code_of("flash_attention"), {**LARGE, **more}, {}).ok


@pytest.mark.parametrize(
    ("right", "wrong", "more"),
    [
        ("factors(scale, D)", "factors(scale * 1.01, D)", {}),
        ("T.Pipelined(T.ceildiv(keys, block_N)", "T.Pipelined(T.floordiv(keys, block_N)", {}),
        ("T.min(Sk - 1, row * block_M + i + shift)", "T.min(Sk - 1, row * block_M + i + shift + 1)", {"causal": True}),
        ("total[i] = total[i] * shrink[i] + part[i]", "total[i] = total[i] + part[i]", {}),
    ],
    ids=["scale", "last keys missing", "mask off by one", "sum not shrunk"],
)
def test_faults_of_attention_with_large_logits_are_caught(planted, right, wrong, more):
    found = verdict(planted("flash_attention", right, wrong), {**LARGE, **more}, {})
    assert not found.ok and found.worst_index is not None


def test_keys_past_the_end_that_leak_into_attention_are_caught(planted):
    """With Q = 0 every weight is alike: zero padding scales the mean of V by 70 / 96."""
    import torch

    kernel = planted("flash_attention", "some_masked = causal or Sk % block_N != 0", "some_masked = causal")
    draw = draws.Draw("cpu", 0)
    tensors = torch.zeros(1, 1, 48, 64), draw(1, 1, 70, 64), draw(1, 1, 70, 64)
    found = verdict(kernel, {"B": 1, "H": 1, "Sq": 48, "Sk": 70, "D": 64}, {"block_N": 32}, tensors)
    assert not found.ok and found.rel_error == pytest.approx(1 - 70 / 96, abs=0.001)


def test_all_zeros_are_caught(planted):
    found = verdict(
        planted("gemm", "T.gemm(A_shared, B_shared, acc, transpose_B=transpose_B, policy=warp_policy)", "T.clear(acc)"), GEMM, TILES
    )
    assert found.reason.startswith("all zeros") and found.rel_error == 1


def test_nan_is_caught_and_told_from_never_written(planted):
    kernel = planted(
        "vector_add", "A[block * block_N + i] + B[block * block_N + i]", "T.sqrt(-1 - A[block * block_N + i] * A[block * block_N + i])"
    )
    found = verdict(kernel, {"N": 5000}, {"block_N": 1024})
    assert found.reason.startswith("NaN in 5,000 elements") and found.unwritten_count == 0 and math.isfinite(found.rel_error)
