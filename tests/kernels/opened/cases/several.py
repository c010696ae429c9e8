"""Two outputs; one that is written in place, led by an index; one whose length is known at run time
only."""

import tilelang
import tilelang.language as T
import torch


@tilelang.jit
def split(A, block: int = 128):
    N = T.const("N")
    A: T.Tensor[[N], T.float32]
    low = T.empty((N,), T.float32)
    high = T.empty((N,), T.float16)
    with T.Kernel(T.ceildiv(N, block), threads=128) as bx:
        for i in T.Parallel(block):
            low[bx * block + i] = A[bx * block + i]
            high[bx * block + i] = A[bx * block + i]
    return low, high


@tilelang.jit
def gather_add(N, M):
    @T.prim_func
    def main(
        X: T.Tensor((M,), "float32"),
        index: T.Tensor((N,), "int32"),
        total: T.Tensor((N,), "float32"),
    ):
        with T.Kernel(N, threads=1) as bx:
            total[bx] = total[bx] + X[index[bx]]

    return main


@tilelang.jit(out_idx=[-1])
def negate(block):
    N = T.dynamic("N")

    @T.prim_func
    def main(X: T.Tensor((N,), "float32"), Y: T.Tensor((N,), "float32")):
        with T.Kernel(T.ceildiv(N, block), threads=128) as bx:
            for i in T.Parallel(block):
                Y[bx * block + i] = -X[bx * block + i]

    return main


def main():
    low, high = split(torch.randn(256, device="cuda"))
    assert low.shape == high.shape == (256,) and high.dtype == torch.float16
    total = torch.zeros(8, device="cuda")
    gather_add(8, 64)(torch.randn(64).cuda(), torch.arange(8, dtype=torch.int32, device="cuda"), total)
    assert torch.allclose(total * 1, torch.ones(8), atol=1e-5)
    assert negate(128)(torch.randn(640, device="cuda")).shape == (640,)


def test_main():
    main()
