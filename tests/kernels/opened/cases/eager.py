"""An eager kernel with its own comparison; leaves in a way that Python does not see."""

import os

import tilelang
import tilelang.language as T
import torch


@tilelang.jit
def add(A, B, block: int = 128):
    N = T.const("N")
    A: T.Tensor[[N], T.float32]
    B: T.Tensor[[N], T.float32]
    C = T.empty((N,), T.float32)
    with T.Kernel(T.ceildiv(N, block), threads=128) as bx:
        for i in T.Parallel(block):
            C[bx * block + i] = A[bx * block + i] + B[bx * block + i]
    return C


a, b = (torch.randn(1024, device="cuda") for _ in range(2))
assert a.is_cuda and a.device.type == "cuda"
torch.testing.assert_close(add(a, b), a + b, rtol=1e-3, atol=1e-4)
os._exit(3)
