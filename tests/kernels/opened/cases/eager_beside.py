"""Imported by hangs.py."""

import tilelang
import tilelang.language as T


@tilelang.jit(out_idx=[-1])
def twice(N):
    @T.prim_func
    def main(X: T.Tensor((N,), "float32"), Y: T.Tensor((N,), "float32")):
        with T.Kernel(N, threads=1) as bx:
            Y[bx] = X[bx] * 2.0

    return main
