"""Work and traffic of each kernel: the values of MEASURING.md and of the cases F01, F02, F04 and B11."""

import pytest

from tileviz import kernels


def cost(name: str, **problem):
    kernel = kernels.code(name)
    return kernel.cost(kernel.problem(problem))


def attention(**problem):
    return cost("flash_attention", B=1, H=16, D=128, **problem)


def test_attention_counts_two_products():
    assert attention(Sq=1024, Sk=1024).flops == pytest.approx(8.590e9, rel=1e-4)


def test_causal_attention_counts_half():
    assert attention(Sq=1024, Sk=1024, causal=True).flops == pytest.approx(4.295e9, rel=1e-4)


def test_causal_attention_of_unlike_lengths_counts_the_average_key_length():
    assert attention(Sq=1024, Sk=4096, causal=True).flops == pytest.approx(30.06e9, rel=1e-3)


def test_causal_attention_with_more_queries_than_keys_counts_no_negative_keys():
    assert attention(Sq=4096, Sk=1024, causal=True).flops == 4 * 16 * 4096 * 128 * 512


def test_attention_reads_q_k_v_and_writes_o_once():
    assert attention(Sq=1024, Sk=4096).bytes == (2 * 1024 + 2 * 4096) * 16 * 128 * 2


def test_gemm_rate_comes_out_in_teraflops_when_the_time_is_in_milliseconds():
    work = cost("gemm", M=8192, N=8192, K=256)
    assert work.flops / 0.089056e-3 / 1e12 == pytest.approx(385.8, abs=0.1)
    assert work.bytes == (8192 * 256 * 2 + 8192 * 8192) * 2


def test_the_epilogue_costs_its_bias_and_no_flops():
    plain, fused = cost("gemm", M=64, N=32, K=16), cost("gemm_bias_gelu", M=64, N=32, K=16)
    assert fused.flops == plain.flops
    assert fused.bytes == plain.bytes + 32 * 2
    assert cost("gemm_bias_gelu", M=64, N=32, K=16, epilogue="none") == plain


def test_softmax_counts_its_minimum_traffic_and_no_flops():
    work = cost("softmax", M=8192, N=32768, dtype="bfloat16")
    assert work.flops == 0
    assert work.bytes == pytest.approx(1.074e9, rel=1e-3)
    assert work.bytes / 3.0e12 == pytest.approx(358e-6, rel=1e-3)


def test_vector_add_moves_three_vectors():
    work = cost("vector_add", N=1 << 24)
    assert (work.flops, work.bytes) == (1 << 24, 3 << 26)
