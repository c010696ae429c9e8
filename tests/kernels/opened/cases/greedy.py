"""Takes 40 GB when it is built, and once more when it is called."""

import tilelang
import tilelang.language as T


def hoard():
    return bytearray(40 << 30)


@tilelang.jit(out_idx=[-1])
def small(N):
    @T.prim_func
    def main(X: T.Tensor((N,), "float32"), Y: T.Tensor((N,), "float32")):
        with T.Kernel(N, threads=1) as bx:
            Y[bx] = X[bx]

    return main


@tilelang.jit(out_idx=[-1])
def greedy(N):
    hoard()

    @T.prim_func
    def main(X: T.Tensor((N,), "float32"), Y: T.Tensor((N,), "float32")):
        with T.Kernel(N, threads=1) as bx:
            Y[bx] = X[bx]

    return main


small(16)
try:
    greedy(16)
except MemoryError:
    print("no room")
hoard()
