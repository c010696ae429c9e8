"""The problems by which the kernels are judged on a GPU: square and model-shaped, small and odd,
from 1 us to 10 ms on an H200."""

from typing import Any

TOKENS = 16384
"""Tokens of an attention problem: batch times length stays the same, so the work grows with the
length."""

HEADS = {64: 32, 128: 16, 256: 8}
"""Heads for each head size: 2,048 columns together."""

MATRICES = (
    (512, 512, 512),
    (1024, 1024, 1024),
    (2048, 2048, 2048),
    (4096, 4096, 4096),
    (8192, 8192, 8192),
    (16384, 4096, 1024),
    (4096, 7168, 16384),
    (8192, 28672, 8192),
    (16, 4096, 4096),
    (64, 8192, 8192),
    (4096, 24576, 1536),
    (1000, 1000, 1000),
)
FUSED = (
    (4096, 4096, 4096),
    (8192, 16384, 1024),
    (8192, 4096, 1024),
    (4096, 11008, 4096),
    (512, 4096, 4096),
)
ROWS = (
    (8192, 8192),
    (32768, 1024),
    (4096, 32768),
    (65536, 1000),
    (1024, 131072),
    (131072, 128),
    (8, 262144),
)
LENGTHS = (512, 1024, 2048, 4096, 8192, 16384)
VECTORS = (1 << 20, 1 << 22, 1 << 24, 1 << 26, 1 << 28, 1_000_003)

AGAINST = {
    "vector_add": ("eager", "triton"),
    "gemm": ("eager", "cublas", "cublaslt"),
    "gemm_bias_gelu": ("eager", "torch_compile", "cublaslt_epilogue"),
    "softmax": ("eager", "torch_compile", "triton"),
    "flash_attention": ("eager", "sdpa_flash", "sdpa_cudnn"),
}
"""The baselines of the long table: the fast ones. torch.compile's max-autotune takes up to a minute
a problem and is in the quick one."""


def attention(length: int, head: int, causal: bool) -> dict[str, Any]:
    return {
        "B": TOKENS // length,
        "H": HEADS[head],
        "Sq": length,
        "Sk": length,
        "D": head,
        "causal": causal,
    }


DECODE = {"B": 16, "H": 16, "Sq": 1, "Sk": 8192, "D": 128}
"""One new query for each sequence, against what it has seen."""


def judged() -> dict[str, list[dict[str, Any]]]:
    """Problems by kernel; what is not named takes the kernel's own value."""
    matrix = [dict(zip("MNK", shape, strict=True)) for shape in MATRICES]
    fused = [dict(zip("MNK", shape, strict=True)) for shape in FUSED]
    return {
        "vector_add": [
            {"N": n, "dtype": dtype} for dtype in ("float16", "float32") for n in VECTORS
        ],
        "gemm": [
            {**problem, "dtype": dtype} for dtype in ("float16", "bfloat16") for problem in matrix
        ],
        "gemm_bias_gelu": fused,
        "softmax": [{"M": M, "N": N} for M, N in ROWS],
        "flash_attention": [
            *(attention(s, d, c) for d in (128, 64, 256) for c in (False, True) for s in LENGTHS),
            DECODE,
        ],
    }
