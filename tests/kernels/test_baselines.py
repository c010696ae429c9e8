"""The PyTorch calls that kernels are compared with: which can be, what they change and put back, and why some cannot."""

import pytest
import torch

from tests.kernels.run_cpu import draw
from tileviz import kernels
from tileviz.kernels.attention import torch_calls as attention
from tileviz.kernels.gemm import torch_calls as products


def baseline(kernel: str, name: str):
    return next(b for b in kernels.code(kernel).baselines if b.name == name)


def why_not(kernel: str, name: str, **problem) -> str | None:
    return baseline(kernel, name).unavailable(kernels.code(kernel).problem(problem))


@pytest.mark.parametrize("epilogue", ["bias", "bias_relu", "bias_gelu_tanh"])
def test_the_fused_epilogue_is_offered_where_cublaslt_has_it(epilogue):
    assert why_not("gemm_bias_gelu", "cublaslt_epilogue", epilogue=epilogue) is None


@pytest.mark.parametrize(("epilogue", "part"), [("none", "nothing to fuse"), ("bias_gelu_erf", "tanh form"), ("bias_silu", "SiLU")])
def test_the_fused_epilogue_says_what_it_lacks(epilogue, part):
    assert part in why_not("gemm_bias_gelu", "cublaslt_epilogue", epilogue=epilogue)


def test_float32_is_offered_in_both_math_modes():
    assert why_not("gemm", "eager_tf32", dtype="float32") is None
    assert "float16" in why_not("gemm", "eager_tf32", dtype="float16")
    modes = [baseline("gemm", name).math_mode({"dtype": "float32"}) for name in ("eager", "eager_tf32")]
    assert modes == ["float32", "TF32"]


@pytest.mark.parametrize("name", ["eager", "torch_compile", "sdpa_flash", "sdpa_cudnn", "sdpa_efficient", "sdpa_math"])
def test_rows_without_a_key_are_compared_with_nobody(name):
    assert "NaN in PyTorch" in why_not("flash_attention", name, Sq=6, Sk=4, causal=True)
    assert why_not("flash_attention", name, Sq=6, Sk=4) is None


def test_cudnn_is_not_compared_where_its_mask_differs():
    assert "aligned top-left" in why_not("flash_attention", "sdpa_cudnn", Sq=4, Sk=6, causal=True)
    assert why_not("flash_attention", "sdpa_flash", Sq=4, Sk=6, causal=True) is None
    assert why_not("flash_attention", "sdpa_cudnn", Sq=6, Sk=6, causal=True) is None


@pytest.mark.parametrize("name", ["sdpa_flash", "sdpa_cudnn"])
def test_half_precision_backends_refuse_float32(name):
    assert "not float32" in why_not("flash_attention", name, dtype="float32")


@pytest.mark.parametrize("make", [attention.sdpa, attention.sdpa_compiled, attention.sdpa_by("MATH")], ids=["auto", "compiled", "math"])
@pytest.mark.parametrize(
    "problem", [{"Sq": 4, "Sk": 6, "causal": True}, {"Sq": 6, "Sk": 6, "causal": True}, {"Sq": 4, "Sk": 6, "scale": 0.3}], ids=str
)
def test_attention_in_pytorch_has_our_mask_and_scale(make, problem):
    kernel = kernels.code("flash_attention")
    full = kernel.problem({"B": 1, "H": 2, "D": 64, "dtype": "float32", **problem}, "cpu")
    inputs = draw("flash_attention", full)
    expected = kernel.reference(full, *(t.double() for t in inputs))
    torch.testing.assert_close(make(full)(*inputs).double(), expected, rtol=1e-5, atol=1e-5)


def test_tf32_is_put_back_after_each_call_even_when_it_fails():
    before = torch.get_float32_matmul_precision()
    seen = []

    def fails(*inputs):
        seen.append(torch.get_float32_matmul_precision())
        raise RuntimeError("as asked")

    with pytest.raises(RuntimeError):
        products.with_tf32(lambda problem: fails)({})()
    assert seen == ["high"]
    assert torch.get_float32_matmul_precision() == before


def test_the_blas_library_is_put_back_after_each_call(monkeypatch):
    chosen = ["default"]

    def preferred(library=None):
        if library is not None:
            chosen[0] = library
        return chosen[0]

    monkeypatch.setattr(torch.backends.cuda, "preferred_blas_library", preferred)
    seen = products.with_blas(lambda problem: lambda: chosen[0], "cublaslt")({})()
    assert (seen, chosen[0]) == ("cublaslt", "default")


@pytest.mark.parametrize("layout", ["NN", "NT"])
def test_the_step_by_step_epilogue_takes_both_layouts(layout):
    kernel = kernels.code("gemm_bias_gelu")
    full = kernel.problem({"M": 4, "N": 5, "K": 6, "layout": layout, "dtype": "float32"}, "cpu")
    inputs = draw("gemm_bias_gelu", full)
    expected = kernel.reference(full, *(t.double() for t in inputs))
    torch.testing.assert_close(kernel.baselines[0].make(full)(*inputs).double(), expected, rtol=1e-5, atol=1e-5)
