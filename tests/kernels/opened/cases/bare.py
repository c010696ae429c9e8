"""A T.prim_func handed to tilelang.compile."""

import tilelang
import tilelang.language as T


def scale(N, block):
    @T.prim_func
    def main(X: T.Tensor((N,), "float32"), Y: T.Tensor((N,), "float32")):
        with T.Kernel(T.ceildiv(N, block), threads=128) as bx:
            for i in T.Parallel(block):
                Y[bx * block + i] = X[bx * block + i] * 3.0

    return main


kernel = tilelang.compile(scale(512, 128), out_idx=[1], target="cuda")
